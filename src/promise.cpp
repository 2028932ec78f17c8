#include "nopal/promise.hpp"

namespace nopal::inline NOPAL_ABI::core {

void throw_promise_error(std::future_errc e) { throw std::future_error{e}; }

std::exception_ptr broken_promise() noexcept { return std::make_exception_ptr(std::future_error{std::future_errc::broken_promise}); }

}  // namespace nopal::core
