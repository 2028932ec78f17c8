// expect: the message for the user
static_assert(sizeof(int) == 0, "some other message");
int main() {}
