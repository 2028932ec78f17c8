// A program that opens a shared object with nopal inside, closes it, and opens it again: what it had installed must be gone, or its
// code must stay. host PLUGIN SCENARIO: 0 if all is as it should be.

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace {

char const* path;

void check(bool is_right, char const* what) {
  if (is_right) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::_Exit(1);
}

class plugin {
 public:
  plugin() : handle_{::dlopen(path, RTLD_NOW | RTLD_LOCAL)} {
    if (handle_ == nullptr) std::fprintf(stderr, "%s\n", ::dlerror());
    check(handle_ != nullptr, "the plug-in can be opened");
  }
  plugin(plugin const&) = delete;
  plugin& operator=(plugin const&) = delete;
  ~plugin() { ::dlclose(handle_); }

  void begin() { function<void()>("plugin_begin")(); }
  void run() { check(function<long()>("plugin_run")() == 55, "the pool runs"); }
  void end() { function<void()>("plugin_end")(); }
  void run_on_default_pool() { check(function<long()>("plugin_run_on_default_pool")() == 55, "the default pool runs"); }
  void run_once() {
    begin();
    run();
    end();
  }

 private:
  template <class F>
  F* function(char const* name) {
    void* const f = ::dlsym(handle_, name);
    check(f != nullptr, name);
    return reinterpret_cast<F*>(f);
  }
  void* handle_;
};

bool is_loaded() { return ::dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr; }

struct sigaction installed(int signal) {
  struct sigaction now{};
  ::sigaction(signal, nullptr, &now);
  return now;
}
void nothing_may_be_left() {
  check(!is_loaded(), "the plug-in is no longer loaded");
  check(installed(SIGSEGV).sa_handler == SIG_DFL, "SIGSEGV has its default action");
  check(installed(SIGBUS).sa_handler == SIG_DFL, "SIGBUS has its default action");
  stack_t now{};
  ::sigaltstack(nullptr, &now);
  check((now.ss_flags & SS_DISABLE) != 0, "the thread has no alternate stack");
}

std::size_t mappings() {
  std::ifstream maps{"/proc/self/maps"};
  std::size_t n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

[[noreturn]] void touch_null() {
  static std::atomic<std::uintptr_t> nowhere{8};
  *reinterpret_cast<int volatile*>(nowhere.load()) = 1;  // NOLINT(performance-no-int-to-ptr)
  std::_Exit(9);
}

/// How a child ends that runs f, with little time for it.
int status_of(std::function<void()> const& f) {
  pid_t const child = ::fork();
  check(child >= 0, "there can be a child");
  if (child == 0) {
    rlimit const no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::alarm(20);
    f();
    std::_Exit(0);
  }
  int status = 0;
  check(::waitpid(child, &status, 0) == child, "the child ends");
  return status;
}
void must_pass(std::function<void()> const& f) {
  int const status = status_of(f);
  check(!WIFSIGNALED(status), "the child ends by itself");
  check(WEXITSTATUS(status) == 0, "the child has found all right");
}
void must_end_by_segv(std::function<void()> const& f) {
  int const status = status_of(f);
  check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "the child was ended by SIGSEGV");
}
void must_exit_with(int code, std::function<void()> const& f) {
  int const status = status_of(f);
  check(WIFEXITED(status) && WEXITSTATUS(status) == code, "the child has ended with the code that its handler gives");
}

void leaves_nothing() {
  must_pass([] {
    std::size_t before = 0;
    for (int k = 0; k < 40; ++k) {
      plugin{}.run_once();
      nothing_may_be_left();
      if (k == 5) before = mappings();
    }
    check(mappings() < before + 20, "no mapping is left each time");  // the C library's stacks and arenas come and go
  });
}

void leaves_nothing_of_its_default_pool() {
  must_pass([] {
    std::size_t before = 0;
    for (int k = 0; k < 40; ++k) {
      plugin{}.run_on_default_pool();
      nothing_may_be_left();
      if (k == 5) before = mappings();
    }
    check(mappings() < before + 20, "no mapping is left each time");  // the C library's stacks and arenas come and go
  });
}

void faults_after_it_was_closed() {
  must_end_by_segv([] {
    plugin{}.run_once();
    touch_null();
  });
}

void faults_after_it_was_opened_again() {
  must_end_by_segv([] {
    plugin{}.run_once();
    plugin again;
    again.begin();
    again.run();
    touch_null();
  });
}

// A caller that lives on, and whose alternate stack nobody else can take from it.
void caller_ends_after_it_was_closed() {
  must_pass([] {
    std::atomic<int> step{0};
    auto* const one = new plugin;
    one->begin();
    std::thread caller{[&] {
      for (int k = 0; k < 100; ++k) one->run();
      step = 1;
      while (step != 2) std::this_thread::yield();
    }};
    while (step != 1) std::this_thread::yield();
    one->end();
    delete one;
    nothing_may_be_left();
    step = 2;
    caller.join();
  });
}

struct sigaction below{};

void handler_above_it_can_go_on_to_it() {
  must_exit_with(42, [] {
    struct sigaction base{}, above{};
    base.sa_handler = [](int) { std::_Exit(42); };
    ::sigaction(SIGSEGV, &base, nullptr);
    {
      plugin one;
      one.begin();
      above.sa_sigaction = [](int signal, siginfo_t* info, void* where) { below.sa_sigaction(signal, info, where); };
      above.sa_flags = SA_SIGINFO;
      ::sigaction(SIGSEGV, &above, &below);
      one.end();
    }
    check(is_loaded(), "the plug-in is still loaded");
    check(installed(SIGBUS).sa_handler == SIG_DFL, "SIGBUS has its default action");
    touch_null();
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  path = argv[1];
  std::map<std::string, void (*)()> const all{
      {"leaves_nothing", leaves_nothing},
      {"leaves_nothing_of_its_default_pool", leaves_nothing_of_its_default_pool},
      {"faults_after_it_was_closed", faults_after_it_was_closed},
      {"faults_after_it_was_opened_again", faults_after_it_was_opened_again},
      {"caller_ends_after_it_was_closed", caller_ends_after_it_was_closed},
      {"handler_above_it_can_go_on_to_it", handler_above_it_can_go_on_to_it},
  };
  auto const one = all.find(argv[2]);
  if (one == all.end()) return 2;
  one->second();
  return 0;
}
