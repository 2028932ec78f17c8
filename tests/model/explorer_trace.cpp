// The text about an execution: its steps, its choices, and the result of the search.

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "engine.hpp"

namespace model {

std::string engine::show(location const& l, detail::raw v) const {
  std::string_view const kind{l.kind};
  std::ostringstream out;
  if (kind == "bool") {
    out << (v != 0 ? "true" : "false");
  } else if (kind == "pointer" || v > (detail::raw{1} << 48)) {
    if (kind == "signed") {
      out << static_cast<std::int64_t>(v);
    } else {
      out << std::hex << "0x" << v;
    }
  } else {
    out << v;
  }
  return out.str();
}

std::string engine::trace() const {
  std::ostringstream out;
  for (int i = 0; i < depth_ && i < static_cast<int>(nodes_.size()); ++i) {
    event const& e = nodes_[static_cast<std::size_t>(i)].e;
    if (e.what == action::none) continue;
    out << "  " << i << "\tthread " << e.thread << "  " << name(e.what);
    if (e.what < action::fence) out << ' ' << name(e.order);
    if (e.done.at >= 0) {
      location const& l = locations_[static_cast<std::size_t>(e.done.at)];
      out << " #" << e.done.at;
      bool const writes = e.done.writes();
      if (e.what != action::store && e.what != action::wake) {
        out << " reads " << show(l, e.read);
        if (e.done.read >= 0 && e.done.read < e.newest - (writes ? 1 : 0)) out << " (stale by " << e.newest - e.done.read << ')';
      }
      if (writes) out << " writes " << show(l, e.wrote);
      if (e.what == action::wake) out << " wakes " << e.wrote;
    }
    if (e.what == action::choose) out << ' ' << e.read;
    out << "\t" << base_name(e.at.file_name()) << ':' << e.at.line() << '\n';
  }
  return out.str();
}

std::string engine::choices() const {
  std::ostringstream out;
  for (int i = 0; i < depth_ && i < static_cast<int>(nodes_.size()); ++i) {
    node const& n = nodes_[static_cast<std::size_t>(i)];
    out << (i == 0 ? "" : " ") << n.chosen;
    if (n.value != 0) out << '.' << n.value;
  }
  return out.str();
}

std::string result::report() const {
  std::ostringstream out;
  out << executions << " executions, " << redundant << " redundant, " << cut << " cut, " << steps << " steps, " << deepest << " at most; "
      << (complete ? "complete" : "bounded");
  if (!ok()) out << "\nFAILED: " << failure << '\n' << trace << "choices: " << choices;
  return out.str();
}

}  // namespace model
