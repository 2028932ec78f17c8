// expect: deleted
#include <nopal/nopal.hpp>

nopal::task<> parent() { co_await nopal::resume_on(nopal::pool{}.worker(0)); }
