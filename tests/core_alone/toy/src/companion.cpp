// Attaches the toy to a new pool.

#include "observe/companion.hpp"

#include <semaphore>

#include "nopal/event_source.hpp"
#include "nopal/toy.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

class counts_steals final : public observer {
 public:
  void took(worker& /*w*/, worker const& /*victim*/) noexcept override { ++toy.steals; }
};

class counts_waits final : public event_source {
 public:
  void poll() noexcept override { ++toy.polls; }
  void wait() noexcept override {
    ++toy.waits;
    woken_.acquire();
  }
  void wake() noexcept override { woken_.release(); }

 private:
  std::counting_semaphore<> woken_{0};
};

class toys final : public attachment {
 public:
  std::shared_ptr<event_source> events() const override { return std::make_shared<counts_waits>(); }
  std::unique_ptr<observer> watch(pool_site const& /*s*/) const override { return std::make_unique<counts_steals>(); }
};

std::unique_ptr<attachment> attach(pool_options const& o) { return o.name == "toy" ? std::make_unique<toys>() : nullptr; }

}  // namespace

extern companion const toy_companion;
companion const toy_companion{.name = "toy", .attach = attach, .names = nullptr};

}  // namespace nopal::core
