#pragma once

// A class of the program's own that has a scope, a task, and a function that forks what it is given: what two files of one program share.

#include <functional>
#include <vector>

#include "nopal/scope.hpp"
#include "nopal/task.hpp"

class walk {
 public:
  explicit walk(std::vector<int>& visited) : visited_{visited} {}
  void visit(int n);
  void end();

 private:
  std::vector<int>& visited_;
  nopal::scope children_;
  int last_ = 0;
};

nopal::task<int> twice(int n);
void both(std::function<void()> const& f, std::function<void()> const& g);
