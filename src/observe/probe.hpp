#pragma once

// Places for tracers outside the program: USDT probes of the provider `nopal`, at the same places as the trace's events. Each is one
// instruction that does nothing until a tracer (bpftrace, perf, SystemTap, gdb) puts a breakpoint there. docs/trace.md names them. A build
// without <sys/sdt.h> has none.

#if NOPAL_USDT
#include <sys/sdt.h>
#define NOPAL_PROBE1(name, a) STAP_PROBE1(nopal, name, a)
#define NOPAL_PROBE2(name, a, b) STAP_PROBE2(nopal, name, a, b)
#define NOPAL_PROBE3(name, a, b, c) STAP_PROBE3(nopal, name, a, b, c)
#define NOPAL_PROBE4(name, a, b, c, d) STAP_PROBE4(nopal, name, a, b, c, d)
#else
#define NOPAL_PROBE1(name, a) static_cast<void>(0)
#define NOPAL_PROBE2(name, a, b) static_cast<void>(0)
#define NOPAL_PROBE3(name, a, b, c) static_cast<void>(0)
#define NOPAL_PROBE4(name, a, b, c, d) static_cast<void>(0)
#endif
