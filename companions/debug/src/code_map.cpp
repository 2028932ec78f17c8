// Symbol tables of the loaded objects' files, and the names that users know.

#include "debug/src/code_map.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

// Also without the calls at a function's begin and end, which no_sanitize leaves.
#if defined(__clang__)
#define NOPAL_WITHOUT_SANITIZER [[clang::disable_sanitizer_instrumentation]]
#else
#define NOPAL_WITHOUT_SANITIZER [[gnu::no_sanitize("thread,address,undefined")]]
#endif

namespace nopal::inline NOPAL_ABI::core {

namespace {

// ---- Files.

/// An object's file, read-only in memory.
class mapped_file {
 public:
  explicit mapped_file(char const* path) noexcept {
    int const f = ::open(path, O_RDONLY | O_CLOEXEC);
    if (f < 0) return;
    struct stat about{};
    if (::fstat(f, &about) == 0 && about.st_size > 0) {
      size_ = static_cast<std::size_t>(about.st_size);
      void* const p = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, f, 0);
      if (p != MAP_FAILED) data_ = static_cast<unsigned char const*>(p);
    }
    ::close(f);
  }
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  ~mapped_file() {
    if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), size_);
  }

  /// `n` bytes from offset `at` on. Null: the file does not have them, or could not be read.
  unsigned char const* bytes(std::uint64_t at, std::uint64_t n) const noexcept {
    return data_ != nullptr && at <= size_ && n <= size_ - at ? data_ + at : nullptr;
  }
  /// Copies an object from offset `at`, which need not be aligned. False: the file does not have it.
  template <class T>
  bool get(T& to, std::uint64_t at) const noexcept {
    unsigned char const* const p = bytes(at, sizeof to);
    if (p != nullptr) std::memcpy(&to, p, sizeof to);
    return p != nullptr;
  }

 private:
  unsigned char const* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The mangled name of the function at `address`, relative to the object's base, from the symbol tables of type `table`; "" if it is not in
/// them.
std::string symbol_in(mapped_file const& file, ElfW(Ehdr) const& head, ElfW(Word) table, std::uintptr_t address) {
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    ElfW(Shdr) symbols, strings;
    if (!file.get(symbols, head.e_shoff + std::uint64_t{i} * sizeof symbols) || symbols.sh_type != table) continue;
    if (!file.get(strings, head.e_shoff + std::uint64_t{symbols.sh_link} * sizeof strings)) continue;
    unsigned char const* const text = file.bytes(strings.sh_offset, strings.sh_size);
    if (text == nullptr) continue;
    for (std::uint64_t at = symbols.sh_offset, end = at + symbols.sh_size; at < end; at += sizeof(ElfW(Sym))) {
      ElfW(Sym) s;
      if (!file.get(s, at)) break;
      bool const is_function = (s.st_info & 0xf) == STT_FUNC || (s.st_info & 0xf) == STT_GNU_IFUNC;
      if (!is_function || s.st_shndx == SHN_UNDEF || address < s.st_value || address - s.st_value >= s.st_size) continue;
      if (s.st_name >= strings.sh_size) continue;
      auto const* const name = reinterpret_cast<char const*>(text + s.st_name);
      return {name, ::strnlen(name, strings.sh_size - s.st_name)};
    }
  }
  return {};
}

// ---- Names.

/// The mangled name of the function that `symbol` is a part of: compilers split coroutines and cold code into several.
std::string_view whole(std::string_view symbol) noexcept {
  // GCC names the function that runs a coroutine f after its frame: …<length>_Z<f>.Frame.actor
  if (std::size_t const frame = symbol.find(".Frame"); frame != symbol.npos) {
    for (std::size_t at = symbol.rfind("_Z", frame); at != symbol.npos && at > 0; at = symbol.rfind("_Z", at - 1)) {
      if (symbol[at - 1] >= '0' && symbol[at - 1] <= '9') return symbol.substr(at, frame - at);
    }
  }
  return symbol.substr(0, symbol.find('.'));
}

// The inline namespace that names nopal's ABI, in a demangled name and in a mangled one. Users write names without it.
#define NOPAL_TEXT_OF(macro) #macro
#define NOPAL_TEXT(macro) NOPAL_TEXT_OF(macro)
constexpr std::string_view versioned = "nopal::" NOPAL_TEXT(NOPAL_ABI) "::";
std::string versioned_mangled() {
  return "5nopal" + std::to_string(std::string_view{NOPAL_TEXT(NOPAL_ABI)}.size()) + NOPAL_TEXT(NOPAL_ABI);
}

std::string without_version(std::string text, std::string_view with, std::string_view without) {
  for (std::size_t at = text.find(with); at != text.npos; at = text.find(with, at + without.size())) text.replace(at, with.size(), without);
  return text;
}

std::string demangled(std::string const& name) {
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const text{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free};
  return status == 0 && text != nullptr ? without_version(text.get(), versioned, "nopal::") : name;
}

/// The first template argument of a name that is too new for this system's demangler: the shortest text there that is a type.
std::string demangled_argument(std::string const& name) {
  std::size_t const begin = name.find('I');
  for (std::size_t end = begin + 1; begin != name.npos && end <= name.size(); ++end) {
    std::string const type = name.substr(begin + 1, end - begin - 1);
    if (std::string text = demangled(type); text != type) return text;
  }
  return {};
}

bool begins_with_any(std::string_view s, std::initializer_list<std::string_view> of) noexcept {
  for (std::string_view const p : of) {
    if (s.substr(0, p.size()) == p) return true;
  }
  return false;
}

/// The first template argument that is a type, of the first `<…>` in a demangled name. A value begins with its type in parentheses, such as
/// (nopal::core::way)2.
std::string_view first_argument(std::string_view name) noexcept {
  std::size_t first = name.find('<');
  if (first == name.npos) return {};
  ++first;
  int depth = 0;
  for (std::size_t k = first; k < name.size(); ++k) {
    char const c = name[k];
    if (depth == 0 && c == ',' && name.substr(first, 8) == "(nopal::") {
      first = k + 2;
    } else if (depth == 0 && (c == ',' || c == '>')) {
      std::string_view argument = name.substr(first, k - first);
      while (!argument.empty() && (argument.back() == '&' || argument.back() == ' ')) argument.remove_suffix(1);
      return argument;
    }
    depth += c == '<' || c == '(' || c == '{';
    depth -= c == '>' || c == ')' || c == '}';
  }
  return {};
}

function_name named(std::string const& symbol) {
  std::string const name{whole(symbol)};
  function_name f{demangled(name), true};
  std::string const mangled = without_version(name, versioned_mangled(), "5nopal");  // only for comparisons: it cannot be demangled
  // A function of nopal that runs a user's closure contains the closure's body if the compiler has inlined it. Its name has the closure's
  // type.
  if (begins_with_any(mangled, {"_ZN5nopal4core12fiber_recordI", "_ZN5nopal4core8child_ofI", "_ZZN5nopal4core8child_ofI",
                                "_ZN5nopal4core16outside_child_ofI", "_ZN5nopal4core9branch_ofI", "_ZZN5nopal4core9branch_ofI",
                                "_ZN5nopal4core9typed_jobI", "_ZZN5nopal4core9typed_jobI", "_ZZN5nopal4core12detached_jobI",
                                "_ZZN5nopal4core13dependent_jobI"})) {
    if (f.text == name) f.text = std::string{"<"}.append(demangled_argument(name)).append(">");
    std::string_view const closure = first_argument(f.text);
    // The type of a function does not identify the function, and nopal's own closures are not the user's.
    bool const is_function = closure.find("(&)") != closure.npos || closure.find("*)") != closure.npos;
    f.is_users = !closure.empty() && !is_function && !begins_with_any(closure, {"nopal::"});
    if (f.is_users) f.text = std::string{closure};
  } else if (begins_with_any(mangled,
                             {"_ZN5nopal", "_ZNK5nopal", "_ZZN5nopal", "_ZZNK5nopal", "_ZSt", "_ZNSt", "_ZNKSt", "_ZZNSt", "_ZN9__gnu_cxx",
                              "nopal_context_", "__cxa_", "__clang_call_terminate", "_Unwind", "__interceptor", "__tsan", "__asan"})) {
    f.is_users = false;
  }
  // The end is kept: it tells the closures of one function apart.
  constexpr std::size_t longest = 200, kept_end = 60;
  if (f.text.size() > longest) f.text.replace(longest - kept_end, f.text.size() - longest, "...");
  return f;
}

// ---- Objects.

/// What the loader knows of one object. Its program headers follow, then its name.
struct loaded_object {
  std::uintptr_t base;
  std::size_t header_bytes, name_bytes;
};
struct loaded_objects {
  unsigned char* to;
  std::size_t room;
  std::size_t bytes;  ///< of all objects; those that do not fit are not copied
};

// Under the loader's lock. Another thread may hold a lock of the allocator, or of a sanitizer that names the code of a race, and wait for
// the loader's: so nothing is called here, not even memcpy, and a sanitizer adds nothing.
NOPAL_WITHOUT_SANITIZER void copy_bytes(loaded_objects& all, void const* from, std::size_t n) noexcept {
  auto const* const bytes = static_cast<unsigned char const*>(from);
  for (std::size_t k = 0; k < n; ++k, ++all.bytes) {
    if (all.bytes >= all.room) continue;
    // volatile: so that this does not become memcpy. NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): it copies padding, too
    static_cast<unsigned char volatile*>(all.to)[all.bytes] = bytes[k];
  }
}
NOPAL_WITHOUT_SANITIZER int copy_loaded(dl_phdr_info* info, std::size_t, void* with) noexcept {
  auto& all = *static_cast<loaded_objects*>(with);
  loaded_object of{info->dlpi_addr, info->dlpi_phnum * sizeof(ElfW(Phdr)), 0};
  if (info->dlpi_name != nullptr) {
    auto const* const name = static_cast<char const volatile*>(info->dlpi_name);  // volatile: so that the loop does not become strlen
    while (name[of.name_bytes] != '\0') ++of.name_bytes;
  }
  copy_bytes(all, &of, sizeof of);
  copy_bytes(all, info->dlpi_phdr, of.header_bytes);
  copy_bytes(all, info->dlpi_name, of.name_bytes);
  return 0;
}

}  // namespace

code_map::code_map() {
  std::vector<unsigned char> copy(std::size_t{16} << 10);
  for (;;) {
    loaded_objects all{copy.data(), copy.size(), 0};
    ::dl_iterate_phdr(copy_loaded, &all);
    if (all.bytes <= copy.size()) {
      copy.resize(all.bytes);
      break;
    }
    copy.resize(2 * all.bytes);  // more may be loaded before the next try
  }
  for (unsigned char const* at = copy.data(); at != copy.data() + copy.size();) {
    loaded_object of;
    std::memcpy(&of, at, sizeof of);
    at += sizeof of;
    object o;
    o.headers.assign(at, at + of.header_bytes);
    at += of.header_bytes;
    std::string const name(reinterpret_cast<char const*>(at), of.name_bytes);
    at += of.name_bytes;
    o.path = name.empty() ? "/proc/self/exe" : name;
    o.label = name.empty() ? std::string{program_invocation_short_name} : name.substr(name.rfind('/') + 1);
    o.base = of.base;
    for (std::size_t i = 0; i < of.header_bytes; i += sizeof(ElfW(Phdr))) {
      ElfW(Phdr) p;
      std::memcpy(&p, o.headers.data() + i, sizeof p);
      if (p.p_type == PT_GNU_EH_FRAME) o.unwind = o.base + p.p_vaddr;
      if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0) continue;
      o.first = std::min<std::uintptr_t>(o.first, o.base + p.p_vaddr);
      o.last = std::max<std::uintptr_t>(o.last, o.base + p.p_vaddr + p.p_memsz);
    }
    objects_.push_back(std::move(o));
  }
}

code_map::object const* code_map::find(std::uintptr_t pc) const noexcept {
  for (object const& o : objects_) {
    if (pc >= o.first && pc < o.last) return &o;
  }
  return nullptr;
}

std::uintptr_t code_map::unwind_header(std::uintptr_t pc) const noexcept {
  object const* const o = find(pc);
  return o == nullptr ? 0 : o->unwind;
}

function_name const& code_map::name(std::uintptr_t pc) {
  auto const [at, is_new] = names_.try_emplace(pc);
  function_name& f = at->second;
  if (!is_new) return f;
  std::uintptr_t const call = pc - 1;  // in the call: another function may begin after it
  object const* const o = find(call);
  if (o == nullptr) {
    f = {"code of no known object", false, false};
    return f;
  }
  mapped_file const file{o->path.c_str()};
  ElfW(Ehdr) head;
  std::string symbol;
  // Reads the file only if its program headers are those that were loaded.
  if (file.get(head, 0) && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_shentsize == sizeof(ElfW(Shdr))) {
    unsigned char const* const loaded = file.bytes(head.e_phoff, o->headers.size());
    if (loaded != nullptr && std::memcmp(loaded, o->headers.data(), o->headers.size()) == 0) {
      symbol = symbol_in(file, head, SHT_SYMTAB, call - o->base);
      if (symbol.empty()) symbol = symbol_in(file, head, SHT_DYNSYM, call - o->base);
    }
  }
  if (!symbol.empty()) {
    f = named(symbol);
  } else {
    std::array<char, 32> offset;
    std::snprintf(offset.data(), offset.size(), "+0x%zx", static_cast<std::size_t>(call - o->base));
    f = {o->label + offset.data(), true, false};
  }
  return f;
}

}  // namespace nopal::core
