// Compiled as part of headers.hpp, which the test programs share.
