// A matrix product from three plain loops to a packed micro-kernel, in single precision, one thread.
//
//   gemm_kernel [--time]
//
// C (M x N) += A (M x K) B (K x N), row-major. Micro-kernels: 6 x 16 in AVX2, 14 x 32 in AVX-512.
#include "bench.h"

#ifndef __x86_64__
int main(void) {
    puts("skipped: for x86-64 only");
    return 0;
}
#else
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
#define INLINE __attribute__((always_inline)) static inline
enum { KC = 256, MC = 168, NC = 2048, MOST_MR = 14, MOST_NR = 32 };

static void plain(int m, int n, int k, const float* a, const float* b, float* c) {  // a dot product for each element
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int p = 0; p < k; ++p) sum += a[(size_t)i * k + p] * b[(size_t)p * n + j];
            c[(size_t)i * n + j] += sum;
        }
}
AVX2 static void rows(int m, int n, int k, const float* a, const float* b, float* c) {  // the loops turned: rows of B
    for (int i = 0; i < m; ++i)
        for (int p = 0; p < k; ++p) {
            float f = a[(size_t)i * k + p];
            const float* restrict from = b + (size_t)p * n;
            float* restrict to = c + (size_t)i * n;
            for (int j = 0; j < n; ++j) to[j] += f * from[j];
        }
}

// The micro-kernel: C (MR x NR) += A B over kc steps. All of C lies in registers; a step loads NR values of B and
// broadcasts MR of A, for MR x NR multiply-adds.
// --8<-- [start:kernel]
AVX512 INLINE void kernel_14x32(int kc, const float* a, int rs, int cs, const float* b, int rb, float* c, int rc) {
    __m512 acc[14][2];
#pragma GCC unroll 14
    for (int i = 0; i < 14; ++i) acc[i][0] = acc[i][1] = _mm512_setzero_ps();
    for (int p = 0; p < kc; ++p) {
        __m512 b0 = _mm512_loadu_ps(b + (size_t)p * rb), b1 = _mm512_loadu_ps(b + (size_t)p * rb + 16);
#pragma GCC unroll 14
        for (int i = 0; i < 14; ++i) {
            __m512 ai = _mm512_set1_ps(a[(size_t)i * rs + (size_t)p * cs]);
            acc[i][0] = _mm512_fmadd_ps(ai, b0, acc[i][0]);
            acc[i][1] = _mm512_fmadd_ps(ai, b1, acc[i][1]);
        }
    }
#pragma GCC unroll 14
    for (int i = 0; i < 14; ++i) {
        float* row = c + (size_t)i * rc;
        _mm512_storeu_ps(row, _mm512_add_ps(_mm512_loadu_ps(row), acc[i][0]));
        _mm512_storeu_ps(row + 16, _mm512_add_ps(_mm512_loadu_ps(row + 16), acc[i][1]));
    }
}
// --8<-- [end:kernel]
AVX2 INLINE void kernel_6x16(int kc, const float* a, int rs, int cs, const float* b, int rb, float* c, int rc) {
    __m256 acc[6][2];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) acc[i][0] = acc[i][1] = _mm256_setzero_ps();
    for (int p = 0; p < kc; ++p) {
        __m256 b0 = _mm256_loadu_ps(b + (size_t)p * rb), b1 = _mm256_loadu_ps(b + (size_t)p * rb + 8);
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i) {
            __m256 ai = _mm256_set1_ps(a[(size_t)i * rs + (size_t)p * cs]);
            acc[i][0] = _mm256_fmadd_ps(ai, b0, acc[i][0]);
            acc[i][1] = _mm256_fmadd_ps(ai, b1, acc[i][1]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
        float* row = c + (size_t)i * rc;
        _mm256_storeu_ps(row, _mm256_add_ps(_mm256_loadu_ps(row), acc[i][0]));
        _mm256_storeu_ps(row + 8, _mm256_add_ps(_mm256_loadu_ps(row + 8), acc[i][1]));
    }
}
// With packed operands the strides are constants; without, they are those of the matrices.
AVX512 static void packed_14x32(int kc, const float* a, const float* b, float* c, int rc) {
    kernel_14x32(kc, a, 1, 14, b, 32, c, rc);
}
AVX2 static void packed_6x16(int kc, const float* a, const float* b, float* c, int rc) {
    kernel_6x16(kc, a, 1, 6, b, 16, c, rc);
}

// --8<-- [start:pack]
// A's block in slivers of mr rows, column after column; B's in slivers of nr columns, row after row; zeros at the rim.
static void pack_a(int mc, int kc, int mr, const float* a, int lda, float* to) {
    for (int i = 0; i < mc; i += mr)
        for (int p = 0; p < kc; ++p)
            for (int r = 0; r < mr; ++r) *to++ = i + r < mc ? a[(size_t)(i + r) * lda + p] : 0;
}
static void pack_b(int kc, int nc, int nr, const float* b, int ldb, float* to) {
    for (int j = 0; j < nc; j += nr)
        for (int p = 0; p < kc; ++p, to += nr) {
            const float* from = b + (size_t)p * ldb + j;
            if (j + nr <= nc)
                memcpy(to, from, (size_t)nr * sizeof *to);
            else
                for (int r = 0; r < nr; ++r) to[r] = j + r < nc ? from[r] : 0;
        }
}
// --8<-- [end:pack]

typedef void micro(int, const float*, const float*, float*, int);

// --8<-- [start:loops]
static void blocked(int m, int n, int k, const float* a, const float* b, float* c, int mr, int nr, micro* kernel) {
    static _Alignas(64) float pa[(MC + MOST_MR) * KC], pb[KC * (NC + MOST_NR)], tile[MOST_MR * MOST_NR];
    for (int jc = 0; jc < n; jc += NC)
        for (int pc = 0; pc < k; pc += KC) {
            int nc = n - jc < NC ? n - jc : NC, kc = k - pc < KC ? k - pc : KC;
            pack_b(kc, nc, nr, b + (size_t)pc * n + jc, n, pb);  // stays in L3 (or L2)
            for (int ic = 0; ic < m; ic += MC) {
                int mc = m - ic < MC ? m - ic : MC;
                pack_a(mc, kc, mr, a + (size_t)ic * k + pc, k, pa);  // stays in L2
                for (int j = 0; j < nc; j += nr)                     // a sliver of B stays in L1
                    for (int i = 0; i < mc; i += mr) {
                        float* to = c + (size_t)(ic + i) * n + jc + j;
                        const float *sa = pa + (size_t)i * kc, *sb = pb + (size_t)j * kc;
                        if (i + mr <= mc && j + nr <= nc) {
                            kernel(kc, sa, sb, to, n);
                            continue;
                        }
                        memset(tile, 0, sizeof tile);  // at the rim: a whole tile, of which a part is added
                        kernel(kc, sa, sb, tile, nr);
                        for (int r = 0; r < mr && i + r < mc; ++r)
                            for (int s = 0; s < nr && j + s < nc; ++s) to[(size_t)r * n + s] += tile[r * nr + s];
                    }
            }
        }
}
// --8<-- [end:loops]
static void avx2_packed(int m, int n, int k, const float* a, const float* b, float* c) {
    blocked(m, n, k, a, b, c, 6, 16, packed_6x16);
}
static void avx512_packed(int m, int n, int k, const float* a, const float* b, float* c) {
    blocked(m, n, k, a, b, c, 14, 32, packed_14x32);
}
// The same blocks and the same kernel, but operands read where they lie. For sizes that divide.
AVX512 static void avx512_unpacked(int m, int n, int k, const float* a, const float* b, float* c) {
    for (int jc = 0; jc < n; jc += NC)
        for (int pc = 0; pc < k; pc += KC)
            for (int ic = 0; ic < m; ic += MC) {
                int nc = n - jc < NC ? n - jc : NC, kc = k - pc < KC ? k - pc : KC, mc = m - ic < MC ? m - ic : MC;
                for (int j = 0; j < nc; j += 32)
                    for (int i = 0; i < mc; i += 14)
                        kernel_14x32(kc, a + (size_t)(ic + i) * k + pc, k, 1, b + (size_t)pc * n + jc + j, n,
                                     c + (size_t)(ic + i) * n + jc + j, n);
            }
}

// The peak: multiply-adds that wait for nothing, in as many registers as hide the latency.
#define PEAK(NAME, TARGET, TYPE, SET, FMA, COUNT)                                                \
    TARGET static float NAME(long rounds) {                                                      \
        TYPE acc[COUNT], f = SET(0.999f), g = SET(0x1p-12f);                                     \
        _Pragma("GCC unroll 16") for (int i = 0; i < COUNT; ++i) acc[i] = SET((float)i);         \
        for (long r = 0; r < rounds; ++r) {                                                      \
            _Pragma("GCC unroll 16") for (int i = 0; i < COUNT; ++i) acc[i] = FMA(acc[i], f, g); \
        }                                                                                        \
        float sum = 0;                                                                           \
        for (int i = 0; i < COUNT; ++i) sum += ((float*)&acc[i])[0];                             \
        return sum;                                                                              \
    }
enum { CHAINS = 12 };
PEAK(peak_256, AVX2, __m256, _mm256_set1_ps, _mm256_fmadd_ps, CHAINS)
PEAK(peak_512, AVX512, __m512, _mm512_set1_ps, _mm512_fmadd_ps, CHAINS)

typedef void product(int, int, int, const float*, const float*, float*);
struct way {
    const char* name;
    int bits;
    product* run;
    int from, to;  // sizes to time
    bool rim;      // right for any size
};
static const struct way ways[] = {{"three loops", 0, plain, 420, 420, true},
                                  {"loops turned", 256, rows, 420, 1680, true},
                                  {"AVX2 6x16, packed", 256, avx2_packed, 210, 1680, true},
                                  {"AVX-512 14x32, not packed", 512, avx512_unpacked, 420, 3360, false},
                                  {"AVX-512 14x32, packed", 512, avx512_packed, 210, 3360, true}};
enum { WAYS = sizeof ways / sizeof *ways, REPEATS_HERE = 5 };

static bool usable(int bits) {
    if (bits == 512) return __builtin_cpu_supports("avx512f");
    return bits == 0 || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
}

static void fill(float* to, size_t n, uint32_t seed) {
    for (size_t i = 0; i < n; ++i) to[i] = noise_float(&seed);
}

static void check(const struct way* w) {
    static const int sizes[][3] = {{14, 32, 1},    {1, 1, 1},       {17, 33, 300},
                                   {170, 70, 257}, {168, 2080, 40}, {42, 64, 512}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        int m = sizes[s][0], n = sizes[s][1], k = sizes[s][2];
        if (!w->rim && (m % 14 || n % 32)) continue;
        float *a = lines((size_t)m * k * 4), *b = lines((size_t)k * n * 4), *c = lines((size_t)m * n * 4);
        fill(a, (size_t)m * k, 1), fill(b, (size_t)k * n, 2), fill(c, (size_t)m * n, 3);
        float* before = lines((size_t)m * n * 4);
        memcpy(before, c, (size_t)m * n * 4);
        w->run(m, n, k, a, b, c);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                double sum = before[i * n + j], size = 1;
                for (int p = 0; p < k; ++p) {
                    double one = (double)a[i * k + p] * b[p * n + j];
                    sum += one, size += fabs(one);
                }
                require(fabs(c[i * n + j] - sum) <= 1e-6 * size, w->name);
            }
        free(a), free(b), free(c), free(before);
    }
}

int main(int argc, char** argv) {
    bool timing = asked(argc, argv, "--time");
    double peaks[513] = {0}, v[REPEATS_HERE];
    char labels[96];
    volatile float sink;
    for (int bits = 256; timing && bits <= 512; bits *= 2) {
        if (!usable(bits)) continue;
        long rounds = 10 * 1000 * 1000;
        for (int r = 0; r < REPEATS_HERE; ++r) {
            double start = seconds();
            sink = bits == 512 ? peak_512(rounds) : peak_256(rounds);
            v[r] = 2e-9 * (double)rounds * CHAINS * bits / 32 / (seconds() - start);
        }
        snprintf(labels, sizeof labels, "\"width\": \"%d\"", bits);
        peaks[bits] = emit("peak", labels, "GFLOP/s", v, REPEATS_HERE);
    }
    for (int i = 0; i < WAYS; ++i) {
        const struct way* w = &ways[i];
        if (!usable(w->bits)) {
            if (!timing) printf("%-26s skipped: this processor has not got it\n", w->name);
            continue;
        }
        check(w);
        if (!timing) printf("%-26s right\n", w->name);
        for (int n = w->from; timing && n <= w->to; n *= 2) {
            int columns = (n + 31) / 32 * 32;  // 14 divides the rows, 32 the columns
            float *a = lines((size_t)n * n * 4), *b = lines((size_t)n * columns * 4),
                  *c = lines((size_t)n * columns * 4);
            fill(a, (size_t)n * n, 1), fill(b, (size_t)n * columns, 2), fill(c, (size_t)n * columns, 3);
            double flop = 2.0 * n * n * columns, share[REPEATS_HERE];
            w->run(n, columns, n, a, b, c);
            int times = flop < 1e9 ? 4 : 1;
            for (int r = 0; r < REPEATS_HERE; ++r) {
                double start = seconds();
                for (int t = 0; t < times; ++t) w->run(n, columns, n, a, b, c);
                v[r] = flop * times / (seconds() - start) * 1e-9;
                share[r] = 100 * v[r] / peaks[usable(512) ? 512 : 256];
            }
            snprintf(labels, sizeof labels, "\"way\": \"%s\", \"size\": %d", w->name, n);
            emit("gemm", labels, "GFLOP/s", v, REPEATS_HERE);
            emit("share", labels, "%", share, REPEATS_HERE);
            free(a), free(b), free(c);
        }
    }
    (void)sink;
    return 0;
}
#endif
