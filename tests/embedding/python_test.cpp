// An embedded CPython whose C functions fork on nopal. Its lock and its record of a thread belong to the thread that has taken them.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <atomic>
#include <string>

#include "at_home.hpp"

namespace {

constexpr long n = 24;  // of one sum

/// nopal.sum(k): the sum of 0 .. n - 1 by forks that do not use Python, while this thread has the lock.
PyObject* sum_with_the_lock(PyObject*, PyObject* args) {
  long k = 0;
  if (!PyArg_ParseTuple(args, "l", &k)) return nullptr;
  nopal::stay const here;
  long const value = test::sum(0, n, k);
  if (PyGILState_Check() == 0) {
    PyErr_SetString(PyExc_RuntimeError, "the thread has not the lock any more");
    return nullptr;
  }
  return PyLong_FromLong(value);
}

/// callable(k), by a thread that does not have the lock; -1 if that fails. It stays from before it takes the lock: on a thread that has
/// called pool::run, a later stay by Python's code would leave that thread, which has the lock.
long call_python(PyObject* callable, long k) {
  nopal::stay const here;
  PyGILState_STATE const state = PyGILState_Ensure();
  PyObject* const result = PyObject_CallFunction(callable, "l", k);
  long const value = result == nullptr ? -1 : PyLong_AsLong(result);
  if (result == nullptr) PyErr_Print();
  Py_XDECREF(result);
  PyGILState_Release(state);
  return value;
}

long sum_by_python(PyObject* callable, long first, long last) {
  if (last - first == 1) return call_python(callable, first);
  long a = 0, b = 0;
  long const middle = first + (last - first) / 2;
  nopal::parallel_invoke([&] { a = sum_by_python(callable, first, middle); }, [&] { b = sum_by_python(callable, middle, last); });
  return a + b;
}

/// nopal.map_sum(f): the sum of f(0) .. f(n - 1), by forks that take the lock, which this thread has released until the join.
PyObject* sum_without_the_lock(PyObject*, PyObject* callable) {
  nopal::stay const here;
  long value = 0;
  Py_BEGIN_ALLOW_THREADS value = sum_by_python(callable, 0, n);
  Py_END_ALLOW_THREADS return PyLong_FromLong(value);
}

PyMethodDef functions[] = {
    {"sum", sum_with_the_lock, METH_VARARGS, nullptr}, {"map_sum", sum_without_the_lock, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyModuleDef module_of_nopal = {PyModuleDef_HEAD_INIT, "nopal", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
PyObject* make_module() { return PyModule_Create(&module_of_nopal); }

char const* const program = R"(
import nopal, threading

def sums(k):
    return sum(nopal.sum(k + i) for i in range(4))

def square(k):
    own = threading.local()
    own.mine = k
    return own.mine * own.mine

def squares(k):
    return nopal.map_sum(square)

def nested(k):
    return nopal.map_sum(lambda i: nopal.sum(k + i))

def caught(k):
    try:
        raise ValueError(k)
    except ValueError as e:
        nopal.sum(k)
        return e.args[0]
)";

/// One interpreter for all cases: it may not be possible to make a second.
class interpreter : public testing::Environment {
 public:
  void SetUp() override {
    ASSERT_EQ(PyImport_AppendInittab("nopal", make_module), 0);
    Py_InitializeEx(0);
    ASSERT_EQ(PyRun_SimpleString(program), 0);
    main_ = PyEval_SaveThread();
  }
  void TearDown() override {
    PyEval_RestoreThread(main_);
    EXPECT_EQ(Py_FinalizeEx(), 0);
  }

 private:
  PyThreadState* main_ = nullptr;
};
[[maybe_unused]] testing::Environment* const python = testing::AddGlobalTestEnvironment(new interpreter);

class python_at_home : public test::at_home {
 protected:
  /// Calls name(k), by a thread that takes the lock for the call.
  static long call(char const* name, long k) {
    PyGILState_STATE const state = PyGILState_Ensure();
    PyObject* const main = PyImport_AddModule("__main__");
    PyObject* const function = PyObject_GetAttrString(main, name);
    PyObject* const result = PyObject_CallFunction(function, "l", k);
    long const value = result == nullptr ? -1 : PyLong_AsLong(result);
    if (result == nullptr) PyErr_Print();
    Py_XDECREF(result);
    Py_XDECREF(function);
    PyGILState_Release(state);
    return value;
  }
};

INSTANTIATE_TEST_SUITE_P(each, python_at_home, test::everyone(), test::name_of);

TEST_P(python_at_home, a_callback_forks_and_has_the_lock) {
  everywhere([&](long k) { EXPECT_EQ(call("sums", k), 4 * test::sum_to(n)); });
}

TEST_P(python_at_home, a_callback_forks_what_takes_the_lock) {
  long expected = 0;
  for (long k = 0; k < n; ++k) expected += k * k;
  everywhere([&](long k) { EXPECT_EQ(call("squares", k), expected); });
}

TEST_P(python_at_home, an_exception_is_handled_meanwhile) {
  everywhere([&](long k) { EXPECT_EQ(call("caught", k), k); });
}

TEST_P(python_at_home, callbacks_fork_below_what_callbacks_fork) {
  everywhere([&](long k) {
    if (k % test::rounds >= test::rounds / 4) return;
    EXPECT_EQ(call("nested", k), n * test::sum_to(n));
  });
}

}  // namespace
