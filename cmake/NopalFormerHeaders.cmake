# Algorithms whose headers have become one: for this version each is still found by its former name, in nopal_former_headers.

set(nopal_former_headers "${PROJECT_BINARY_DIR}/former_headers")
foreach(line IN ITEMS
    "all_of any_of none_of"
    "copy copy_if"
    "count count_if"
    "equal lexicographical_compare mismatch"
    "fill generate iota"
    "find adjacent_find find_first_of find_if search"
    "merge inplace_merge"
    "minmax max_element min min_element minmax_element"
    "parallel_for parallel_for_blocks"
    "partition is_partitioned partition_copy stable_partition"
    "reduce reduce_blocks transform_reduce"
    "remove remove_if unique"
    "reverse rotate swap_ranges"
    "scan exclusive_scan inclusive_scan transform_scan"
    "set_operations includes"
    "sort is_sorted nth_element partial_sort stable_sort"
    "transform adjacent_difference"
    "uninitialized uninitialized_copy uninitialized_fill")
  string(REPLACE " " ";" names "${line}")
  list(POP_FRONT names header)
  foreach(name IN LISTS names)
    file(CONFIGURE OUTPUT "${nopal_former_headers}/nopal/algorithm/${name}.hpp"
      CONTENT "#pragma once\n\n// ${name} is in ${header}.hpp now, and this header goes with the next version.\n\n#include \"nopal/algorithm/${header}.hpp\"\n" @ONLY)
  endforeach()
endforeach()
list(APPEND nopal_include_folders "${nopal_former_headers}")
