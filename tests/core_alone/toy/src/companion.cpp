// Attaches the toy to a new pool.

#include "observe/companion.hpp"

#include <semaphore>

#include "nopal/event_source.hpp"
#include "nopal/toy.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

class toy_observer final : public observer {
 public:
  void took(worker& /*w*/, worker const& /*victim*/) noexcept override { ++toy.steals; }
};

class toy_source final : public event_source {
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

class toy_attachment final : public attachment {
 public:
  std::shared_ptr<event_source> events() const override { return std::make_shared<toy_source>(); }
  std::unique_ptr<observer> watch(pool_site const& /*s*/) const override { return std::make_unique<toy_observer>(); }
};

std::unique_ptr<attachment> attach_toy(pool_options const& o) { return o.name == "toy" ? std::make_unique<toy_attachment>() : nullptr; }

}  // namespace

extern companion const toy_companion;
companion const toy_companion{.name = "toy", .attach = attach_toy, .names = nullptr};

}  // namespace nopal::core
