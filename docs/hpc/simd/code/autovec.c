// The same loops from several builds of loops.c: do they agree with the scalar build, and how fast is each?
//
//   autovec [--time]
#include "bench.h"
#define BUILD scalar
#include "loops.h"
DECLARE(scalar)
DECLARE(o2)
DECLARE(o3)
DECLARE(v3)
DECLARE(fast)

enum { N = 4096, BIG = 1 << 24 };
static float *x, *y, *z, *out, *expected, *large;
static int *whole, *near_index, *far_index;
static struct point* points;

struct build {
    const char* name;
    bool wide;  // needs x86-64-v3
    void (*saxpy)(int, float, const float*, float*);
    void (*saxpy_restrict)(int, float, const float* restrict, float* restrict);
    int (*sum_int)(int, const int*);
    float (*sum)(int, const float*);
    float (*sum_pragma)(int, const float*);
    void (*gather)(int, const float*, const int*, float*);
    void (*relu)(int, const float*, float*);
    void (*exps)(int, const float*, float*);
    void (*norm_aos)(int, const struct point*, float*);
    void (*norm_soa)(int, const float*, const float*, const float*, float*);
    void (*recurrence)(int, float, const float*, float*);
    int (*first_negative)(int, const float*);
};
#define ROW(B, WIDE)                                                                                                   \
    {                                                                                                                  \
#B, WIDE, saxpy_##B, saxpy_restrict_##B, sum_int_##B, sum_##B, sum_pragma_##B, gather_##B, relu_##B, exps_##B, \
            norm_aos_##B, norm_soa_##B, recurrence_##B, first_negative_##B                                             \
    }
static const struct build builds[] = {ROW(scalar, false), ROW(o2, false), ROW(o3, false), ROW(v3, true),
                                      ROW(fast, true)};
enum { BUILDS = sizeof builds / sizeof *builds };

static bool usable(const struct build* b) {
#ifdef __x86_64__
    return !b->wide ||
           (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"));
#else
    return true;
#endif
}

static void same(const float* a, const float* b, int n, float relative, const char* what) {
    for (int i = 0; i < n; ++i) require(fabsf(a[i] - b[i]) <= relative * fabsf(b[i]) + 1e-6f, what);
}

// Every loop of a build against the scalar build, for lengths with and without a tail.
static void check(const struct build* b) {
    const struct build* s = &builds[0];
    for (int n = N - 33; n <= N; ++n) {
        memcpy(out, y, N * sizeof *y);
        memcpy(expected, y, N * sizeof *y);
        s->saxpy(n, 1.5f, x, expected);
        b->saxpy(n, 1.5f, x, out);
        same(out, expected, N, 1e-6f, "saxpy");
        memcpy(out, y, N * sizeof *y);
        b->saxpy_restrict(n, 1.5f, x, out);
        same(out, expected, N, 1e-6f, "saxpy_restrict");
        require(b->sum_int(n, whole) == s->sum_int(n, whole), "sum_int");
        double exact = 0, size = 0;
        for (int i = 0; i < n; ++i) exact += x[i], size += fabsf(x[i]);
        require(fabs(b->sum(n, x) - exact) < 1e-6 * size, "sum");
        require(fabs(b->sum_pragma(n, x) - exact) < 1e-6 * size, "sum_pragma");
        s->gather(n, x, near_index, expected), b->gather(n, x, near_index, out);
        same(out, expected, n, 0, "gather");
        s->relu(n, x, expected), b->relu(n, x, out);
        same(out, expected, n, 0, "relu");
        s->exps(n, x, expected), b->exps(n, x, out);
        same(out, expected, n, 1e-6f, "exps");
        s->norm_aos(n, points, expected), b->norm_aos(n, points, out);
        same(out, expected, n, 1e-6f, "norm_aos");
        b->norm_soa(n, x, y, z, out);
        same(out, expected, n, 1e-6f, "norm_soa");
        out[0] = expected[0] = 1;
        s->recurrence(n, 0.5f, x, expected), b->recurrence(n, 0.5f, x, out);
        same(out, expected, n, 1e-5f, "recurrence");
        require(b->first_negative(n, z) == s->first_negative(n, z), "first_negative");
    }
    // Overlap: y one element behind x is a recurrence, and must stay one.
    memcpy(out, x, N * sizeof *x), memcpy(expected, x, N * sizeof *x);
    b->saxpy(N - 1, 0.5f, out, out + 1), s->saxpy(N - 1, 0.5f, expected, expected + 1);
    same(out, expected, N, 1e-5f, "saxpy with overlap");
}

#define TIME(LOOP, CALL)                                                                       \
    do {                                                                                       \
        double v[REPEATS];                                                                     \
        for (int r = 0; r < REPEATS; ++r) {                                                    \
            double start = seconds();                                                          \
            for (int k = 0; k < 200; ++k) {                                                    \
                CALL;                                                                          \
                keep(out);                                                                     \
            }                                                                                  \
            v[r] = (seconds() - start) / 200 * 1e9;                                            \
        }                                                                                      \
        char labels[96];                                                                       \
        snprintf(labels, sizeof labels, "\"loop\": \"%s\", \"build\": \"%s\"", LOOP, b->name); \
        emit("autovec", labels, "ns", v, REPEATS);                                             \
    } while (0)

static void time_all(const struct build* b) {
    volatile float sink;
    volatile int number;
    TIME("saxpy", b->saxpy(N, 1e-9f, x, out));
    TIME("saxpy_restrict", b->saxpy_restrict(N, 1e-9f, x, out));
    TIME("sum_int", number = b->sum_int(N, whole));
    TIME("sum", sink = b->sum(N, x));
    TIME("sum_pragma", sink = b->sum_pragma(N, x));
    TIME("relu", b->relu(N, x, out));
    TIME("exps", b->exps(N, x, out));
    TIME("norm_aos", b->norm_aos(N, points, out));
    TIME("norm_soa", b->norm_soa(N, x, y, z, out));
    TIME("recurrence", b->recurrence(N, 0.5f, x, out));
    TIME("first_negative", number = b->first_negative(N, z));
    (void)sink, (void)number;
    // Gather: the same loop, with its table in the first cache, the second, and far.
    static const int tables[] = {N, N << 6, BIG};
    for (int t = 0; t < 3; ++t) {
        double v[REPEATS];
        uint32_t state = 7;
        for (int i = 0; i < N * 16; ++i) far_index[i] = (int)(noise(&state) % (uint32_t)tables[t]);
        for (int r = 0; r < REPEATS; ++r) {
            double start = seconds();
            for (int k = 0; k < 64; ++k) b->gather(N, large, far_index + N * (k % 16), out), keep(out);
            v[r] = (seconds() - start) / 64 * 1e9;
        }
        char labels[96];
        snprintf(labels, sizeof labels, "\"build\": \"%s\", \"bytes\": %zu", b->name,
                 (size_t)tables[t] * sizeof(float));
        emit("gather", labels, "ns", v, REPEATS);
    }
    (void)number;
}

int main(int argc, char** argv) {
    bool timing = asked(argc, argv, "--time");
    x = lines(N * sizeof *x), y = lines(N * sizeof *x), z = lines(N * sizeof *x), out = lines(N * sizeof *x);
    expected = lines(N * sizeof *x), whole = lines(N * sizeof *whole), near_index = lines(N * sizeof *near_index);
    points = lines(N * sizeof *points), far_index = lines(N * 16 * sizeof *far_index);
    large = timing ? lines((size_t)BIG * sizeof *large) : NULL;
    for (int i = 0; timing && i < BIG; ++i) large[i] = (float)i;
    uint32_t state = 1;
    for (int i = 0; i < N; ++i) {
        x[i] = noise_float(&state), y[i] = noise_float(&state), z[i] = fabsf(noise_float(&state));
        points[i] = (struct point){x[i], y[i], z[i]};
        whole[i] = (int)(noise(&state) >> 16), near_index[i] = (int)(noise(&state) % N), out[i] = 0;
    }
    z[N - 2] = points[N - 2].z = -1;
    for (int i = 0; i < BUILDS; ++i) {
        if (!usable(&builds[i])) {
            if (!timing) printf("skipped: build %s, this processor is no x86-64-v3\n", builds[i].name);
            continue;
        }
        check(&builds[i]);
        if (timing) time_all(&builds[i]);
    }
    if (!timing) puts("autovec: every build agrees with the scalar one");
    return 0;
}
