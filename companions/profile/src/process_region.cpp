#include "profile/src/process_region.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>

#include "base/open_file.hpp"
#include "nopal/core/base/fatal.hpp"
#include "profile/src/any_region.hpp"
#include "profile/src/report.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

procedure* whole = nullptr;  // never destroyed: procedures may end after static objects
std::string* file = nullptr;
int kept_pipe = -1;  // a pipe stays open, since its reader would else see the end of the file

// Before the run, so that a file that cannot be written is reported at once.
void check_file() noexcept {
  if (*file == "-") return;
  int const out = open_for_writing(file->c_str(), 0);
  if (out < 0) {
    die_in(nullptr,
           "the profile cannot be written to NOPAL_PROFILE_OUT, %s: %s; name a file in a directory that exists and may be written to",
           file->c_str(), std::strerror(errno));
  }
  if (is_pipe(out)) {
    kept_pipe = out;
  } else {
    ::close(out);
  }
}

profile_unit unit_wanted() noexcept {
  char const* const unit = ::secure_getenv("NOPAL_PROFILE_UNIT");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  if (unit == nullptr || *unit == '\0' || std::strcmp(unit, "time") == 0) return profile_unit::time;
  if (std::strcmp(unit, "calls") == 0) return profile_unit::calls;
  die_in(nullptr, "NOPAL_PROFILE_UNIT is '%s'; it can be time or calls, or not be set", unit);
}

double burden_wanted() noexcept {
  char const* const burden = ::secure_getenv("NOPAL_PROFILE_BURDEN");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
  if (burden == nullptr || *burden == '\0') return -1;
  char* end = nullptr;
  double const value = std::strtod(burden, &end);
  if (*end == '\0' && value >= 0 && value <= most_burden) return value;
  die_in(nullptr, "NOPAL_PROFILE_BURDEN is '%s'; it can be a number of nanoseconds or calls from 0 to 1e15, or not be set", burden);
}

// At the end of the process, on the thread that ends it.
void write() noexcept {
  try {
    end_region(*whole);
    profile_report const r = report_of(*whole);
    if (*file == "-") {
      std::fputs(r.table().c_str(), stderr);
      return;
    }
    std::string const json = r.json();
    int const out = kept_pipe >= 0 ? kept_pipe : open_for_writing(file->c_str(), O_TRUNC);
    int error = out < 0 ? errno : write_all(out, json);
    if (out >= 0 && ::close(out) != 0 && error == 0) error = errno;
    if (error == 0) return;
    std::fprintf(stderr, "nopal: the profile cannot be written to NOPAL_PROFILE_OUT, %s: %s; name another file\n", file->c_str(),
                 std::strerror(error));
  } catch (std::exception const& e) {
    std::fprintf(stderr, "nopal: there is no profile in NOPAL_PROFILE_OUT: %s\n", e.what());
  }
}

}  // namespace

void begin_process_region() noexcept {
  static constinit std::once_flag once;
  std::call_once(once, [] {
    char const* const wanted = ::secure_getenv("NOPAL_PROFILE_OUT");  // NOLINT(concurrency-mt-unsafe): it must not change during the call
    if (wanted == nullptr || *wanted == '\0') return;
    profile_unit const unit = unit_wanted();
    double const burden = burden_wanted();
    try {
      file = new std::string{wanted};
      check_file();
      whole = new procedure;
      char const* const what_if = ::secure_getenv("NOPAL_PROFILE_WHAT_IF");  // NOLINT(concurrency-mt-unsafe): it must not change
      begin_region(*whole, unit, burden, what_if != nullptr ? what_if : "");
      if (std::atexit(write) != 0) throw std::bad_alloc{};
    } catch (std::exception const& e) {
      die_in(nullptr, "NOPAL_PROFILE_OUT is set, and the profile cannot begin: %s; unset it", e.what());
    }
  });
}

}  // namespace nopal::core
