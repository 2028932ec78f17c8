#pragma once

// Reads a trace as Perfetto does: by the wire format of Protocol Buffers and the field numbers of Perfetto's public definitions. It shares
// no code with the writer of traces.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoded {

/// A field of a message: a number, or the bytes of a text or an inner message.
struct field {
  std::uint64_t number = 0;
  std::string_view bytes;
};

/// The fields of a message by their numbers, in order. Throws if the bytes are not a message.
inline std::multimap<std::uint64_t, field> fields(std::string_view bytes) {
  std::multimap<std::uint64_t, field> all;
  std::size_t at = 0;
  auto const next = [&]() -> std::uint64_t {
    if (at == bytes.size()) throw std::runtime_error{"a message ends early"};
    return static_cast<unsigned char>(bytes[at++]);
  };
  auto const varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      std::uint64_t const b = next();
      value |= (b & 0x7f) << shift;
      if (b < 0x80) return value;
      if (shift > 63) throw std::runtime_error{"a number is too long"};
    }
  };
  while (at < bytes.size()) {
    std::uint64_t const tag = varint();
    field f;
    if (tag % 8 == 0) {
      f.number = varint();
    } else if (tag % 8 == 1) {
      for (unsigned k = 0; k < 8; ++k) f.number |= next() << 8 * k;
    } else if (tag % 8 == 2) {
      std::uint64_t const size = varint();
      if (size > bytes.size() - at) throw std::runtime_error{"a text is longer than its message"};
      f.bytes = bytes.substr(at, size);
      at += size;
    } else {
      throw std::runtime_error{"no such type of fields: " + std::to_string(tag % 8)};
    }
    all.emplace(tag / 8, f);
  }
  return all;
}

inline std::uint64_t number_in(std::multimap<std::uint64_t, field> const& m, std::uint64_t n) {
  auto const it = m.find(n);
  return it != m.end() ? it->second.number : 0;
}
inline std::string_view bytes_in(std::multimap<std::uint64_t, field> const& m, std::uint64_t n) {
  auto const it = m.find(n);
  return it != m.end() ? it->second.bytes : std::string_view{};
}

enum class type : std::uint64_t { none, begin, end, instant, counter };

struct event {
  std::uint64_t time, track;
  decoded::type type;
  std::string name;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::uint64_t> numbers;
  std::uint64_t count, flow, ending_flow;
};

struct track {
  std::string name;
  std::uint64_t parent = 0, pid = 0;
};

struct trace {
  std::string bytes;
  std::map<std::uint64_t, track> tracks;
  std::vector<event> events;  // in the order of the file

  explicit trace(std::string const& file) {
    std::ifstream in{file, std::ios::binary};
    if (!in) throw std::runtime_error{"there is no " + file};
    bytes.assign(std::istreambuf_iterator<char>{in}, {});
    for (auto const& [n, packet] : fields(bytes)) {
      auto const p = fields(packet.bytes);
      if (p.count(60) != 0) add_track(fields(bytes_in(p, 60)));
      if (p.count(11) != 0) add_event(number_in(p, 8), fields(bytes_in(p, 11)));
      if (n != 1 || number_in(p, 10) == 0) throw std::runtime_error{"a packet of no sequence"};
    }
  }

  std::string const& name_of(event const& e) const { return tracks.at(e.track).name; }
  bool is_lane(event const& e) const { return name_of(e).starts_with("worker "); }

  /// Counts the events of that type and name, on lanes or, if `lanes` is false, elsewhere.
  std::size_t count(decoded::type t, std::string_view name, bool lanes = true) const {
    std::size_t n = 0;
    for (event const& e : events) n += e.type == t && e.name == name && is_lane(e) == lanes ? 1 : 0;
    return n;
  }
  /// All events by time; equal times in the order of the file.
  std::vector<event> in_order() const {
    std::map<std::pair<std::uint64_t, std::size_t>, event const*> sorted;
    for (event const& e : events) sorted.emplace(std::pair{e.time, sorted.size()}, &e);
    std::vector<event> all;
    for (auto const& [key, e] : sorted) all.push_back(*e);
    return all;
  }
  /// The events of one name, of any type, on any track.
  std::vector<event> named(std::string_view name) const {
    std::vector<event> all;
    for (event const& e : events) {
      if (e.name == name) all.push_back(e);
    }
    return all;
  }

 private:
  void add_track(std::multimap<std::uint64_t, field> const& d) {
    track t{std::string{bytes_in(d, 2)}, number_in(d, 5), number_in(fields(bytes_in(d, 3)), 1)};
    if (t.parent != 0 && tracks.count(t.parent) == 0) throw std::runtime_error{"a track before its parent"};
    tracks.insert_or_assign(number_in(d, 1), t);
  }
  void add_event(std::uint64_t time, std::multimap<std::uint64_t, field> const& e) {
    event x{time,
            number_in(e, 11),
            static_cast<type>(number_in(e, 9)),
            std::string{bytes_in(e, 23)},
            {},
            {},
            number_in(e, 30),
            number_in(e, 47),
            number_in(e, 48)};
    if (tracks.count(x.track) == 0) throw std::runtime_error{"an event on no track"};
    for (auto [it, end] = e.equal_range(4); it != end; ++it) {
      auto const note = fields(it->second.bytes);
      std::string const name{bytes_in(note, 10)};
      if (note.count(6) != 0) x.texts[name] = bytes_in(note, 6);
      if (note.count(3) + note.count(7) != 0) x.numbers[name] = number_in(note, 3) + number_in(note, 7);
    }
    events.push_back(std::move(x));
  }
};

}  // namespace decoded
