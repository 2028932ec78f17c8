#pragma once

// A trace file for one test.

#include <unistd.h>

#include <cstdio>
#include <string>

/// A name in the working directory, for one test. The destructor removes the file.
class trace_file {
 public:
  explicit trace_file(std::string const& test) : name_{"trace_" + test + "_" + std::to_string(::getpid()) + ".pftrace"} {}
  trace_file(trace_file const&) = delete;
  trace_file& operator=(trace_file const&) = delete;
  ~trace_file() { std::remove(name_.c_str()); }
  std::string const& name() const { return name_; }

 private:
  std::string name_;
};
