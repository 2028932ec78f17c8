// What the library sees of a callable's parameters, and which arguments may be bound to them while a child runs.

#include "nopal/core/task/arguments.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using nopal::core::binds_for_long;
using nopal::core::parameter_list;
using nopal::core::parameters_of;
using nopal::core::views_a_temporary;

template <class List, class F, class... A>
constexpr bool has = std::is_same_v<typename parameters_of<F, A...>::type, List>;
template <class F, class... A>
constexpr bool hidden = !parameters_of<F, A...>::type::known;

[[maybe_unused]] int free_function(int, std::string const&) { return 0; }
[[maybe_unused]] void quiet(long&) noexcept {}
struct object {
  void member(int) {}
  void constant(int) const {}
  void calm(int) noexcept {}
  void temporary(int) && {}
  void constant_named(int) const& noexcept {}
  void changing(int) volatile {}
  long value = 0;
  int operator()(std::string&&) const { return 0; }
};
struct overloaded {
  void operator()(int) const {}
  void operator()(long) const {}
};

TEST(signature, of_functions) {
  EXPECT_TRUE((has<parameter_list<int, std::string const&>, decltype(free_function)>));
  EXPECT_TRUE((has<parameter_list<int, std::string const&>, decltype(&free_function)>));
  EXPECT_TRUE((has<parameter_list<long&>, decltype(quiet)>));
}

TEST(signature, of_members_begins_with_the_object) {
  EXPECT_TRUE((has<parameter_list<object&, int>, decltype(&object::member)>));
  EXPECT_TRUE((has<parameter_list<object const&, int>, decltype(&object::constant)>));
  EXPECT_TRUE((has<parameter_list<object&, int>, decltype(&object::calm)>));
}

TEST(signature, of_qualified_members) {
  EXPECT_TRUE((has<parameter_list<object&&, int>, decltype(&object::temporary)>));
  EXPECT_TRUE((has<parameter_list<object const&, int>, decltype(&object::constant_named)>));
  EXPECT_TRUE((has<parameter_list<object volatile&, int>, decltype(&object::changing)>));
}

TEST(signature, of_members_with_an_object_takes_it_as_it_was_given) {
  using plain = decltype(&object::member);
  struct derived : object {};
  EXPECT_TRUE((has<parameter_list<object&, int>, plain, object&, int>));
  EXPECT_TRUE((has<parameter_list<derived&, int>, plain, derived&, int>));
  EXPECT_TRUE((has<parameter_list<object&&, int>, plain, object&&, int>));
  EXPECT_TRUE((has<parameter_list<object*, int>, plain, object*&, int>));
  EXPECT_TRUE((has<parameter_list<std::reference_wrapper<object>, int>, plain, std::reference_wrapper<object>, int>));
  EXPECT_TRUE((has<parameter_list<nopal::core::object_through<std::unique_ptr<object>&>, int>, plain, std::unique_ptr<object>&, int>));
  EXPECT_TRUE((has<parameter_list<object const&>, decltype(&object::value), object const&>));
}

TEST(signature, of_objects_that_can_be_called) {
  int captured = 0;
  auto const closure = [&captured](double, int&) { ++captured; };
  auto changing = [captured](char) mutable noexcept { ++captured; };
  EXPECT_TRUE((has<parameter_list<std::string&&>, object>));
  EXPECT_TRUE((has<parameter_list<double, int&>, std::remove_cv_t<decltype(closure)>>));
  EXPECT_TRUE((has<parameter_list<char>, decltype(changing)>));
  closure(1.0, captured);
  changing('x');
}

TEST(signature, of_generic_closures_with_plain_placeholders) {
  [[maybe_unused]] auto const all = [](auto, auto) {};
  [[maybe_unused]] auto const first = [](auto self, int, std::string const&) { (void)self; };
  using all_type = std::remove_cv_t<decltype(all)>;
  using first_type = std::remove_cv_t<decltype(first)>;
  EXPECT_TRUE((has<parameter_list<int, std::string>, all_type, int&, std::string const&>));
  EXPECT_TRUE((has<parameter_list<first_type, int, std::string const&>, first_type, first_type const&, int, std::string&>));
}

TEST(signature, of_generic_closures_that_take_references) {
  [[maybe_unused]] auto const forwarding = [](auto&&...) {};
  [[maybe_unused]] auto const by_reference = [](auto&, auto const&) {};
  using forwarding_type = std::remove_cv_t<decltype(forwarding)>;
  using by_reference_type = std::remove_cv_t<decltype(by_reference)>;
  EXPECT_TRUE((has<parameter_list<int&, std::string&&>, forwarding_type, int&, std::string&&>));
  EXPECT_TRUE((has<parameter_list<int const&>, forwarding_type, int const&>));
  EXPECT_TRUE((has<parameter_list<int&, long const&>, by_reference_type, int&, long&>));
}

// Template arguments are a guess: vector<T> is not for a T that is a vector.
TEST(signature, of_templates_that_take_something_else_is_hidden) {
  [[maybe_unused]] auto const of_vector = []<class T>(std::vector<T>) {};
  EXPECT_TRUE((hidden<std::remove_cv_t<decltype(of_vector)>, std::vector<int>&>));
}

TEST(signature, of_a_call_without_arguments_is_always_known) {
  EXPECT_TRUE((has<parameter_list<>, overloaded>));
  EXPECT_TRUE((has<parameter_list<>, std::plus<>>));
}

TEST(signature, of_a_reference_wrapper_is_that_of_what_it_refers_to) {
  EXPECT_TRUE((has<parameter_list<std::string&&>, std::reference_wrapper<object const>, std::string>));
}

TEST(signature, of_overloads_and_packs_is_hidden) {
  EXPECT_TRUE((hidden<overloaded, int>));
  EXPECT_TRUE((hidden<int, int>));
}

struct base {};
struct derived : base {};

TEST(signature, a_reference_binds_for_long_to_an_object_with_a_name) {
  EXPECT_TRUE((binds_for_long<int&, int&>));
  EXPECT_TRUE((binds_for_long<int const&, int&>));
  EXPECT_TRUE((binds_for_long<base&, derived&>));
  EXPECT_TRUE((binds_for_long<int&, std::reference_wrapper<int>>));
  EXPECT_TRUE((binds_for_long<int const&, std::reference_wrapper<int>&>));
}

TEST(signature, a_reference_does_not_bind_for_long_to_a_temporary) {
  EXPECT_FALSE((binds_for_long<int const&, int>));
  EXPECT_FALSE((binds_for_long<int&&, int>));
  EXPECT_FALSE((binds_for_long<int const&, long&>));
  EXPECT_FALSE((binds_for_long<std::string const&, char const(&)[3]>));
  EXPECT_FALSE((binds_for_long<int&, std::reference_wrapper<int const>>));
}

TEST(signature, a_view_must_not_be_made_from_a_container_that_dies) {
  EXPECT_TRUE((views_a_temporary<std::string_view, std::string>));
  EXPECT_TRUE((views_a_temporary<std::span<int const>, std::vector<int>>));
  EXPECT_TRUE((views_a_temporary<std::initializer_list<int>, std::initializer_list<int>>));
  EXPECT_FALSE((views_a_temporary<std::initializer_list<int>, std::initializer_list<int>&>));
  EXPECT_FALSE((views_a_temporary<std::string_view, std::string&>));
  EXPECT_FALSE((views_a_temporary<std::string_view, std::string_view>));
  EXPECT_FALSE((views_a_temporary<std::span<int>, std::span<int>>));
  EXPECT_FALSE((views_a_temporary<std::vector<int>, std::vector<int>>));
  EXPECT_FALSE((views_a_temporary<std::string_view, char const(&)[4]>));
}

}  // namespace
