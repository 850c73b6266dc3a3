// The kernel of swiglu.cuh as functions on tensors: what every CUDA extension must check and pass.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "swiglu.cuh"

// --8<-- [start:checks]
inline bool aligned(const at::Tensor& t) { return reinterpret_cast<uintptr_t>(t.data_ptr()) % 16 == 0; }

inline void check_pair(const at::Tensor& a, const at::Tensor& b) {
    TORCH_CHECK(a.is_cuda() && b.is_cuda(), "swiglu: expected CUDA tensors, got ", a.device(), " and ", b.device());
    TORCH_CHECK(a.device() == b.device(), "swiglu: tensors on ", a.device(), " and ", b.device());
    TORCH_CHECK(a.sizes() == b.sizes(), "swiglu: sizes ", a.sizes(), " and ", b.sizes());
    TORCH_CHECK(a.scalar_type() == b.scalar_type(), "swiglu: types ", a.scalar_type(), " and ", b.scalar_type());
    TORCH_CHECK(a.is_contiguous() && b.is_contiguous(), "swiglu: expected contiguous tensors");
    TORCH_CHECK(aligned(a) && aligned(b), "swiglu: expected data at a multiple of 16 bytes");
    TORCH_CHECK(a.numel() <= (1 << 30), "swiglu: too many elements for 32-bit indices");
}
// --8<-- [end:checks]

inline int blocks_of(int64_t n) { return static_cast<int>(std::clamp<int64_t>((n + 2047) / 2048, 1, 4096)); }

template <typename T>
T* data_of(const at::Tensor& t) {
    return static_cast<T*>(t.data_ptr());
}

template <typename Call>
void for_type(at::ScalarType type, Call call) {
    if (type == at::kFloat) return call(float());
    if (type == at::kDouble) return call(double());
    if (type == at::kBFloat16) return call(__nv_bfloat16());
    TORCH_CHECK(false, "swiglu: no kernel for ", type);
}

// --8<-- [start:forward]
inline at::Tensor swiglu_on(const at::Tensor& gate, const at::Tensor& up, cudaStream_t stream) {
    at::Tensor out = at::empty_like(gate);
    int n = static_cast<int>(gate.numel());
    if (n == 0) return out;  // a grid of nothing is an error
    for_type(gate.scalar_type(), [&](auto t) {
        using T = decltype(t);
        swiglu<T><<<blocks_of(n), 256, 0, stream>>>(data_of<T>(gate), data_of<T>(up), data_of<T>(out), n);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return out;
}

inline at::Tensor swiglu_forward(const at::Tensor& gate, const at::Tensor& up) {
    check_pair(gate, up);
    const c10::cuda::CUDAGuard guard(gate.device());  // else: the launch goes to the current device
    return swiglu_on(gate, up, c10::cuda::getCurrentCUDAStream());
}
// --8<-- [end:forward]

// The fault: stream 0 instead of PyTorch's current stream. A CUDA graph does not see this launch.
inline at::Tensor swiglu_stream0(const at::Tensor& gate, const at::Tensor& up) { return swiglu_on(gate, up, nullptr); }

inline std::tuple<at::Tensor, at::Tensor> swiglu_gradients(const at::Tensor& grad, const at::Tensor& gate,
                                                           const at::Tensor& up) {
    check_pair(grad, gate);
    check_pair(gate, up);
    const c10::cuda::CUDAGuard guard(gate.device());
    at::Tensor dgate = at::empty_like(gate), dup = at::empty_like(up);
    int n = static_cast<int>(gate.numel());
    if (n == 0) return {dgate, dup};
    for_type(gate.scalar_type(), [&](auto t) {
        using T = decltype(t);
        swiglu_backward<T><<<blocks_of(n), 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
            data_of<T>(grad), data_of<T>(gate), data_of<T>(up), data_of<T>(dgate), data_of<T>(dup), n);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {dgate, dup};
}
