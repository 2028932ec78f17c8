// What ThreadSanitizer is told of Bullet: it counts some things in plain global variables, with its own threads, too.

extern "C" char const* __tsan_default_suppressions();
extern "C" char const* __tsan_default_suppressions() { return "race:ResolveSplitPenetrationImpulse\n"; }
