# What is tested with each change, in 15 to 25 minutes on two cores, for each kind of build. NOPAL_TEST_SHORT=OFF tests everything: `./nopal test --long`,
# and the nightly. Clang tests nearly every folder, GCC and the sanitizers the engine, where they have found the most.

option(NOPAL_TEST_SHORT "Test what tests/short.cmake has: what is tested with each change" OFF)

# The folders of tests, and the companions. What is in none of them, as a companion that somebody adds, is tested.
set(folders unit flows reports machine types model stress soak faults algorithm matrix stop small core_alone embedding debugging fatal security unload
  misuse package structure docs alpi debug execution mpi profile pstl simulation trace)
# What is left out of unit/, by the stems of the sources: what takes long to compile, and what a sanitizer would find least in.
set(no_unit forwarding small_results)
# The folders that are tested, and single programs FOLDER_NAME of others; and those programs of the folders that are left out.
if(NOPAL_SANITIZE STREQUAL "thread")
  set(short unit flows stress stop small embedding_lifetime)
  set(long stop_loops stop_same_run)
  list(APPEND no_unit any_duration arena bad_input called_directly called_directly_unchecked defaults frame memory_map names_for_1_0 optional_slot other_names
    results schedule scratch signature stay_in_coroutine task_arguments task_depth victim)
elseif(NOPAL_SANITIZE)
  set(short unit stress stop small algorithm_elementwise algorithm_ranges embedding_lifetime embedding_fork)
  set(long stop_same_run)
  list(APPEND no_unit affinity any_duration call_once called_directly called_directly_unchecked condition_variable defaults due fiber_local lost_wakeup memory_map
    mutex_owner mutex names_for_1_0 naps observer other_names parking priority real_time schedule semaphore signature stay_in_coroutine time_limits victim)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(short ${folders})
  # The longest to compile, which GCC or another program of the folder stands for; or the longest to run.
  list(REMOVE_ITEM short types model soak)
  set(long algorithm_merge_waves algorithm_sort_types algorithm_sorted algorithm_sort_failures embedding_tbb embedding_openmp embedding_thread_identity embedding_python
    embedding_floating_point embedding_floating_point_changes embedding_valgrind embedding_many_stacks embedding_memory_returns
    matrix_longs matrix_moving matrix_records matrix_sorts pstl_order pstl_sums profile_nesting profile_mergesort profile_nqueens profile_matmul
    simulation_dear_elements simulation_dear_pairs simulation_dear_rearranging simulation_locks)
else()
  set(short unit stress stop small core_alone fatal algorithm_elementwise algorithm_merge_waves algorithm_parallel_for algorithm_scan
    embedding_lifetime)
  set(long stop_same_run)
  list(APPEND no_unit any_duration called_directly_unchecked fiber_local names_for_1_0 other_names priority)
endif()

# The folder of a program FOLDER_NAME; empty: none that this knows.
function(nopal_folder_of result name)
  set(${result} "" PARENT_SCOPE)
  foreach(folder IN LISTS folders)
    if("${name}_" MATCHES "^${folder}_")
      set(${result} ${folder} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Is a folder, or a program FOLDER_NAME, tested here? A folder is, too, where one of its programs is.
function(nopal_is_tested result name)
  set(${result} TRUE PARENT_SCOPE)
  nopal_folder_of(folder ${name})
  if(NOT NOPAL_TEST_SHORT OR folder STREQUAL "" OR ((name IN_LIST short OR folder IN_LIST short) AND NOT name IN_LIST long))
    return()
  endif()
  foreach(program IN LISTS short)
    nopal_folder_of(folder ${program})
    if(folder STREQUAL name)
      return()
    endif()
  endforeach()
  set(${result} FALSE PARENT_SCOPE)
endfunction()

# The folder with its tests, where they are tested here.
function(nopal_add_test_folder folder)
  nopal_is_tested(is_tested ${folder})
  if(is_tested)
    add_subdirectory(${folder})
  endif()
endfunction()
