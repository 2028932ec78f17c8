// headers.hpp, which the test programs share, is compiled with this.

#include "headers.hpp"

#ifdef __cpp_char8_t
// Where this has the functions of these headers too, some of GoogleTest's call these two. Debian's GoogleTest, compiled by an older
// standard, lacks them, and no test prints such text. A GoogleTest that has them is preferred, since these are weak.
namespace testing::internal {
[[gnu::weak]] void PrintU8StringTo(const ::std::u8string& /*text*/, ::std::ostream* /*stream*/) {}
[[gnu::weak]] void PrintTo(const char8_t* /*text*/, ::std::ostream* /*stream*/) {}
}  // namespace testing::internal
#endif
