// What a fused epilogue saves: relu(A B + bias) by one cuBLASLt call, and by a plain GEMM with a second kernel after
// it. cuBLASLt is opened at run time; where it is absent only the second kernel is measured.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o epilogue epilogue.cu && ./epilogue
#include "lesson.cuh"

#include <cuda_fp16.h>
#include <dlfcn.h>
#include <library_types.h>

#include <functional>

// Prototypes and constants of cublasLt.h and cublas_api.h, as far as they are used here.
using Handle = void*;
static int (*create)(Handle*);
static int (*desc_create)(Handle*, int compute, int scale);
static int (*desc_set)(Handle, int attribute, const void*, size_t);
static int (*layout_create)(Handle*, int type, uint64_t rows, uint64_t cols, int64_t ld);
static int (*matmul)(Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*, const void*,
                     Handle, void*, Handle, const void*, void*, size_t, cudaStream_t);
const int COMPUTE_32F = 68, EPILOGUE = 7, BIAS_POINTER = 8, EPILOGUE_RELU_BIAS = 2 + 4;

#define LT(call)                                                                            \
    do {                                                                                    \
        int status_ = (call);                                                               \
        if (status_) std::fprintf(stderr, "%s: status %d\n", #call, status_), std::exit(1); \
    } while (0)

static bool load() {
    void* lib = nullptr;
    for (const char* name :
         {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so"})
        if (!lib) lib = dlopen(name, RTLD_NOW);
    if (!lib) return false;
    create = (decltype(create))dlsym(lib, "cublasLtCreate");
    desc_create = (decltype(desc_create))dlsym(lib, "cublasLtMatmulDescCreate");
    desc_set = (decltype(desc_set))dlsym(lib, "cublasLtMatmulDescSetAttribute");
    layout_create = (decltype(layout_create))dlsym(lib, "cublasLtMatrixLayoutCreate");
    matmul = (decltype(matmul))dlsym(lib, "cublasLtMatmul");
    return create && desc_create && desc_set && layout_create && matmul;
}

// --8<-- [start:second]
// The second kernel: reads and writes the whole result once more, eight values a thread.
__global__ void bias_relu(size_t n, int rows, const __half* bias, __half* d) {
    size_t i = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) * 8;
    if (i >= n) return;
    uint4 word = *reinterpret_cast<uint4*>(d + i), add = *reinterpret_cast<const uint4*>(bias + i % rows);
    __half2 *v = reinterpret_cast<__half2*>(&word), *b = reinterpret_cast<__half2*>(&add);
    for (int k = 0; k < 4; ++k) v[k] = __hmax2(__hadd2(v[k], b[k]), __float2half2_rn(0.f));
    *reinterpret_cast<uint4*>(d + i) = word;
}
// --8<-- [end:second]

// --8<-- [start:gated]
using Work = std::function<void(cudaStream_t)>;
// Times of one call of each way, in microseconds. Ten calls are queued behind a closed gate, so that the host's part is
// not in them, and the ways take turns, so that a clock that falls under load falls for all.
static std::vector<std::vector<double>> microseconds(const std::vector<Work>& ways) {
    static Gate gate;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    std::vector<std::vector<double>> times(ways.size());
    for (int trial = -3; trial < 20; ++trial)
        for (size_t way = 0; way < ways.size(); ++way) {
            gate.close();
            gate.queue(nullptr);
            CHECK(cudaEventRecord(start));
            for (int i = 0; i < 10; ++i) ways[way](nullptr);
            CHECK(cudaEventRecord(stop));
            gate.open();
            CHECK(cudaEventSynchronize(stop));
            gate.check();
            float ms = 0;
            CHECK(cudaEventElapsedTime(&ms, start, stop));
            if (trial >= 0) times[way].push_back(ms * 100);
        }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return times;
}
// --8<-- [end:gated]

struct Problem {  // column-major, no transposition: D (m x n) = A (m x k) B (k x n); bias has m values
    int m, n, k;
    std::vector<__half> ha, hb, hbias;
    Device<__half> a, b, d, bias;
    static std::vector<__half> values(size_t count, int seed) {
        std::vector<__half> v(count);
        for (size_t i = 0; i < count; ++i) v[i] = __float2half(float(int(random_word(seed, i) % 5) - 2));
        return v;
    }
    Problem(int m_, int n_, int k_)
        : m(m_),
          n(n_),
          k(k_),
          ha(values(size_t(m) * k, 1)),
          hb(values(size_t(k) * n, 2)),
          hbias(values(m, 3)),
          a(ha),
          b(hb),
          d(size_t(m) * n),
          bias(hbias) {}
    void second(cudaStream_t s) {
        size_t count = size_t(m) * n;
        bias_relu<<<unsigned((count / 8 + 255) / 256), 256, 0, s>>>(count, m, bias.data, d.data);
    }
    void check(const char* what) const {  // small integers: exact in FP16 while they stay below 2048
        const std::vector<__half> got = d.host();
        const size_t step = std::max<size_t>(1, size_t(m) * n / 4096) | 1;
        for (size_t i = 0; i < got.size(); i += step) {
            float sum = __half2float(hbias[i % m]);
            for (int j = 0; j < k; ++j)
                sum += __half2float(ha[i % m + size_t(j) * m]) * __half2float(hb[j + (i / m) * k]);
            expect(__half2float(got[i]) == std::max(0.0f, sum), what);
        }
    }
};

int main(int argc, char** argv) {
    require_device();
    const bool quick = wants(argc, argv, "--quick"), library = load();
    if (!library) std::fprintf(stderr, "libcublasLt is not here: only the second kernel runs\n");
    Handle lt = nullptr;
    if (library) LT(create(&lt));
    Device<char> workspace(size_t(32) << 20);
    const float one = 1, zero = 0;
    for (int k : quick ? std::vector<int>{64} : std::vector<int>{64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
        const int size = quick ? 256 : 8192;
        Problem p(size, size, k);
        auto say = [&](const char* how, const std::vector<double>& us) {
            emit("epilogue_time", {{"how", quoted(how)}, {"k", std::to_string(k)}}, "us", us);
        };
        const Work second = [&](cudaStream_t s) { p.second(s); };
        if (!library && !quick) say("second kernel alone", microseconds({second})[0]);
        if (!library) continue;
        // --8<-- [start:describe]
        Handle plain, fused, la, lb, ld;
        LT(desc_create(&plain, COMPUTE_32F, CUDA_R_32F));
        LT(desc_create(&fused, COMPUTE_32F, CUDA_R_32F));
        LT(desc_set(fused, EPILOGUE, &EPILOGUE_RELU_BIAS, sizeof(int)));
        LT(desc_set(fused, BIAS_POINTER, &p.bias.data, sizeof(void*)));
        LT(layout_create(&la, CUDA_R_16F, p.m, p.k, p.m));
        LT(layout_create(&lb, CUDA_R_16F, p.k, p.n, p.k));
        LT(layout_create(&ld, CUDA_R_16F, p.m, p.n, p.m));
        // --8<-- [end:describe]
        auto gemm = [&](Handle how, cudaStream_t s) {
            LT(matmul(lt, how, &one, p.a.data, la, p.b.data, lb, &zero, p.d.data, ld, p.d.data, ld, nullptr,
                      workspace.data, workspace.count, s));
        };
        const Work one_call = [&](cudaStream_t s) { gemm(fused, s); }, bare = [&](cudaStream_t s) { gemm(plain, s); };
        const Work two = [&](cudaStream_t s) { gemm(plain, s), p.second(s); };
        one_call(nullptr), p.check("fused");
        CHECK(cudaMemset(p.d.data, 0, p.d.count * sizeof(__half)));
        two(nullptr), p.check("two kernels");
        if (quick) continue;
        const auto times = microseconds({second, bare, one_call, two});
        say("second kernel alone", times[0]);
        say("plain GEMM", times[1]);
        say("fused", times[2]);
        say("two kernels", times[3]);
    }
    return 0;
}
