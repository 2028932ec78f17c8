#include "nopal/core/scheduler/thread_name.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace nopal::inline NOPAL_ABI::core {

void name_this_thread(std::string_view name, std::string_view what) noexcept {
  if (name.empty()) return;
  std::array<char, 16> text{};
  std::size_t const room = text.size() - 2;  // for the colon and the end
  what = what.substr(0, room - 1);
  name = name.substr(0, room - what.size());
  char* end = std::copy(name.begin(), name.end(), text.begin());
  *end++ = ':';
  std::copy(what.begin(), what.end(), end);
  ::pthread_setname_np(::pthread_self(), text.data());  // it cannot fail: the name is short enough, and the thread is the caller
}

}  // namespace nopal::core
