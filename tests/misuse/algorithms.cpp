// Algorithms: ranges that cannot be cut, results that cannot be written at once, operations of another order.
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <nopal/nopal.hpp>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

// case: for_each_of_list
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
void each(std::list<int>& l) {
  nopal::for_each(l.begin(), l.end(), [](int& x) { ++x; });
}

// case: for_each_of_map
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
void each(std::map<int, int>& m) {
  nopal::for_each(m, [](auto& x) { ++x.second; });
}

// case: visited_in_list
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
void visit(std::list<int>& l) {
  nopal::for_each_n(l.begin(), 5, [](int& x) { ++x; });
}

// case: filled_list
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
void fill(std::list<int>& l) { nopal::fill(l, 1); }

// case: found_in_list
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
bool holds(std::list<int>& l) { return nopal::find(l, 3) == l.end(); }

// case: counted_in_set
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
auto twice(std::set<int> const& s) { return 2 * nopal::count(s, 3); }

// case: reversed_list
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
void reverse(std::list<int>& l) { nopal::reverse(l.begin(), l.end()); }

// case: transformed_list
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
void negate(std::list<int> const& l, std::vector<int>& v) { nopal::transform(l, v.begin(), std::negate<>{}); }

// case: transformed_with_list
// expect: nopal: an algorithm cuts its range anywhere, so it needs random access
void add(std::list<int> const& l, std::vector<int>& v) { nopal::transform(v, l, v.begin(), std::plus<>{}); }

// case: copied_from_move_iterators
// expect: nopal: a std::move_iterator has no random access in C++20.
void take(std::vector<std::string>& v, std::vector<std::string>& out) {
  nopal::transform(std::make_move_iterator(v.begin()), std::make_move_iterator(v.end()), out.begin(), [](std::string s) { return s; });
}

// case: sorted_without_end
// expect: nopal: this range has no end, so the algorithm would not end either.
void sort(std::vector<int>& v) { nopal::sort(v.begin(), std::unreachable_sentinel); }

// case: reduced_without_end
// expect: nopal: this range has no end, so the algorithm would not end either.
long sum() { return nopal::reduce(std::views::iota(0), 0L); }

// case: united_without_end
// expect: nopal: this range has no end
void unite(std::vector<int>& a, std::vector<int>& out) { nopal::set_union(a, std::views::iota(0), out.begin()); }

// case: filled_through_inserter
// expect: nopal: threads write the results at once, each to an object at its place
void fill(std::vector<int>& v) { nopal::fill_n(std::back_inserter(v), 5, 1); }

// case: transformed_to_inserter
// expect: nopal: threads write the results at once, each to an object at its place: give an iterator of random access
void negate(std::vector<int> const& v, std::vector<int>& out) { nopal::transform(v, std::back_inserter(out), std::negate<>{}); }

// case: rotated_to_inserter
// expect: nopal: threads write the results at once, each to an object at its place
void rotate(std::vector<int>& v, std::vector<int>& out) { nopal::rotate_copy(v, v.begin() + 1, std::back_inserter(out)); }

// case: partitioned_to_inserter
// expect: nopal: threads write the results at once, each to an object at its place
void divide(std::vector<int>& v, std::vector<int>& yes, std::vector<int>& no) {
  nopal::partition_copy(v, yes.begin(), std::back_inserter(no), [](int x) { return x > 0; });
}

// case: united_to_inserter
// expect: nopal: threads write the results at once, each to an object at its place
void unite(std::vector<int>& a, std::vector<int>& b, std::vector<int>& out) { nopal::set_union(a, b, std::back_inserter(out)); }

// case: sorted_bits
// expect: nopal: threads write the elements at once, so each must be an object of its own.
void sort(std::vector<bool>& v) { nopal::sort(v); }

// case: swapped_with_bits
// expect: nopal: threads write the elements at once, so each must be an object of its own
void swap(std::vector<char>& v, std::vector<bool>& bits) { nopal::swap_ranges(v, bits); }

// case: scanned_moved_elements
// expect: nopal: a scan reads each element twice, so it cannot move it away
void scan(std::vector<std::string>& from, std::vector<std::string>& to) {
  auto moved = from | std::views::transform([](std::string& s) -> std::string&& { return std::move(s); });
  nopal::inclusive_scan(moved, to.begin());
}

// case: scanned_to_another_type
// expect: nopal: a scan writes what `init` is, and makes it of elements too.
void lengths(std::vector<std::string> const& v, std::vector<int*>& to) {
  nopal::exclusive_scan(v, to.begin(), static_cast<int*>(nullptr), [](int* so_far, auto const&) { return so_far; });
}

// case: reduced_to_another_type
// expect: nopal: reduce returns what `init` is, and makes it of elements too.
int root(std::vector<std::string> const& v) { return nopal::reduce(v, 0); }

// case: transform_reduced_in_another_order
// expect: nopal: transform_reduce takes first the operation that joins two results
double sum(std::vector<double> const& v) {
  return nopal::transform_reduce(v, 0.0, [](double x) { return x * x; }, std::plus<>{});
}

// case: counted_texts
// expect: nopal: iota counts in numbers or in iterators of random access
void count(std::vector<std::string>& v) { nopal::iota(v, std::string{"a"}); }
