// The places in the source that give orders, by name, and each one step weaker.

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine.hpp"

namespace model {

char const* name(action a) noexcept {
  static constexpr std::array names{"load",
                                    "store",
                                    "exchange",
                                    "fetch_add",
                                    "fetch_sub",
                                    "fetch_or",
                                    "fetch_and",
                                    "fetch_xor",
                                    "compare_exchange",
                                    "compare_exchange (failure)",
                                    "fence",
                                    "light_fence",
                                    "heavy_fence",
                                    "relax",
                                    "wait",
                                    "woken",
                                    "wake",
                                    "choose",
                                    "none"};
  return names[static_cast<std::size_t>(a)];
}

char const* name(std::memory_order o) noexcept {
  switch (o) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    default: return "seq_cst";
  }
}

std::string site::text() const {
  std::string s{base_name(file)};
  s += ':' + std::to_string(line) + ' ' + name(what);
  if (what < action::fence) s += std::string{" "} + name(order);
  return s;
}

bool site::same(site const& o) const noexcept {
  return line == o.line && column == o.column && what == o.what && std::strcmp(file, o.file) == 0;
}

std::string weakening::text() const { return at.text() + (removed ? " removed" : std::string{" -> "} + name(to)); }

std::vector<weakening> weakenings(site const& s) {
  using enum std::memory_order;
  if (s.what == action::heavy_fence) return {{s, relaxed, true}};
  if (s.what == action::light_fence)
    return s.store_before == nullptr ? std::vector<weakening>{} : std::vector<weakening>{{s, relaxed, true}};
  if (s.what == action::fence) {
    if (s.order == seq_cst) return {{s, acq_rel, false}};
    return {{s, relaxed, true}};
  }
  bool const loads = s.what == action::load || s.what == action::failed_swap_if;
  switch (s.order) {
    case seq_cst:
      if (loads) return {{s, acquire, false}};
      if (s.what == action::store) return {{s, release, false}};
      return {{s, acq_rel, false}};
    case acq_rel: return {{s, acquire, false}, {s, release, false}};
    case acquire:
    case release: return {{s, relaxed, false}};
    default: return {};
  }
}

site* engine::note(action a, std::memory_order o, where const& at) {
  auto& bucket = by_place_[(at.line() * 31 + at.column() * 7 + static_cast<unsigned>(a)) % by_place_.size()];
  for (auto& [w, s] : bucket)
    if (w.line() == at.line() && w.column() == at.column() && s->what == a && w.file_name() == at.file_name()) return s;
  site const s{at.file_name(), at.line(), at.column(), a, o, at.function_name(), nullptr};
  for (site& known : sites_) {
    if (known.same(s)) {
      bucket.emplace_back(at, &known);
      return &known;
    }
  }
  sites_.push_back(s);
  bucket.emplace_back(at, &sites_.back());
  return &sites_.back();
}

std::memory_order engine::effective(action a, std::memory_order o, where const& at, bool& removed) {
  site* const s = note(a, o, at);
  if (a == action::store) me().last_store = s;
  if (a == action::light_fence && s->store_before == nullptr && me().last_store != nullptr)
    s->store_before = std::make_shared<site const>(*me().last_store);
  if (config_.weakened != nullptr && config_.weakened->at.same(*s)) {
    removed = config_.weakened->removed;
    return config_.weakened->to;
  }
  return o;
}

}  // namespace model
