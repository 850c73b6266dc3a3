// A Python extension: floats that C++ frees, and a Python object that a C++ thread drops.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Batch {
    PyObject_HEAD
    std::vector<float>* floats;
};

std::vector<float>& floats(PyObject* object) { return *reinterpret_cast<Batch*>(object)->floats; }

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
    PyObject* object = type->tp_alloc(type, 0);
    if (object) reinterpret_cast<Batch*>(object)->floats = new std::vector<float>(4, 1.0F);
    return object;
}

void destroy(PyObject* object) {
    std::puts("  floats freed");
    std::fflush(stdout);
    delete &floats(object);
    Py_TYPE(object)->tp_free(object);
}

// --8<-- [start:lend]
int lend(PyObject* object, Py_buffer* view, int flags) {
    auto& own = floats(object);  // the view holds a reference to object, and object the floats
    const auto bytes = static_cast<Py_ssize_t>(own.size() * sizeof(float));
    return PyBuffer_FillInfo(view, object, own.data(), bytes, 0, flags);
}
// --8<-- [end:lend]

PyObject* address(PyObject* object, PyObject*) {  // holds nothing
    return PyLong_FromVoidPtr(floats(object).data());
}

// --8<-- [start:release]
struct Release {
    bool lock = true;
    void operator()(PyObject* object) const {
        if (!lock) return Py_DECREF(object);  // wrong on a thread without the GIL
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(object);
        PyGILState_Release(state);
    }
};
using Owned = std::unique_ptr<PyObject, Release>;
// --8<-- [end:release]

Owned kept;

PyObject* keep(PyObject*, PyObject* arguments) {
    PyObject* object = nullptr;
    int lock = 1;
    if (!PyArg_ParseTuple(arguments, "Op", &object, &lock)) return nullptr;
    Py_INCREF(object);
    kept = Owned(object, Release{lock != 0});
    Py_RETURN_NONE;
}

PyObject* drop(PyObject*, PyObject*) {
    Py_BEGIN_ALLOW_THREADS  // the GIL is free while the thread runs
    std::thread([] { kept.reset(); }).join();
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyBufferProcs lending = {lend, nullptr};
PyMethodDef of_batch[] = {{"address", address, METH_NOARGS, nullptr}, {}};
PyMethodDef functions[] = {
    {"keep", keep, METH_VARARGS, nullptr}, {"drop", drop, METH_NOARGS, nullptr}, {}};
PyTypeObject batch_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "border", nullptr, -1, functions};

}  // namespace

PyMODINIT_FUNC PyInit_border() {
    batch_type.tp_name = "border.Batch";
    batch_type.tp_basicsize = sizeof(Batch);
    batch_type.tp_flags = Py_TPFLAGS_DEFAULT;
    batch_type.tp_new = create;
    batch_type.tp_dealloc = destroy;
    batch_type.tp_methods = of_batch;
    batch_type.tp_as_buffer = &lending;
    PyObject* made = PyModule_Create(&module);
    if (!made || PyModule_AddType(made, &batch_type) < 0) return nullptr;
    return made;
}
