// SwiGLU, y = gate * sigmoid(gate) * up, forward and backward: the kernel alone, without PyTorch.
// nvcc compiles it for an extension, NVRTC at run time: so it includes nothing but CUDA's types.
#pragma once
#include <cuda_bf16.h>

template <typename T>
struct Math {
    using type = float;
};
template <>
struct Math<double> {
    using type = double;
};

// Named conversions: PyTorch compiles with __CUDA_NO_BFLOAT16_CONVERSIONS__, which removes casts.
template <typename T>
__device__ typename Math<T>::type widen(T x) {
    return x;
}
template <>
__device__ inline float widen(__nv_bfloat16 x) {
    return __bfloat162float(x);
}
template <typename T>
__device__ T narrow(typename Math<T>::type x) {
    return x;
}
template <>
__device__ inline __nv_bfloat16 narrow(float x) {
    return __float2bfloat16(x);
}

// --8<-- [start:kernel]
template <typename T>
struct alignas(16) Pack {
    T v[16 / sizeof(T)];
};

template <typename T>
__global__ void swiglu(const T* gate, const T* up, T* out, int n) {
    using F = typename Math<T>::type;
    constexpr int W = 16 / sizeof(T);  // elements in 16 bytes
    auto one = [](T a, T b) {
        F g = widen(a);
        return narrow<T>(g / (F(1) + exp(-g)) * widen(b));
    };
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int step = gridDim.x * blockDim.x;
    for (int i = first; i < n / W; i += step) {
        Pack<T> a = reinterpret_cast<const Pack<T>*>(gate)[i];
        Pack<T> b = reinterpret_cast<const Pack<T>*>(up)[i];
#pragma unroll
        for (int j = 0; j < W; ++j) a.v[j] = one(a.v[j], b.v[j]);
        reinterpret_cast<Pack<T>*>(out)[i] = a;
    }
    for (int i = n / W * W + first; i < n; i += step) out[i] = one(gate[i], up[i]);
}
// --8<-- [end:kernel]

template <typename T>
__global__ void swiglu_backward(const T* grad, const T* gate, const T* up, T* dgate, T* dup, int n) {
    using F = typename Math<T>::type;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        F d = widen(grad[i]), g = widen(gate[i]), u = widen(up[i]), s = F(1) / (F(1) + exp(-g));
        dgate[i] = narrow<T>(d * u * s * (F(1) + g * (F(1) - s)));
        dup[i] = narrow<T>(d * g * s);
    }
}
