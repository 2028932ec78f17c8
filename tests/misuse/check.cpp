// check.cmake itself: it must see what is wrong with each of these.

// case: check_refuses_what_compiles
// expect: an error that never comes
int main() {}

// case: check_refuses_another_error
// expect: the message for the user
static_assert(sizeof(int) == 0, "some other message");

// case: check_refuses_an_expectation_after_code
int main() {}
// expect: an error of a case whose name is missing
