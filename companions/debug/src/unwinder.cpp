// Walks up a copy of a stack by the DWARF call frame information of the code (.eh_frame), read where the loader has mapped it.

#include "debug/src/unwinder.hpp"

#include <array>
#include <cstddef>
#include <cstring>

#include "nopal/core/architecture/context_layout.hpp"

namespace nopal::inline NOPAL_ABI::core {

namespace {

// The registers by their DWARF numbers, and where a stack that waits stores those that a callee preserves:
// core/architecture/context_layout.hpp.
struct saved {
  unsigned number;
  std::size_t at;
};
#if defined(__x86_64__)
constexpr std::size_t registers = 17;
constexpr unsigned stack_register = 7, return_column = 16;
constexpr std::array saved_registers{saved{12, offsetof(context_frame, r12)},
                                     saved{13, offsetof(context_frame, r13)},
                                     saved{14, offsetof(context_frame, r14)},
                                     saved{15, offsetof(context_frame, r15)},
                                     saved{3, offsetof(context_frame, rbx)},
                                     saved{6, offsetof(context_frame, rbp)},
                                     saved{return_column, offsetof(context_frame, return_address)}};
constexpr std::uintptr_t code_bits = ~std::uintptr_t{0};
#elif defined(__aarch64__)
constexpr std::size_t registers = 32;
constexpr unsigned stack_register = 31, return_column = 30;
constexpr std::array saved_registers{
    saved{19, offsetof(context_frame, x19)}, saved{20, offsetof(context_frame, x20)}, saved{21, offsetof(context_frame, x21)},
    saved{22, offsetof(context_frame, x22)}, saved{23, offsetof(context_frame, x23)}, saved{24, offsetof(context_frame, x24)},
    saved{25, offsetof(context_frame, x25)}, saved{26, offsetof(context_frame, x26)}, saved{27, offsetof(context_frame, x27)},
    saved{28, offsetof(context_frame, x28)}, saved{29, offsetof(context_frame, x29)}, saved{return_column, offsetof(context_frame, x30)}};
constexpr std::uintptr_t code_bits = (std::uintptr_t{1} << 48) - 1;  // the bits above may hold a signature
#else
#error "nopal cannot walk up stacks on this architecture: add what its nopal_context_switch saves here"
#endif

/// The registers of one frame. A register that is not known is 0.
using registers_of = std::array<std::uintptr_t, registers>;

template <class T>
T load(std::uintptr_t at) noexcept {
  T value;
  std::memcpy(&value, reinterpret_cast<void const*>(at), sizeof value);  // NOLINT(performance-no-int-to-ptr)
  return value;
}

/// Reads unwind information from one address up to another. At an attempt to read further good() becomes false.
class reader {
 public:
  reader(std::uintptr_t at, std::uintptr_t end) noexcept : at_{at}, end_{end} {}

  bool good() const noexcept { return good_; }
  bool more() const noexcept { return good_ && at_ < end_; }
  std::uintptr_t at() const noexcept { return at_; }
  void skip(std::uintptr_t n) noexcept {
    if (good_ && n <= end_ - at_) {
      at_ += n;
    } else {
      good_ = false;
    }
  }
  template <class T>
  T get() noexcept {
    if (!good_ || end_ - at_ < sizeof(T)) {
      good_ = false;
      return {};
    }
    T const value = load<T>(at_);
    at_ += sizeof(T);
    return value;
  }
  std::uint64_t uleb() noexcept { return leb(false); }
  std::int64_t sleb() noexcept { return static_cast<std::int64_t>(leb(true)); }
  /// An address in the encoding `how` of .eh_frame. `applied`: adds what it is relative to.
  std::uintptr_t encoded(unsigned how, bool applied) noexcept {
    std::uintptr_t const here = at_;
    std::uintptr_t value = 0;
    switch (how & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c: value = get<std::uint64_t>(); break;
      case 0x02: value = get<std::uint16_t>(); break;
      case 0x03: value = get<std::uint32_t>(); break;
      case 0x0a: value = static_cast<std::uintptr_t>(std::int64_t{get<std::int16_t>()}); break;
      case 0x0b: value = static_cast<std::uintptr_t>(std::int64_t{get<std::int32_t>()}); break;
      default: good_ = false;
    }
    if (!applied || (how & 0x70) == 0x00) return value;
    if ((how & 0x70) != 0x10) good_ = false;  // only an address relative to its own position is supported
    return value + here;
  }

 private:
  std::uint64_t leb(bool is_signed) noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto const b = get<std::uint8_t>();
      value |= std::uint64_t{b & 0x7fu} << shift;
      if ((b & 0x80) != 0) continue;
      if (is_signed && (b & 0x40) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return value;
    }
    good_ = false;
    return 0;
  }

  std::uintptr_t at_, end_;
  bool good_ = true;
};

/// The end of the entry at that address. 0: no supported compiler makes such an entry.
std::uintptr_t end_of_entry(std::uintptr_t entry) noexcept {
  auto const length = load<std::uint32_t>(entry);
  return length == 0 || length == 0xffffffff ? 0 : entry + 4 + length;
}

/// The entry for the code at `pc`, by the table in the .eh_frame_hdr at `header`. 0: there is none.
std::uintptr_t find_entry(std::uintptr_t header, std::uintptr_t pc) noexcept {
  if (header == 0) return 0;
  auto const at = [&](unsigned k) { return load<std::uint8_t>(header + k); };
  if (at(0) != 1 || at(1) != 0x1b || at(2) != 0x03 || at(3) != 0x3b) return 0;  // as all linkers write it
  std::uintptr_t const table = header + 12;
  std::uint32_t low = 0, high = load<std::uint32_t>(header + 8);
  auto const word = [&](std::uintptr_t where) { return header + static_cast<std::uintptr_t>(std::int64_t{load<std::int32_t>(where)}); };
  while (low < high) {  // finds the last entry that begins at or before pc
    std::uint32_t const middle = low + (high - low) / 2;
    if (word(table + std::uintptr_t{middle} * 8) <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : word(table + std::uintptr_t{low - 1} * 8 + 4);
}

/// How a register of the caller is found.
enum class rule : std::uint8_t { same, undefined, at_offset, is_offset, in_register, unknown };
/// The rules for one place in the code.
struct row {
  struct {
    rule how = rule::same;
    std::int64_t value = 0;
  } reg[registers];
  unsigned cfa_register = stack_register;
  std::int64_t cfa_offset = 0;
  bool cfa_known = true;
};

/// DWARF's common information entry, shared by several entries.
struct common {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  unsigned pointers = 0;
  bool augmented = false;
  std::uintptr_t program = 0, end = 0;
};

/// Reads the common entry at that address. False: it has something that is not supported.
bool read_common(std::uintptr_t entry, common& c) noexcept {
  c.end = end_of_entry(entry);
  if (c.end == 0) return false;
  reader r{entry + 4, c.end};
  if (r.get<std::uint32_t>() != 0) return false;
  auto const version = r.get<std::uint8_t>();
  std::array<char, 8> augmentation{};
  for (std::size_t k = 0; k < augmentation.size(); ++k) {
    augmentation[k] = r.get<char>();
    if (augmentation[k] == '\0') break;
    if (k + 1 == augmentation.size()) return false;
  }
  c.code_factor = r.uleb();
  c.data_factor = r.sleb();
  if ((version == 1 ? r.get<std::uint8_t>() : r.uleb()) != return_column) return false;
  if (augmentation[0] == 'z') {
    c.augmented = true;
    std::uint64_t const bytes = r.uleb();
    std::uintptr_t const program = r.at() + bytes;
    for (char const* a = augmentation.data() + 1; *a != '\0'; ++a) {
      switch (*a) {
        case 'R': c.pointers = r.get<std::uint8_t>(); break;
        case 'L': r.skip(1); break;
        case 'P': {
          unsigned const how = r.get<std::uint8_t>();
          r.encoded(how, false);
          break;
        }
        case 'S':
        case 'B':
        case 'G': break;
        default: return false;
      }
    }
    if (!r.good()) return false;
    c.program = program;
  } else if (augmentation[0] == '\0') {
    c.program = r.at();
  } else {
    return false;
  }
  return r.good() && c.program <= c.end;
}

/// Runs a program of .eh_frame up to the row for `pc`. False: it has something that is not supported.
bool run(reader r, common const& c, std::uintptr_t from, std::uintptr_t pc, row& now, row const& initial) noexcept {
  std::array<row, 8> remembered;
  std::size_t depth = 0;
  std::uintptr_t at = from;
  auto const set = [&](std::uint64_t number, rule how, std::int64_t value) {
    if (number < registers) {
      now.reg[number].how = how;
      now.reg[number].value = value;
    }
  };
  auto const restore = [&](std::uint64_t number) {
    if (number < registers) now.reg[number] = initial.reg[number];
  };
  auto const factored = [&](std::uint64_t n) { return static_cast<std::int64_t>(n) * c.data_factor; };
  while (r.more()) {
    auto const op = r.get<std::uint8_t>();
    unsigned const low = op & 0x3fu;
    switch (op & 0xc0) {
      case 0x40: at += low * c.code_factor; break;
      case 0x80: set(low, rule::at_offset, factored(r.uleb())); continue;
      case 0xc0: restore(low); continue;
      default:
        switch (op) {
          case 0x00: continue;                                             // nop
          case 0x02: at += r.get<std::uint8_t>() * c.code_factor; break;   // advance_loc1
          case 0x03: at += r.get<std::uint16_t>() * c.code_factor; break;  // advance_loc2
          case 0x04: at += r.get<std::uint32_t>() * c.code_factor; break;  // advance_loc4
          case 0x05: {                                                     // offset_extended
            auto const n = r.uleb();
            set(n, rule::at_offset, factored(r.uleb()));
            continue;
          }
          case 0x06: restore(r.uleb()); continue;                  // restore_extended
          case 0x07: set(r.uleb(), rule::undefined, 0); continue;  // undefined
          case 0x08: set(r.uleb(), rule::same, 0); continue;       // same_value
          case 0x09: {                                             // register
            auto const n = r.uleb();
            set(n, rule::in_register, static_cast<std::int64_t>(r.uleb()));
            continue;
          }
          case 0x0a:  // remember_state
            if (depth == remembered.size()) return false;
            remembered[depth++] = now;
            continue;
          case 0x0b:  // restore_state
            if (depth == 0) return false;
            now = remembered[--depth];
            continue;
          case 0x0c:  // def_cfa
            now.cfa_register = static_cast<unsigned>(r.uleb());
            now.cfa_offset = static_cast<std::int64_t>(r.uleb());
            now.cfa_known = true;
            continue;
          case 0x0d: now.cfa_register = static_cast<unsigned>(r.uleb()); continue;    // def_cfa_register
          case 0x0e: now.cfa_offset = static_cast<std::int64_t>(r.uleb()); continue;  // def_cfa_offset
          case 0x0f:
            r.skip(r.uleb());
            now.cfa_known = false;
            continue;   // def_cfa_expression
          case 0x10:    // expression
          case 0x16: {  // val_expression
            auto const n = r.uleb();
            r.skip(r.uleb());
            set(n, rule::unknown, 0);
            continue;
          }
          case 0x11: {  // offset_extended_sf
            auto const n = r.uleb();
            set(n, rule::at_offset, r.sleb() * c.data_factor);
            continue;
          }
          case 0x12:  // def_cfa_sf
            now.cfa_register = static_cast<unsigned>(r.uleb());
            now.cfa_offset = r.sleb() * c.data_factor;
            now.cfa_known = true;
            continue;
          case 0x13: now.cfa_offset = r.sleb() * c.data_factor; continue;  // def_cfa_offset_sf
          case 0x14: {                                                     // val_offset
            auto const n = r.uleb();
            set(n, rule::is_offset, factored(r.uleb()));
            continue;
          }
          case 0x15: {  // val_offset_sf
            auto const n = r.uleb();
            set(n, rule::is_offset, r.sleb() * c.data_factor);
            continue;
          }
          case 0x2d: continue;            // AArch64: the return address is signed, or no longer is
          case 0x2e: r.uleb(); continue;  // GNU_args_size
          default: return false;
        }
    }
    if (at > pc) break;
  }
  return r.good();
}

/// The word at an address of the copied stack. 0: it is not in the copy.
std::uintptr_t on_stack(stack_copy const& s, std::uintptr_t at) noexcept {
  if (at < s.sp || s.bytes.size() < sizeof(std::uintptr_t) || at - s.sp > s.bytes.size() - sizeof(std::uintptr_t)) return 0;
  std::uintptr_t value;
  std::memcpy(&value, s.bytes.data() + (at - s.sp), sizeof value);
  return value;
}

/// Replaces a frame's registers by its caller's. False: no caller is known.
bool step(code_map const& code, stack_copy const& s, registers_of& now) noexcept {
  std::uintptr_t const pc = now[return_column] - 1;  // in the call
  std::uintptr_t const entry = find_entry(code.unwind_header(pc), pc);
  if (entry == 0) return false;
  std::uintptr_t const end = end_of_entry(entry);
  if (end == 0) return false;
  common c;
  if (!read_common(entry + 4 - load<std::uint32_t>(entry + 4), c)) return false;
  reader r{entry + 8, end};
  std::uintptr_t const from = r.encoded(c.pointers, true);
  std::uintptr_t const length = r.encoded(c.pointers, false);
  if (c.augmented) r.skip(r.uleb());
  if (!r.good() || pc < from || pc - from >= length) return false;
  row first;
  if (!run({c.program, c.end}, c, from, ~std::uintptr_t{0}, first, first)) return false;
  row there = first;
  if (!run(r, c, from, pc, there, first)) return false;
  if (!there.cfa_known || there.cfa_register >= registers) return false;
  std::uintptr_t const cfa = now[there.cfa_register] + static_cast<std::uintptr_t>(there.cfa_offset);
  if (cfa <= now[stack_register]) return false;
  registers_of caller = now;
  for (unsigned k = 0; k < registers; ++k) {
    auto const value = there.reg[k].value;
    switch (there.reg[k].how) {
      case rule::same: break;
      case rule::undefined:
      case rule::unknown: caller[k] = 0; break;
      case rule::at_offset: caller[k] = on_stack(s, cfa + static_cast<std::uintptr_t>(value)); break;
      case rule::is_offset: caller[k] = cfa + static_cast<std::uintptr_t>(value); break;
      case rule::in_register:
        caller[k] = value >= 0 && value < static_cast<std::int64_t>(registers) ? now[static_cast<std::size_t>(value)] : 0;
        break;
    }
  }
  // On AArch64 a leaf's return address stays in its register; no frame above one is a leaf.
  if (there.reg[return_column].how == rule::same) return false;
  caller[stack_register] = cfa;
  caller[return_column] &= code_bits;
  now = caller;
  return now[return_column] != 0;
}

}  // namespace

std::size_t walk(code_map const& code, stack_copy const& s, std::span<std::uintptr_t> pcs) noexcept {
  registers_of now{};
  for (saved const r : saved_registers) now[r.number] = on_stack(s, s.sp + r.at);
  now[return_column] &= code_bits;
  now[stack_register] = s.sp + sizeof(context_frame);
  std::size_t n = 0;
  while (n < pcs.size() && now[return_column] != 0) {
    pcs[n++] = now[return_column];
    if (!step(code, s, now)) break;
  }
  return n;
}

}  // namespace nopal::core
