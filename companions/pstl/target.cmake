# nopal::pstl: what links it has std::execution::par and par_unseq on nopal. Headers alone; docs/pstl.md.

include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <version>\n#if !defined(__GLIBCXX__) || _GLIBCXX_RELEASE < 12\n#error another library\n#endif\nint main() {}" NOPAL_HAS_PSTL)
if(NOT NOPAL_HAS_PSTL)
  message(STATUS "nopal: no nopal::pstl, since the C++ library is not libstdc++ 12 or newer")
  return()
endif()
add_library(nopal_pstl INTERFACE)
target_link_libraries(nopal_pstl INTERFACE nopal)
# Before all other headers, in each source: what says how the standard library's algorithms run must be the same in all that is linked.
target_compile_options(nopal_pstl INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include nopal/pstl.hpp>")
