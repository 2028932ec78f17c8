// Compiled for the sake of headers.hpp, which the test programs share.
