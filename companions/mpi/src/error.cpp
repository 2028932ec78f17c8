#include "nopal/mpi/error.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>

namespace nopal::inline NOPAL_ABI::mpi {

static int class_of(int code) noexcept {
  int c = code;
  MPI_Error_class(code, &c);
  return c;
}

static std::string text_of(char const* call, int code, int index) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  std::string what = std::string{"nopal: "} + call;
  if (index >= 0) what += ", request " + std::to_string(index);
  what += ": ";
  if (MPI_Error_string(code, text.data(), &length) == MPI_SUCCESS) {
    what.append(text.data(), static_cast<std::size_t>(length));
  } else {
    what += "error " + std::to_string(code);
  }
  return what;
}

error::error(char const* call, int code, int index)
    : std::runtime_error{text_of(call, code, index)}, code_{code}, class_{class_of(code)}, index_{index}, call_{call} {}

}  // namespace nopal::mpi
