// Attaches the trace to a new pool.

#include "observe/companion.hpp"

#include "trace/src/pool_trace.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

class traces final : public attachment {
 public:
  std::unique_ptr<observer> watch(pool_site const& s) const override {
    return pool_trace::make(s.options, static_cast<unsigned>(s.where.size()));
  }
};

}  // namespace

extern companion const trace_companion;
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): it throws nothing
companion const trace_companion{.name = "trace",
                                .attach = [](pool_options const&) -> std::unique_ptr<attachment> { return std::make_unique<traces>(); },
                                .names = nullptr};

}  // namespace nopal::core
