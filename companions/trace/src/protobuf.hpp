#pragma once

// Messages in the wire format of Protocol Buffers: the four kinds of fields that a trace needs. Used by perfetto.hpp, the messages.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "nopal/core/compiler/abi.h"

namespace nopal::inline NOPAL_ABI::core {

/// One message. Each call adds a field, and may throw std::bad_alloc.
class protobuf {
 public:
  /// A field of an integer type or an enumeration.
  protobuf& number(unsigned field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  /// A field of type fixed64.
  protobuf& fixed(unsigned field, std::uint64_t value) {
    tag(field, 1);
    for (unsigned k = 0; k < sizeof value; ++k) bytes_ += static_cast<char>(value >> 8 * k & 0xff);
    return *this;
  }
  /// A field of type string or bytes.
  protobuf& text(unsigned field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  /// A field that is a message.
  protobuf& message(unsigned field, protobuf const& m) { return text(field, m.bytes_); }

  std::string const& bytes() const noexcept { return bytes_; }

 private:
  void tag(unsigned field, unsigned wire_type) { varint(std::uint64_t{field} << 3 | wire_type); }
  void varint(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes_ += static_cast<char>((v & 0x7f) | 0x80);
    bytes_ += static_cast<char>(v);
  }

  std::string bytes_;
};

}  // namespace nopal::core
