// Saxpy, dot product and softmax by hand: scalar, SSE2, AVX2 with FMA, AVX-512; tails by masks.
//
//   ladder [--time]
#include "bench.h"

#ifndef __x86_64__
int main(void) {
    puts("skipped: for x86-64 only; arm.c is the one for Arm");
    return 0;
}
#else
#include <immintrin.h>
#include <sys/mman.h>
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

// ---- saxpy: y += a x
static void saxpy_scalar(int n, float a, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
static void saxpy_sse2(int n, float a, const float* x, float* y) {
    int i = 0;
    __m128 va = _mm_set1_ps(a);
    for (; i + 4 <= n; i += 4)
        _mm_storeu_ps(y + i, _mm_add_ps(_mm_mul_ps(va, _mm_loadu_ps(x + i)), _mm_loadu_ps(y + i)));
    for (; i < n; ++i) y[i] = a * x[i] + y[i];
}
// --8<-- [start:avx2tail]
AVX2 static __m256i first(int n) {  // all ones in the first n lanes of eight
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
AVX2 static void saxpy_avx2(int n, float a, const float* x, float* y) {
    int i = 0;
    __m256 va = _mm256_set1_ps(a);
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(va, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
    __m256i rest = first(n - i);
    __m256 tail = _mm256_fmadd_ps(va, _mm256_maskload_ps(x + i, rest), _mm256_maskload_ps(y + i, rest));
    _mm256_maskstore_ps(y + i, rest, tail);
}
// --8<-- [end:avx2tail]
// --8<-- [start:avx512]
AVX512 static void saxpy_avx512(int n, float a, const float* x, float* y) {
    __m512 va = _mm512_set1_ps(a);
    for (int i = 0; i < n; i += 16) {
        __mmask16 rest = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);  // one bit per lane
        __m512 vx = _mm512_maskz_loadu_ps(rest, x + i), vy = _mm512_maskz_loadu_ps(rest, y + i);
        _mm512_mask_storeu_ps(y + i, rest, _mm512_fmadd_ps(va, vx, vy));
    }
}
// --8<-- [end:avx512]

// ---- dot product, with one accumulator and with eight: the chain of additions is the limit, not the width
static float dot_scalar(int n, const float* x, const float* y) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}
static float dot_sse2(int n, const float* x, const float* y) {
    __m128 s[8];
    for (int k = 0; k < 8; ++k) s[k] = _mm_setzero_ps();
    int i = 0;
    for (; i + 32 <= n; i += 32)
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k)
            s[k] = _mm_add_ps(s[k], _mm_mul_ps(_mm_loadu_ps(x + i + 4 * k), _mm_loadu_ps(y + i + 4 * k)));
    for (int k = 1; k < 8; ++k) s[0] = _mm_add_ps(s[0], s[k]);
    float lane[4], sum = 0;
    _mm_storeu_ps(lane, s[0]);
    for (; i < n; ++i) sum += x[i] * y[i];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]) + sum;
}
AVX2 static float across_avx2(__m256 v) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}
AVX2 static float dot_avx2_one(int n, const float* x, const float* y) {
    __m256 s = _mm256_setzero_ps();
    int i = 0;
    for (; i + 8 <= n; i += 8) s = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i), s);
    __m256i rest = first(n - i);
    return across_avx2(_mm256_fmadd_ps(_mm256_maskload_ps(x + i, rest), _mm256_maskload_ps(y + i, rest), s));
}
// --8<-- [start:eight]
AVX2 static float dot_avx2(int n, const float* x, const float* y) {
    __m256 s[8];
    for (int k = 0; k < 8; ++k) s[k] = _mm256_setzero_ps();
    int i = 0;
    for (; i + 64 <= n; i += 64)
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k)
            s[k] = _mm256_fmadd_ps(_mm256_loadu_ps(x + i + 8 * k), _mm256_loadu_ps(y + i + 8 * k), s[k]);
    // --8<-- [end:eight]
    for (; i < n; i += 8) {
        __m256i rest = first(n - i);
        s[0] = _mm256_fmadd_ps(_mm256_maskload_ps(x + i, rest), _mm256_maskload_ps(y + i, rest), s[0]);
    }
    for (int k = 4; k > 0; k /= 2)
        for (int j = 0; j < k; ++j) s[j] = _mm256_add_ps(s[j], s[j + k]);
    return across_avx2(s[0]);
}
AVX512 static float dot_avx512(int n, const float* x, const float* y) {
    __m512 s[8];
    for (int k = 0; k < 8; ++k) s[k] = _mm512_setzero_ps();
    int i = 0;
    for (; i + 128 <= n; i += 128)
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k)
            s[k] = _mm512_fmadd_ps(_mm512_loadu_ps(x + i + 16 * k), _mm512_loadu_ps(y + i + 16 * k), s[k]);
    for (; i < n; i += 16) {
        __mmask16 rest = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        s[0] = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(rest, x + i), _mm512_maskz_loadu_ps(rest, y + i), s[0]);
    }
    for (int k = 4; k > 0; k /= 2)
        for (int j = 0; j < k; ++j) s[j] = _mm512_add_ps(s[j], s[j + k]);
    return _mm512_reduce_add_ps(s[0]);
}

// ---- softmax. exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2, exp(r) a polynomial fitted for this file.
static const float log2e = 0x1.715476p+0f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f, lowest = -87.0f;
static const float poly[] = {0x1.687a68p-10f, 0x1.123c28p-7f, 0x1.555b5ep-5f, 0x1.55548ep-3f,
                             0x1.fffff8p-2f};  // of r^6, r^5, … r^2

static void softmax_scalar(int n, const float* x, float* y) {
    float most = x[0], sum = 0;
    for (int i = 1; i < n; ++i) most = x[i] > most ? x[i] : most;
    for (int i = 0; i < n; ++i) sum += y[i] = expf(x[i] - most);
    for (int i = 0; i < n; ++i) y[i] /= sum;
}
AVX2 static __m256 exp_avx2(__m256 x) {
    x = _mm256_max_ps(x, _mm256_set1_ps(lowest));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(log2e)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(ln2_low), _mm256_fnmadd_ps(n, _mm256_set1_ps(ln2_high), x));
    __m256 p = _mm256_set1_ps(poly[0]);
    for (int k = 1; k < 5; ++k) p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(poly[k]));
    p = _mm256_fmadd_ps(_mm256_mul_ps(p, r), r, _mm256_add_ps(r, _mm256_set1_ps(1)));
    __m256i bits = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);  // n into the exponent
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), bits));
}
AVX2 static void softmax_avx2(int n, const float* x, float* y) {
    __m256 none = _mm256_set1_ps(-INFINITY), most = none, sum = _mm256_setzero_ps();
    for (int i = 0; i < n; i += 8) {
        __m256i rest = first(n - i);
        most = _mm256_max_ps(most, _mm256_blendv_ps(none, _mm256_maskload_ps(x + i, rest), _mm256_castsi256_ps(rest)));
    }
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(most), _mm256_extractf128_ps(most, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    __m256 top = _mm256_set1_ps(_mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half))));
    for (int i = 0; i < n; i += 8) {
        __m256i rest = first(n - i);
        __m256 e = exp_avx2(_mm256_sub_ps(_mm256_maskload_ps(x + i, rest), top));
        sum = _mm256_add_ps(sum, _mm256_and_ps(e, _mm256_castsi256_ps(rest)));
        _mm256_maskstore_ps(y + i, rest, e);
    }
    __m256 factor = _mm256_set1_ps(1 / across_avx2(sum));
    for (int i = 0; i < n; i += 8) {
        __m256i rest = first(n - i);
        _mm256_maskstore_ps(y + i, rest, _mm256_mul_ps(_mm256_maskload_ps(y + i, rest), factor));
    }
}
AVX512 static __m512 exp_avx512(__m512 x) {
    x = _mm512_max_ps(x, _mm512_set1_ps(lowest));
    __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(log2e)), _MM_FROUND_TO_NEAREST_INT);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(ln2_low), _mm512_fnmadd_ps(n, _mm512_set1_ps(ln2_high), x));
    __m512 p = _mm512_set1_ps(poly[0]);
    for (int k = 1; k < 5; ++k) p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(poly[k]));
    p = _mm512_fmadd_ps(_mm512_mul_ps(p, r), r, _mm512_add_ps(r, _mm512_set1_ps(1)));
    return _mm512_scalef_ps(p, n);  // p 2^n in one instruction
}
AVX512 static void softmax_avx512(int n, const float* x, float* y) {
    __m512 most = _mm512_set1_ps(-INFINITY), sum = _mm512_setzero_ps();
#define REST (n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1))
    for (int i = 0; i < n; i += 16) most = _mm512_mask_max_ps(most, REST, most, _mm512_maskz_loadu_ps(REST, x + i));
    __m512 top = _mm512_set1_ps(_mm512_reduce_max_ps(most));
    for (int i = 0; i < n; i += 16) {
        __m512 e = exp_avx512(_mm512_sub_ps(_mm512_maskz_loadu_ps(REST, x + i), top));
        sum = _mm512_mask_add_ps(sum, REST, sum, e);
        _mm512_mask_storeu_ps(y + i, REST, e);
    }
    __m512 factor = _mm512_set1_ps(1 / _mm512_reduce_add_ps(sum));
    for (int i = 0; i < n; i += 16)
        _mm512_mask_storeu_ps(y + i, REST, _mm512_mul_ps(_mm512_maskz_loadu_ps(REST, y + i), factor));
}

struct rung {
    const char* name;
    int bits;
    void (*saxpy)(int, float, const float*, float*);
    float (*dot)(int, const float*, const float*);
    void (*softmax)(int, const float*, float*);
};
static const struct rung rungs[] = {{"scalar", 32, saxpy_scalar, dot_scalar, softmax_scalar},
                                    {"SSE2", 128, saxpy_sse2, dot_sse2, NULL},
                                    {"AVX2, one accumulator", 256, NULL, dot_avx2_one, NULL},
                                    {"AVX2", 256, saxpy_avx2, dot_avx2, softmax_avx2},
                                    {"AVX-512", 512, saxpy_avx512, dot_avx512, softmax_avx512}};
enum { RUNGS = sizeof rungs / sizeof *rungs, N = 4096 };

static bool usable(int bits) {
    if (bits == 512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return bits < 256 || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

// n floats that end where the next page begins, and that page may not be touched: a tail that reads on ends the
// program.
static float* before_the_cliff(int n) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = ((size_t)n * sizeof(float) + page - 1) / page * page;
    char* p = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(p != MAP_FAILED && mprotect(p + size, page, PROT_NONE) == 0, "memory");
    return (float*)(p + size) - n;
}

static void check(const struct rung* r) {
    uint32_t state = 3;
    for (int n = 1; n <= 150; ++n) {
        float *x = before_the_cliff(n), *y = before_the_cliff(n), *out = before_the_cliff(n);
        double dot = 0, size = 0, most = -INFINITY, sum = 0;
        for (int i = 0; i < n; ++i) {
            x[i] = 8 * noise_float(&state), y[i] = out[i] = noise_float(&state);
            dot += (double)x[i] * y[i], size += fabs((double)x[i] * y[i]), most = fmax(most, x[i]);
        }
        if (r->saxpy) {
            r->saxpy(n, 0.25f, x, out);
            for (int i = 0; i < n; ++i)
                require(fabs(out[i] - (0.25 * x[i] + y[i])) <= 0x1p-23 * (fabs(0.25 * x[i]) + fabs(y[i])), "saxpy");
        }
        require(fabs(r->dot(n, x, y) - dot) <= 1e-6 * size, "dot");
        if (r->softmax) {
            for (int i = 0; i < n; ++i) sum += exp(x[i] - most);
            r->softmax(n, x, out);
            for (int i = 0; i < n; ++i) require(fabs(out[i] / (exp(x[i] - most) / sum) - 1) < 2e-6, "softmax");
        }
    }
}

#define TIME(KIND, CALL)                                                                             \
    do {                                                                                             \
        double v[REPEATS];                                                                           \
        for (int k = 0; k < REPEATS; ++k) {                                                          \
            double start = seconds();                                                                \
            for (int j = 0; j < 300; ++j) {                                                          \
                CALL;                                                                                \
                keep(out);                                                                           \
            }                                                                                        \
            v[k] = (seconds() - start) / 300 * 1e9;                                                  \
        }                                                                                            \
        char labels[96];                                                                             \
        snprintf(labels, sizeof labels, "\"kernel\": \"%s\", \"way\": \"%s\"", KIND, rungs[i].name); \
        emit("ladder", labels, "ns", v, REPEATS);                                                    \
    } while (0)

int main(int argc, char** argv) {
    bool timing = asked(argc, argv, "--time");
    float *x = lines(N * sizeof *x), *y = lines(N * sizeof *x), *out = lines(N * sizeof *x);
    uint32_t state = 1;
    volatile float sink;
    for (int i = 0; i < N; ++i) x[i] = noise_float(&state), y[i] = noise_float(&state), out[i] = 0;
    for (int i = 0; i < RUNGS; ++i) {
        if (!usable(rungs[i].bits)) {
            if (!timing) printf("%-22s skipped: this processor has not got it\n", rungs[i].name);
            continue;
        }
        check(&rungs[i]);
        if (!timing) {
            printf("%-22s right for every length from 1 to 150\n", rungs[i].name);
            continue;
        }
        if (rungs[i].saxpy) TIME("saxpy", rungs[i].saxpy(N, 1e-9f, x, out));
        TIME("dot", sink = rungs[i].dot(N, x, y));
        if (rungs[i].softmax) TIME("softmax", rungs[i].softmax(N, x, out));
    }
    (void)sink;
    return 0;
}
#endif
