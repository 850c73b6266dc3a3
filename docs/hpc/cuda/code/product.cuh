// For the programs that multiply matrices: data, a check of the product, and cuBLAS where a machine has it.
//
// cuBLAS is found when the program runs: no header and no library of it are needed to build.
#pragma once

#include <cuda_bf16.h>
#include <dlfcn.h>
#include <glob.h>
#include <library_types.h>

#include "lesson.cuh"

using bf16 = __nv_bfloat16;

// `count` values between -1 and 1.
template <typename T>
static std::vector<T> random_matrix(uint64_t seed, size_t count) {
    std::vector<T> x(count);
    for (size_t i = 0; i < count; ++i) x[i] = T(float(random_word(seed, i) >> 40) * 0x1p-23f - 1);
    return x;
}

// End the program unless C[m][n] = A[m][k] B[k][n] (`transposed`: B[n][k]) within `bound`, against sums in double: all
// entries of a small product, the corners and 4096 more of a large one.
template <typename T>
static void check_product(int m, int n, int k, const std::vector<T>& a, const std::vector<T>& b,
                          const std::vector<T>& c, bool transposed, double bound, const char* what) {
    const size_t all = size_t(m) * n, some = all <= 1 << 17 ? all : 4098;
    for (size_t i = 0; i < some; ++i) {
        const size_t at = some == all ? i : i < 2 ? i * (all - 1) : random_word(9, i) % all, row = at / n, col = at % n;
        double want = 0;
        for (int j = 0; j < k; ++j)
            want += double(float(a[row * k + j])) * double(float(b[transposed ? col * k + j : size_t(j) * n + col]));
        expect(std::fabs(double(float(c[at])) - want) <= bound * (1 + std::fabs(want)), what);
    }
}

struct Cublas {
    void* library = nullptr;
    void* handle = nullptr;

    Cublas() {
        for (const char* pattern :
             {"libcublas.so.13", "libcublas.so", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so*",
              "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcublas.so.1*",
              "/usr/lib/python3*/*-packages/nvidia/*/lib/libcublas.so.1*",
              "/opt/*/lib/python3*/*-packages/nvidia/*/lib/libcublas.so.1*",
              "/opt/*/*/lib/python3*/*-packages/nvidia/*/lib/libcublas.so.1*"}) {
            glob_t found;
            if (glob(pattern, GLOB_NOCHECK, nullptr, &found) == 0) {
                for (size_t i = 0; i < found.gl_pathc && !library; ++i) library = dlopen(found.gl_pathv[i], RTLD_NOW);
                globfree(&found);
            }
            if (library) break;
        }
        auto create = entry<int (*)(void**)>("cublasCreate_v2");
        if (!create || create(&handle)) handle = nullptr;
        if (!handle) std::fprintf(stderr, "no cuBLAS here: the comparison is left out\n");
    }
    explicit operator bool() const { return handle != nullptr; }

    template <typename Function>
    Function entry(const char* name) const {
        return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
    }

    // Row-major C[m][n] = A[m][k] B[k][n], or A Bᵀ with B[n][k] (`transposed`). cuBLAS counts columns first: it is
    // given B before A. FP32 accumulation; `type` is that of A, B and C; `batch` products lie one behind the other.
    void multiply(int m, int n, int k, const void* a, const void* b, void* c, cudaDataType type, bool transposed,
                  int batch = 1, float alpha = 1.0f) const {
        static const auto product =
            entry<int (*)(void*, int, int, int, int, int, const void*, const void*, cudaDataType, int, long long,
                          const void*, cudaDataType, int, long long, const void*, void*, cudaDataType, int, long long,
                          int, int, int)>("cublasGemmStridedBatchedEx");
        static const auto single =
            entry<int (*)(void*, int, int, int, int, int, const void*, const void*, cudaDataType, int, const void*,
                          cudaDataType, int, const void*, void*, cudaDataType, int, int, int)>("cublasGemmEx");
        const float beta = 0.0f;
        const int compute_32f = 68, default_algorithm = -1, ldb = transposed ? k : n;
        int status = 0;
        if (batch == 1)
            status = single(handle, transposed, 0, n, m, k, &alpha, b, type, ldb, a, type, k, &beta, c, type, n,
                            compute_32f, default_algorithm);
        else
            status =
                product(handle, transposed, 0, n, m, k, &alpha, b, type, ldb, (long long)n * k, a, type, k,
                        (long long)m * k, &beta, c, type, n, (long long)m * n, batch, compute_32f, default_algorithm);
        if (status) {
            std::fprintf(stderr, "cuBLAS: status %d\n", status);
            std::exit(1);
        }
    }
};
