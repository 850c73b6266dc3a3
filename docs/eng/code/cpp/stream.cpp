// A CUDA stream and a buffer with owners: given back on every way out, in the reverse order.
//
// g++ -std=c++20 -c -I/usr/local/cuda/include docs/eng/code/cpp/stream.cpp
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <stdexcept>

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

// --8<-- [start:owners]
struct DestroyStream {
    void operator()(cudaStream_t stream) const noexcept { (void)cudaStreamDestroy(stream); }
};
using Stream = std::unique_ptr<CUstream_st, DestroyStream>;

struct FreeInOrder {  // after the work that the stream has by then
    cudaStream_t stream;
    void operator()(void* memory) const noexcept { (void)cudaFreeAsync(memory, stream); }
};
using Buffer = std::unique_ptr<void, FreeInOrder>;
// --8<-- [end:owners]

Stream make_stream() {
    cudaStream_t raw = nullptr;
    check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking));
    return Stream(raw);
}

Buffer make_buffer(std::size_t bytes, const Stream& stream) {
    void* raw = nullptr;
    check(cudaMallocAsync(&raw, bytes, stream.get()));
    return Buffer(raw, FreeInOrder{stream.get()});
}

void clear(std::size_t bytes) {
    const Stream stream = make_stream();  // first in, last out: the buffer needs it to be freed
    const Buffer buffer = make_buffer(bytes, stream);
    check(cudaMemsetAsync(buffer.get(), 0, bytes, stream.get()));  // may throw, and nothing leaks
    check(cudaStreamSynchronize(stream.get()));
}
