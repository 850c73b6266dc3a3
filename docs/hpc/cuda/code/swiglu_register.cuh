// Registers the functions of swiglu_op.cuh with the dispatcher; no Python headers, so the library
// depends on PyTorch's C++ ABI but on no Python version.
#include <torch/library.h>

#include "swiglu_op.cuh"

// --8<-- [start:register]
TORCH_LIBRARY(handbook, m) {
    m.def("swiglu(Tensor gate, Tensor up) -> Tensor");
    m.def("swiglu_backward(Tensor grad, Tensor gate, Tensor up) -> (Tensor, Tensor)");
    m.def("swiglu_stream0(Tensor gate, Tensor up) -> Tensor");
}
TORCH_LIBRARY_IMPL(handbook, CUDA, m) {
    m.impl("swiglu", &swiglu_forward);
    m.impl("swiglu_backward", &swiglu_gradients);
    m.impl("swiglu_stream0", &swiglu_stream0);
}
// --8<-- [end:register]
