// A program that opens a shared object that uses nopal, closes it, and opens it again: what it had installed must be gone, and the code
// that threads still run must stay. host PLUGIN SCENARIO: 0 if all is right. What stays loaded: `code`, the object that contains nopal.

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
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
#include <string_view>
#include <thread>
#include <vector>

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
  void shut_down() { check(function<bool()>("plugin_shutdown")(), "the default pool ends"); }
  void goes_on() { function<void()>("plugin_goes_on")(); }
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

/// The number of loaded objects with names that end so.
int loaded(std::string_view name) {
  struct {
    std::string_view name;
    int n = 0;
  } found{name};
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* data) {
        auto& f = *static_cast<decltype(found)*>(data);
        if (std::string_view{object->dlpi_name}.ends_with(f.name)) ++f.n;
        return 0;
      },
      &found);
  return found.n;
}
// If the plug-in is linked with a shared nopal, nopal stays, and the plug-in is unloaded.
bool is_shared() { return std::string_view{path}.find("_shared") != std::string_view::npos; }
bool code_is_loaded() { return loaded(is_shared() ? "libnopal_unload_library.so" : path) == 1; }

struct sigaction installed(int signal) {
  struct sigaction now{};
  ::sigaction(signal, nullptr, &now);
  return now;
}
void nothing_may_be_left() {
  check(code_is_loaded(), "the code of nopal is loaded, once");
  check(!is_shared() || loaded(path) == 0, "the plug-in is no longer loaded");
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

/// How a child ends that runs f, and is killed if it hangs.
int status_of(std::function<void()> const& f) {
  pid_t const child = ::fork();
  check(child >= 0, "there can be a child");
  if (child == 0) {
    rlimit const no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::alarm(500);
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

std::size_t resident() {
  std::ifstream statm{"/proc/self/statm"};
  std::size_t size = 0, pages = 0;
  statm >> size >> pages;
  return pages * 4096;
}
std::size_t threads() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    std::size_t n = 0;
    if (word == "Threads:" && status >> n) return n;
  }
  return 0;
}
/// The number of thread keys that the process may still make.
std::size_t free_keys() {
  std::vector<pthread_key_t> keys(1);
  while (::pthread_key_create(&keys.back(), nullptr) == 0) keys.emplace_back();
  keys.pop_back();
  for (pthread_key_t const k : keys) ::pthread_key_delete(k);
  return keys.size();
}

// Repeated: its use of the process's resources does not grow. `use` ends what it begins.
void bounded(void (*use)(plugin&)) {
  must_pass([use] {
    std::size_t before = 0, memory = 0, keys = 0, running = threads();
    for (int k = 0; k < 2000; ++k) {
      {
        plugin one;
        use(one);
      }
      nothing_may_be_left();
      if (k != 100) continue;
      before = mappings();
      memory = resident();
      keys = free_keys();
    }
    check(mappings() < before + 100, "no mapping is left each time");  // the C library's stacks and arenas change
    check(resident() < memory + (16u << 20), "no memory is left each time");
    check(free_keys() == keys, "no thread key is left each time");
    check(threads() == running, "no thread is left");
  });
}
void leaves_nothing() {
  bounded([](plugin& p) { p.run_once(); });
}
void leaves_nothing_of_its_default_pool() {
  bounded([](plugin& p) {
    p.run_on_default_pool();
    p.shut_down();
  });
}

// Its default pool works on while it is closed, and while the program ends.
void its_default_pool_goes_on() {
  must_exit_with(5, [] {
    plugin{}.goes_on();
    for (int k = 0; k < 200; ++k) {
      plugin{}.run_on_default_pool();
      check(code_is_loaded(), "the code of nopal is loaded, once");
    }
    std::exit(5);
  });
}

// The program has a handler for SIGSEGV.
void the_programs_handler_is_back() {
  must_exit_with(42, [] {
    struct sigaction own{};
    own.sa_handler = [](int) { std::_Exit(42); };
    ::sigaction(SIGSEGV, &own, nullptr);
    for (int k = 0; k < 3; ++k) {
      plugin{}.run_once();
      check(installed(SIGSEGV).sa_handler == own.sa_handler, "the program's handler is back");
      plugin one;
      one.run_on_default_pool();
      one.shut_down();
      check(installed(SIGSEGV).sa_handler == own.sa_handler, "the program's handler is back after shutdown");
    }
    touch_null();
  });
}
void the_programs_handler_is_called_beside_its_default_pool() {
  must_exit_with(42, [] {
    struct sigaction own{};
    own.sa_handler = [](int) { std::_Exit(42); };
    ::sigaction(SIGSEGV, &own, nullptr);
    plugin{}.run_on_default_pool();
    touch_null();
  });
}

// Threads that have used each of its pools end when it is closed.
void threads_end_after_it_was_closed() {
  must_pass([] {
    for (int k = 0; k < 50; ++k) {
      std::atomic<int> used{0};
      std::atomic<bool> closed{false};
      auto* const one = new plugin;
      one->begin();
      std::vector<std::thread> users;
      for (int n = 0; n < 3; ++n) {
        users.emplace_back([&] {
          for (int j = 0; j < 10; ++j) one->run(), one->run_on_default_pool();
          ++used;
          while (!closed) std::this_thread::yield();
        });
      }
      while (used != 3) std::this_thread::yield();
      one->end();
      one->shut_down();
      delete one;
      closed = true;
      for (std::thread& t : users) t.join();
    }
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

// A caller that lives on; no other code can take its alternate stack from it.
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
    check(code_is_loaded(), "the code of nopal is still loaded");
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
      {"its_default_pool_goes_on", its_default_pool_goes_on},
      {"the_programs_handler_is_back", the_programs_handler_is_back},
      {"the_programs_handler_is_called_beside_its_default_pool", the_programs_handler_is_called_beside_its_default_pool},
      {"threads_end_after_it_was_closed", threads_end_after_it_was_closed},
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
