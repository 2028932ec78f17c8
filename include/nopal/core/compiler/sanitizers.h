#ifndef NOPAL_CORE_SANITIZERS_H
#define NOPAL_CORE_SANITIZERS_H

/* Which sanitizer this file is compiled with, in C and in C++. The library and all that includes it must have the same: a sanitizer that
   learns of only some of the switches between stacks reports errors that never happened. So each object refers to one of three functions,
   and the library has only its own. If they differ the program does not link, and the linker names what is wrong. Next: config.hpp. */

#if defined(__SANITIZE_ADDRESS__)
#define NOPAL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NOPAL_ASAN 1
#endif
#endif
#ifndef NOPAL_ASAN
#define NOPAL_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define NOPAL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NOPAL_TSAN 1
#endif
#endif
#ifndef NOPAL_TSAN
#define NOPAL_TSAN 0
#endif

#if NOPAL_ASAN
#define NOPAL_SAME_SANITIZERS nopal_must_be_built_with_fsanitize_address_as_this_program_is
#elif NOPAL_TSAN
#define NOPAL_SAME_SANITIZERS nopal_must_be_built_with_fsanitize_thread_as_this_program_is
#else
#define NOPAL_SAME_SANITIZERS nopal_must_be_built_without_fsanitize_address_or_thread_as_this_program_is
#endif

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((visibility("default"))) void NOPAL_SAME_SANITIZERS(void);

/* One pointer an object, which is never read. Retained: the linker may not drop the section that holds it (--gc-sections). */
static void (*nopal_refers_to_same_sanitizers)(void) __attribute__((used, retain)) = NOPAL_SAME_SANITIZERS;

#ifdef __cplusplus
}
#endif

#endif
