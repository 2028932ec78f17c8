#ifndef NOPAL_CORE_ABI_H
#define NOPAL_CORE_ABI_H

/* The binary interface of these headers: the code that they inline into programs, the layouts and protocols that the library shares with
   it. Each minor release has its own, and patch releases keep it (docs/versions.md). In C++ it is an inline namespace, and so a part of
   every symbol's name; in C each object refers to a function of this name. If the library has another, the program does not link, and the
   linker names both the symbol and the version. Next: config.hpp. */

#define NOPAL_ABI v0_2
#define NOPAL_SAME_ABI nopal_must_be_of_abi_v0_2_as_this_program_is

#ifndef __cplusplus
__attribute__((visibility("default"))) void NOPAL_SAME_ABI(void);

/* One pointer an object, which is never read. Retained: the linker may not drop the section that holds it (--gc-sections). */
static void (*nopal_refers_to_same_abi)(void) __attribute__((used, retain)) = NOPAL_SAME_ABI;
#endif

#endif
