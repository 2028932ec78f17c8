// Loads, stores and changes of atomic objects, and races on plain data.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "engine.hpp"

namespace model {

detail::id engine::make_location(detail::raw initial, char const* kind) {
  if (locations_used_ == most_locations) {
    fail("more atomic objects than the explorer has room for");
    return 1;
  }
  if (locations_used_ == locations_.size()) locations_.emplace_back();
  location& l = locations_[locations_used_++];
  l.count = 0;
  l.kind = kind;
  // Fresh memory has no constructor: it is not known when it became an object.
  bool const constructed = std::strcmp(kind, "word") != 0;
  l.creator = self_;
  l.created = constructed ? me().now.thread(self_) : stamp{0};
  message& m = l.push();
  m.value = initial;
  m.event = -1;
  m.carries = false;
  return locations_used_;
}

void engine::remember(int l, int m) {
  thread_state& t = me();
  if (in_main()) return;
  for (int i = 0; i < t.looked; ++i) {
    look& k = t.looks[static_cast<std::size_t>(i)];
    if (k.location == l) {
      k.message = m;
      return;
    }
  }
  if (t.looked == most_looks) {  // the oldest is surely not of this loop
    std::move(t.looks.begin() + 1, t.looks.end(), t.looks.begin());
    --t.looked;
  }
  t.looks[static_cast<std::size_t>(t.looked++)] = {l, m};
}

void engine::read_view(message const& m, std::memory_order o) {
  if (!m.carries) return;
  thread_state& t = me();
  if (acquires(o)) {
    t.now.join(m.seen, used());
  } else {
    if (!t.has_later) t.later = view{};
    t.has_later = true;
    t.later.join(m.seen, used());
  }
}

void engine::write_message(int l, detail::raw v, std::memory_order o, message const* continues) {
  thread_state& t = me();
  location& x = locations_[static_cast<std::size_t>(l)];
  std::size_t const before = x.count - 1;
  message& m = x.push();
  int const ts = x.newest();
  t.now.location(l) = static_cast<stamp>(ts);
  m.value = v;
  m.event = in_main() ? -1 : depth_ - 1;
  m.carries = true;
  if (releases(o)) {
    m.seen = t.now;
  } else if (t.has_fenced) {
    m.seen = t.fenced;
    m.seen.location(l) = static_cast<stamp>(ts);
  } else {
    m.carries = false;
  }
  if (continues != nullptr) {
    message const& c = x.messages[before];  // push may have moved it
    if (c.carries) {
      if (m.carries) {
        m.seen.join(c.seen, used());
      } else {
        m.seen = c.seen;
        m.carries = true;
      }
    }
  }
}

detail::raw engine::load_now(int l, std::memory_order o, where const& at) {
  bool const single = o == std::memory_order_seq_cst;
  access a;
  a.what = access::load;
  a.single = single;
  a.at = l;
  before(a);
  thread_state& t = me();
  location& x = locations_[static_cast<std::size_t>(l)];
  int low = t.now.location(l);
  if (single) low = std::max<int>(low, single_.location(l));
  if (!in_main()) low = std::max<int>(low, nodes_[static_cast<std::size_t>(depth_ - 1)].at_least[static_cast<std::size_t>(self_)]);
  int const m = in_main() ? x.newest() : x.newest() - pick(x.newest() - low + 1);
  message const& read = x.messages[static_cast<std::size_t>(m)];
  t.now.location(l) = std::max(t.now.location(l), static_cast<stamp>(m));
  read_view(read, o);
  bool const only_learns = m <= single_.location(l);
  if (single) single_.location(l) = std::max(single_.location(l), static_cast<stamp>(m));
  remember(l, m);
  detail::raw const v = read.value;
  if (!in_main() && depth_ - 1 >= fresh_) {
    access& done = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    done.read = m;
    done.only_learns = only_learns;
  }
  after(action::load, o, at).read = v;
  tick();
  return v;
}

detail::raw engine::load(int l, std::memory_order order, where const& at) {
  std::memory_order const o = effective(action::load, order, at);
  thread_state& t = me();
  if (t.delays && t.delayed_at == l) flush_delayed();
  detail::raw const v = load_now(l, o, at);
  flush_delayed();
  return v;
}

void engine::perform_store(int l, detail::raw v, std::memory_order o, where const& at) {
  access a;
  a.what = access::write;
  a.single = o == std::memory_order_seq_cst;
  a.at = l;
  before(a);
  write_message(l, v, o, nullptr);
  int const ts = locations_[static_cast<std::size_t>(l)].newest();
  if (a.single) single_.location(l) = static_cast<stamp>(ts);
  if (!in_main() && depth_ - 1 >= fresh_) nodes_[static_cast<std::size_t>(depth_ - 1)].e.done.written = ts;
  after(action::store, o, at).wrote = v;
  tick();
}

void engine::store(int l, detail::raw v, std::memory_order order, where const& at) {
  flush_delayed();
  std::memory_order const o = effective(action::store, order, at);
  thread_state& t = me();
  if (config_.weakened != nullptr && config_.weakened->at.what == action::light_fence && !in_main() &&
      config_.weakened->at.store_before->same(*t.last_store)) {
    t.delays = true;
    t.delayed_at = l;
    t.delayed_value = v;
    t.delayed_order = o;
    t.delayed_where = at;
    return;
  }
  perform_store(l, v, o, at);
}

void engine::flush_delayed() {
  thread_state& t = me();
  if (!t.delays) return;
  t.delays = false;
  perform_store(t.delayed_at, t.delayed_value, t.delayed_order, t.delayed_where);
}

detail::raw engine::begin_change(int l, action what, std::memory_order order, where const& at) {
  flush_delayed();
  std::memory_order const o = effective(what, order, at);
  access a;
  a.what = access::change;
  a.single = o == std::memory_order_seq_cst;
  a.at = l;
  before(a);
  location& x = locations_[static_cast<std::size_t>(l)];
  change_at_ = l;
  change_what_ = what;
  change_order_ = o;
  change_where_ = at;
  return change_read_ = x.messages[x.count - 1].value;
}

void engine::end_change(detail::raw v) {
  int const l = change_at_;
  location& x = locations_[static_cast<std::size_t>(l)];
  message const& read = x.messages[x.count - 1];
  int const m = x.newest();
  me().now.location(l) = static_cast<stamp>(m);
  read_view(read, change_order_);
  write_message(l, v, change_order_, &read);
  bool const single = change_order_ == std::memory_order_seq_cst;
  if (single) single_.location(l) = static_cast<stamp>(m + 1);
  remember(l, m);
  if (!in_main() && depth_ - 1 >= fresh_) {
    access& a = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    a.read = m;
    a.written = m + 1;
  }
  event& e = after(change_what_, change_order_, change_where_);
  e.read = change_read_;
  e.wrote = v;
  tick();
}

bool engine::swap_if(int l, detail::raw& expected, detail::raw v, std::memory_order order, std::memory_order on_failure, where const& at) {
  flush_delayed();
  std::memory_order const o = effective(action::swap_if, order, at);
  std::memory_order const f = effective(action::failed_swap_if, on_failure, at);
  access a;
  a.what = access::change;
  a.single = o == std::memory_order_seq_cst || f == std::memory_order_seq_cst;
  a.at = l;
  before(a);
  thread_state& t = me();
  location& x = locations_[static_cast<std::size_t>(l)];
  // It changes the newest value, or fails by any value that it may read and did not expect.
  int low = t.now.location(l);
  if (f == std::memory_order_seq_cst) low = std::max<int>(low, single_.location(l));
  int ways = 0;
  for (int m = x.newest(); m >= low; --m)
    if (m == x.newest() || x.messages[static_cast<std::size_t>(m)].value != expected) ++ways;
  int way = pick(ways);
  int m = x.newest();
  for (; way > 0; --way) {
    --m;
    while (x.messages[static_cast<std::size_t>(m)].value == expected) --m;
  }
  detail::raw const read = x.messages[static_cast<std::size_t>(m)].value;
  if (read == expected) {
    change_at_ = l;
    change_what_ = action::swap_if;
    change_order_ = o;
    change_where_ = at;
    change_read_ = read;
    end_change(v);
    return true;
  }
  message const& found = x.messages[static_cast<std::size_t>(m)];
  t.now.location(l) = std::max(t.now.location(l), static_cast<stamp>(m));
  read_view(found, f);
  bool const only_learns = m <= single_.location(l);
  if (f == std::memory_order_seq_cst) single_.location(l) = std::max(single_.location(l), static_cast<stamp>(m));
  remember(l, m);
  if (!in_main() && depth_ - 1 >= fresh_) {
    access& done = nodes_[static_cast<std::size_t>(depth_ - 1)].e.done;
    done.what = access::failed_change;
    done.single = f == std::memory_order_seq_cst;
    done.only_learns = only_learns;
    done.read = m;
  }
  after(action::failed_swap_if, f, at).read = read;
  tick();
  expected = read;
  return false;
}

void engine::plain(detail::history& h, bool writes, char const* name, where const& at) {
  view& seen = me().now;
  bool race = h.writer >= 0 && seen.thread(h.writer) < h.written;
  if (writes)
    for (int q = 0; q <= most_threads && !race; ++q) race = seen.thread(q) < h.reads[static_cast<std::size_t>(q)];
  if (race) {
    // The stack is never unwound: so the text must be destroyed before.
    record_failure(std::string{"a race on "} + name + ", " + (writes ? "written" : "read") + " at " +
                   std::string{base_name(at.file_name())} + ':' + std::to_string(at.line()) +
                   "; another thread's access does not happen before (last written at " + std::string{base_name(h.at.file_name())} + ':' +
                   std::to_string(h.at.line()) + ')');
    if (!in_main()) leave();
    return;
  }
  if (writes) {
    h.writer = static_cast<std::int8_t>(self_);
    h.written = seen.thread(self_);
    h.reads = {};
    h.at = at;
  } else {
    h.reads[static_cast<std::size_t>(self_)] = seen.thread(self_);
  }
}

}  // namespace model
