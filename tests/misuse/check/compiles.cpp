// expect: an error that never comes
int main() {}
