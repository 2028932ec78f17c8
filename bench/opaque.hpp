#pragma once

namespace bench {

// Makes the compiler assume that the object is read and written here: what is timed stays between two of these.
template <class T>
void make_opaque(T& object) {
  asm volatile("" : : "r"(&object) : "memory");
}

}  // namespace bench
