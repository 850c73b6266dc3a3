// Twenty ways to break a kernel, one a process, and the error code that the host sees; without an option none is used.
// flags: -lineinfo
//
//   nvcc -std=c++17 -arch=sm_90 -lineinfo -o faults faults.cu && ./faults --all
//   compute-sanitizer --tool memcheck ./faults --past-end        (racecheck --race, initcheck --uninitialised, …)
#include "lesson.cuh"

#include <cassert>

const int N = 1000, BLOCK = 256, GRID = (N + BLOCK - 1) / BLOCK;

// --8<-- [start:kernels]
__global__ void twice(int n, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

__global__ void twice_no_guard(const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];  // 1024 threads, 1000 elements
}

__global__ void write_at(float* y, long long offset) { y[offset] = 1; }

__global__ void write_four(float* y) { *reinterpret_cast<float4*>(y + 1) = make_float4(1, 2, 3, 4); }
// --8<-- [end:kernels]

__global__ void write_shared(int index, float* y) {
    __shared__ float s[32];
    s[index] = 1;
    y[0] = s[0];
}

__global__ void trap() { __trap(); }

__global__ void asserts(int n) { assert(n > 0); }

// Every thread keeps 128 values at once: too many registers for 1024 threads.
__global__ void many_registers(const float* x, float* y) {
    float v[128];
#pragma unroll
    for (int k = 0; k < 128; ++k) v[k] = x[(threadIdx.x + k * 7) % N];
    asm volatile("" ::: "memory");
    float sum = 0;
#pragma unroll
    for (int k = 127; k >= 0; --k) sum = sum * 0.5f + v[k], y[(threadIdx.x + k * 3) % N] = sum;
}

// --8<-- [start:race]
// Sum of a block. Without BARRIER a warp may read what another has not written yet.
template <bool BARRIER>
__global__ void block_sum(const float* x, float* y) {
    __shared__ float s[BLOCK];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (BARRIER) __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
// --8<-- [end:race]

// --8<-- [start:barrier]
// A barrier that some threads of the block never reach: they end before it.
__global__ void neighbour(int n, const float* x, float* y) {
    __shared__ float s[BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = x[i];
        __syncthreads();
        y[i] = s[threadIdx.x ^ 1];
    }
}

// Half of a warp waits at one barrier, the other half at another.
__global__ void half_barrier(const float* x, float* y) {
    __shared__ float s[BLOCK];
    if (threadIdx.x % 32 < 16) __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}

// Lanes that wait with a mask in which they are not named.
__global__ void wrong_mask(const float* x, float* y) {
    __shared__ float s[32];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 16) __syncwarp(0xffff0000);
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
// --8<-- [end:barrier]

__global__ void count(int n, int* bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[i % 8], 1);
}

// Waits for a flag that nobody sets, two seconds at most.
__global__ void wait_for(volatile int* flag, int* gave_up) {
    unsigned long long start = now_ns();
    while (!*flag)
        if (now_ns() - start > 2000000000ull) {
            *gave_up = 1;
            return;
        }
}

static const char* const NAMES[] = {
    "past-end",      "illegal",    "host-pointer", "shared-range", "misaligned", "trap",       "assert",  "threads",
    "block-z",       "empty-grid", "shared-size",  "resources",    "old-ptx",    "other-arch", "new-ptx", "race",
    "uninitialised", "early-exit", "divergent",    "wrong-mask",   "hang",       "memory"};

// --8<-- [start:report]
// What a launch returns, what the next synchronisation returns, and whether the process can go on after it.
static void report(const char* name) {
    cudaError_t launch = cudaGetLastError(), ran = cudaDeviceSynchronize();
    cudaGetLastError();  // clears an error that can be cleared
    void* p = nullptr;
    cudaError_t after = cudaMalloc(&p, 256);
    std::printf("%-14s launch %3d, synchronise %3d %-32s next call %3d\n", name, int(launch), int(ran),
                cudaGetErrorName(launch ? launch : ran), int(after));
}
// --8<-- [end:report]

static void load_ptx(const char* name, const char* version, const char* target) {
    std::string ptx = std::string(".version ") + version + "\n.target " + target + "\n.address_size 64\n" +
                      ".visible .entry empty() { ret; }\n";
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaError_t status = cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (status == cudaSuccess) status = cudaLibraryGetKernel(&kernel, library, "empty");
    if (status == cudaSuccess) status = cudaLaunchKernel((const void*)kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
    std::printf("%-14s load or launch %3d %s\n", name, int(status), cudaGetErrorName(status));
}

static void fault(const std::string& name, float* x, float* y) {
    const char* c = name.c_str();
    if (name == "past-end") twice_no_guard<<<GRID, BLOCK>>>(x, y), report(c);
    if (name == "illegal") write_at<<<1, 1>>>(nullptr, 4), report(c);
    if (name == "host-pointer") {
        std::vector<float> pageable(N);
        twice<<<GRID, BLOCK>>>(N, x, pageable.data());
        report(c);
    }
    if (name == "shared-range") write_shared<<<1, 1>>>(1 << 20, y), report(c);
    if (name == "misaligned") write_four<<<1, 1>>>(y), report(c);
    if (name == "trap") trap<<<1, 1>>>(), report(c);
    if (name == "assert") asserts<<<1, 1>>>(0), report(c);
    if (name == "threads") twice<<<1, 1025>>>(N, x, y), report(c);
    if (name == "block-z") twice<<<1, dim3(1, 1, 128)>>>(N, x, y), report(c);
    if (name == "empty-grid") twice<<<0, BLOCK>>>(N, x, y), report(c);
    if (name == "shared-size") twice<<<1, 32, 1 << 20>>>(N, x, y), report(c);
    if (name == "resources") {
        cudaFuncAttributes a;
        CHECK(cudaFuncGetAttributes(&a, many_registers));
        std::printf("%d registers a thread, at most %d threads a block\n", a.numRegs, a.maxThreadsPerBlock);
        many_registers<<<1, 1024>>>(x, y);
        report(c);
    }
    if (name == "old-ptx") load_ptx(c, "7.0", "sm_80");  // works: older PTX is compiled for the device
    if (name == "other-arch") load_ptx(c, "8.8", "sm_120a");
    if (name == "new-ptx") load_ptx(c, "99.0", "sm_80");
    if (name == "race") {
        std::vector<float> ones(1024, 1.0f);
        Device<float> in(ones), out(16);
        block_sum<false><<<16, BLOCK>>>(in.data, out.data);
        int wrong = 0;
        for (float sum : out.host()) wrong += sum != BLOCK;
        std::printf("%d of 16 sums are wrong; ", wrong), report(c);
    }
    if (name == "uninitialised") {
        Device<int> bins(8);  // no cudaMemset
        count<<<GRID, BLOCK>>>(N, bins.data);
        std::printf("bin 0 holds %d, expected %d; ", bins.host()[0], N / 8), report(c);
    }
    if (name == "early-exit") neighbour<<<GRID, BLOCK>>>(N - 1, x, y), report(c);
    if (name == "divergent") half_barrier<<<1, BLOCK>>>(x, y), report(c);
    if (name == "wrong-mask") wrong_mask<<<1, 32>>>(x, y), report(c);
    if (name == "hang") {
        Device<int> words(2);
        CHECK(cudaMemset(words.data, 0, 8));
        wait_for<<<1, 1>>>(words.data, words.data + 1);
        double start = host_seconds();
        // --8<-- [start:deadline]
        while (cudaStreamQuery(nullptr) == cudaErrorNotReady && host_seconds() - start < 0.5) continue;
        // --8<-- [end:deadline]
        std::printf("after %.1f s the stream says %d; ", host_seconds() - start, int(cudaStreamQuery(nullptr)));
        report(c);
    }
    if (name == "memory") {
        void* p = nullptr;
        cudaError_t status = cudaMalloc(&p, size_t(1) << 50);
        std::printf("cudaMalloc of 1 PiB: %d %s; ", int(status), cudaGetErrorName(status)), report(c);
    }
}

int main(int argc, char** argv) {
    cudaDeviceProp device = require_device();
    if (wants(argc, argv, "--all")) {
        for (const char* name : NAMES) {
            std::fflush(stdout);
            if (std::system(("timeout 10 " + std::string(argv[0]) + " --" + name + " 2>&1").c_str()))
                std::printf("%s: failed\n", name);
        }
        return 0;
    }
    std::vector<float> ones(N, 1.0f);
    Device<float> x(ones), y(N);
    for (const char* name : NAMES)
        if (wants(argc, argv, ("--" + std::string(name)).c_str())) {
            fault(name, x.data, y.data);
            return 0;
        }
    twice<<<GRID, BLOCK>>>(N, x.data, y.data);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (float v : y.host()) expect(v == 2, "twice");
    block_sum<true><<<1, BLOCK>>>(x.data, y.data);
    CHECK(cudaGetLastError());
    expect(y.host()[0] == BLOCK, "block_sum");
    std::fprintf(stderr, "%s: the correct kernels are right; --all breaks the others\n", device.name);
    return 0;
}
