#pragma once

// Shared by two files of one program: a class with a scope, a task, and a function that forks what it is given.

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
