# The unit tests under controlled schedules, each round with other seeds; but for those that measure time or sleep, in which several must
# run at once whatever their turn, that look at workers which sleep, and the largest.
# With NOPAL_TEST_SHORT, GCC and the sanitizers have none of it.
if(NOPAL_TEST_SHORT AND (NOPAL_SANITIZE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang"))
  return()
endif()
set(seeds 5)
if(NOPAL_SANITIZE OR NOPAL_TEST_SHORT)
  set(seeds 3)
endif()
if(DEFINED NOPAL_TEST_SEEDS)  # how many each test of a controlled schedule gets
  set(seeds ${NOPAL_TEST_SEEDS})
endif()
set(programs unit)
if(TARGET nopal_flows_tests)
  list(APPEND programs flows)
endif()
set(scheduled task. exceptions. native. scope_test. fiber_test. counter_test. mutex_test. condition_variable_test. semaphore_test.
  channel_test. pipeline_test. resume_on. scratch. future. c_test. promise. shared_future. then. after. graph. graph_exceptions. graph_stop.
  events_ */events)
set(unscheduled task.a_move_may_throw_at_any_depth
  task.may_be_stolen_in_every_scope task.a_stolen_task_may_call_before_it_joins task.value_arguments_are_copied_at_the_fork
  task.nesting_asks_little_of_the_callers_stack task.a_million_calls_may_nest task.a_million_forks_may_nest
  task.deep_nesting_keeps_its_arguments task.ten_million_forks_in_one_scope_are_all_joined
  exceptions.of_older_children_come_first_even_if_thrown_later exceptions.wait_for_children_that_still_run
  native.both_branches_run_at_once_on_two_workers
  native.a_join_that_waits_leaves_its_stack native.the_caller_of_run_stays_on_its_thread native.handlers_survive_a_migration
  native.a_semaphore_like_lock_may_be_held_across_a_join_above native.starts_whatever_can_run_at_once
  native.recursion_goes_as_deep_as_the_stack
  scope_test.destructors_of_arguments_may_run_roots_while_a_strand_unwinds scope_test.the_parent_goes_on_elsewhere_while_its_child_runs
  scope_test.without_memory_for_stacks_forks_run_serially scope_test.starts_whatever_can_run_at_once
  scope_test.a_join_that_waits_leaves_its_stack scope_test.forks_nest_as_deep_as_there_is_memory_for_stacks
  fiber_test.a_million_may_wait_to_start fiber_test.a_pool_whose_fibers_thieves_have_taken_comes_to_rest
  fiber_test.sleepers_cost_neither_workers_nor_threads fiber_test.blocks_from_outside_have_the_size_of_those_from_inside
  fiber_test.a_deep_task_follows_an_ordinary_job_on_its_stack fiber_test.a_pool_that_comes_to_a_stop_says_so
  fiber_test.a_pool_in_which_only_tasks_wait_says_so
  mutex_test.may_be_held_while_forking
  condition_variable_test.may_be_destroyed_once_all_are_notified condition_variable_test.none_is_lost_to_a_time_limit
  condition_variable_test.ping_pong pipeline_test.parallel_stages_run_at_once pipeline_test.stages_run_at_once_with_each_other
  pipeline_test.many_short_items_are_handed_on
  channel_test.many_to_many semaphore_test.a_thread_wakes_the_last_that_a_pool_has_to_do
  resume_on.does_not_mistake_waiting_jobs_for_a_parent scratch.stays_with_a_stolen_task scratch.has_any_size
  future.wait_for_returns_when_the_result_is_there)
list(TRANSFORM scheduled APPEND "*")
list(JOIN scheduled ":" scheduled)
list(JOIN unscheduled ":" unscheduled)
set(schedules random:1 always never)
if(NOPAL_TEST_SHORT)
  set(schedules random:1)
endif()
foreach(program IN LISTS programs)
  foreach(schedule IN LISTS schedules)
    string(REGEX REPLACE ":.*" "" name ${schedule})
    set(rounds 1)
    if(name STREQUAL "random")
      set(rounds ${seeds})
    endif()
    add_test(NAME schedules.${name}.${program}
      COMMAND nopal_${program}_tests --gtest_filter=${scheduled}-${unscheduled} --gtest_repeat=${rounds} --gtest_brief=1)
    set_tests_properties(schedules.${name}.${program} PROPERTIES LABELS schedules TIMEOUT 3600 COST 60
      ENVIRONMENT "NOPAL_SCHEDULE=${schedule};${nopal_sanitizer_environment}")
  endforeach()
endforeach()

# The same on simulated machines, whose workers share one CPU, of which one runs at a time; but for what measures by another clock than theirs,
# what takes longest there, and events, which come in the time of the real machine: companions/simulation/tests has pipelines of its own.
if(NOPAL_TEST_SHORT)
  return()
endif()
list(APPEND unsimulated ${unscheduled} events_* */events* *.waits_with_a_time_limit pipeline_test.stages_keep_order_and_are_alone_as_they_say
  pipeline_test.a_time_limit_ends_it pipeline_test.those_who_look_on_hear_of_its_end then.hands_a_failure_along_a_chain_of_100000
  then.of_a_chain_of_100000 after.a_failure_goes_along_a_chain_of_fibers condition_variable_test.producers_and_consumers)
list(JOIN unsimulated ":" unsimulated)
foreach(program IN LISTS programs)
  foreach(machine IN ITEMS 2 2x3)
    add_test(NAME schedules.simulated.${machine}.${program}
      COMMAND nopal_${program}_tests --gtest_filter=${scheduled}-${unsimulated} --gtest_brief=1)
    set_tests_properties(schedules.simulated.${machine}.${program} PROPERTIES LABELS "schedules;simulation" TIMEOUT 600 COST 60
      ENVIRONMENT "NOPAL_SCHEDULE=simulate:${machine};NOPAL_SIMULATION=report=/dev/null;${nopal_sanitizer_environment}")
  endforeach()
endforeach()
