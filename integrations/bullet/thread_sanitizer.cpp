// What ThreadSanitizer is told of Bullet: it counts split impulses in a plain global variable.

extern "C" char const* __tsan_default_suppressions();
extern "C" char const* __tsan_default_suppressions() { return "race:ResolveSplitPenetrationImpulse\n"; }
