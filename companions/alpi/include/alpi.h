#ifndef NOPAL_ALPI_H
#define NOPAL_ALPI_H

// ALPI 1.2, the interface between a library that knows tasks, such as TAMPI, and the runtime whose tasks they are: here nopal. In C and in
// C++. A library finds these functions by dlsym. Each that returns int returns an alpi_error_t. They throw nothing. What a task is here:
// nopal/alpi.hpp.

#include <stddef.h>
#include <stdint.h>

#define ALPI_VERSION_MAJOR 1
#define ALPI_VERSION_MINOR 2

// For alpi_feature_check. nopal has all four.
#define ALPI_FEATURE_BLOCKING (1 << 0)
#define ALPI_FEATURE_EVENTS (1 << 1)
#define ALPI_FEATURE_RESOURCES (1 << 2)
#define ALPI_FEATURE_SUSPEND (1 << 3)

#ifdef __cplusplus
extern "C" {
#endif

struct alpi_task;  // a task
struct alpi_attr;  // how a task is spawned: there is nothing to set yet

typedef enum {
  ALPI_SUCCESS = 0,
  ALPI_ERR_VERSION,          // the caller wants another major version, or a later minor one
  ALPI_ERR_NOT_INITIALIZED,  // nopal needs no start, and never returns this
  ALPI_ERR_PARAMETER,        // a null pointer, a task that is not the caller's, more events than there are, or a value that is none
  ALPI_ERR_OUT_OF_MEMORY,
  ALPI_ERR_OUTSIDE_TASK,  // the caller is no task
  ALPI_ERR_UNKNOWN,
  ALPI_ERR_FEATURE_UNKNOWN,
  ALPI_ERR_MAX,
} alpi_error_t;

typedef enum {
  ALPI_INFO_RUNTIME_NAME,
  ALPI_INFO_RUNTIME_VENDOR,
  ALPI_INFO_VERSION,
} alpi_info_t;

// What becomes of a task that has called alpi_task_suspend, once its body has returned. Then the body is called again.
typedef enum {
  ALPI_SUSPEND_NONE = 0,        // waits for alpi_task_unblock
  ALPI_SUSPEND_SUBMIT,          // other tasks run first
  ALPI_SUSPEND_TIMEOUT_SUBMIT,  // waits for args nanoseconds
  ALPI_SUSPEND_EVENT_SUBMIT,    // waits until the task has no events
} alpi_suspend_mode_t;

// What an alpi_error_t means. Never null.
const char* alpi_error_string(alpi_error_t error);
// Writes a text of at most max_length - 1 characters and a 0 into buffer, and into *length, unless length is null, how many these are.
int alpi_info_get(alpi_info_t query, char* buffer, size_t max_length, int* length);
// ALPI_SUCCESS if all of these ALPI_FEATURE_... are here, else ALPI_ERR_FEATURE_UNKNOWN.
int alpi_feature_check(int feature_bitmask);
int alpi_version_check(int major, int minor);
int alpi_version_get(int* major, int* minor);

// Writes the caller's task, or null outside of one.
int alpi_task_self(struct alpi_task** task);
// Waits until alpi_task_unblock was called once more than this function before. By the task itself. Suspends: the worker runs others.
int alpi_task_block(struct alpi_task* task);
// Ends one alpi_task_block of that task, this or the next. Any thread. The task must not have ended.
int alpi_task_unblock(struct alpi_task* task);
// Waits for target_ns nanoseconds, or a little more: how long goes into *actual_ns, unless that is null. 0: others run first. A task that
// alpi_task_spawn has not made continues on the thread that has called, since it may hold a mutex.
int alpi_task_waitfor_ns(uint64_t target_ns, uint64_t* actual_ns);

// From now on the caller's task has `increment` events more, and does not complete before these were fulfilled. By the task itself.
int alpi_task_events_increase(struct alpi_task* task, uint64_t increment);
// Writes 1 if the caller's task has events, else 0.
int alpi_task_events_test(struct alpi_task* task, uint64_t* has_events);
// Fulfils `decrement` events of a task. If none is left, and its body has ended, the task completes here. Any thread.
int alpi_task_events_decrease(struct alpi_task* task, uint64_t decrement);

int alpi_attr_create(struct alpi_attr** attr);
int alpi_attr_destroy(struct alpi_attr* attr);
// Makes an alpi_attr in memory of the caller's, of as many bytes as alpi_attr_size says.
int alpi_attr_init(struct alpi_attr* attr);
int alpi_attr_size(uint64_t* attr_size);
// Begins a task that runs body(body_args). When it has completed, completion_callback(completion_args) is called by the thread that has
// completed it, unless the callback is null. `label`, which is copied, or null: its name in reports. `attr` may be null.
int alpi_task_spawn(void (*body)(void*), void* body_args, void (*completion_callback)(void*), void* completion_args, const char* label,
                    const struct alpi_attr* attr);

// How many workers run tasks.
int alpi_cpu_count(uint64_t* count);
// Which of them runs the caller's task, from 0. Tasks that run at the same time get different ones.
int alpi_cpu_logical_id(uint64_t* logical_id);
// The CPU's number in the system.
int alpi_cpu_system_id(uint64_t* system_id);

// What alpi_task_suspend does when the body returns. By the task itself.
int alpi_task_suspend_mode_set(struct alpi_task* task, alpi_suspend_mode_t suspend_mode, uint64_t args);
// When the body returns, the task does not end: it waits as the mode says, and then the body is called again. By the task itself.
int alpi_task_suspend(struct alpi_task* task);

#ifdef __cplusplus
}
#endif

#endif
