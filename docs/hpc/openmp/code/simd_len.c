// declare simd with and without a length: where the compiler prefers 256 bits, a version of 512 bits alone is no help.
//
//   gcc -std=c17 -O2 -march=native -fopenmp -o simd_len simd_len.c && ./simd_len
//
// call: time of one element, arrays in the first-level cache. Median of 21 repeats.
#include "lesson.h"

enum { REPEATS = 21, N = 4096, ROUNDS = 2000 };
static _Alignas(64) float x[N], y[N];
static int repeats = REPEATS, rounds = ROUNDS;

__attribute__((noinline)) static float plain(float v) { return v > 1 ? v * 0.5f : v; }

// --8<-- [start:length]
#pragma omp declare simd notinbranch
__attribute__((noinline)) static float any(float v) { return v > 1 ? v * 0.5f : v; }

#pragma omp declare simd notinbranch simdlen(8)
__attribute__((noinline)) static float eight(float v) { return v > 1 ? v * 0.5f : v; }
// --8<-- [end:length]

static double time_of(int which) {
    double start = omp_get_wtime();
    for (int r = 0; r < rounds; ++r) {
        __asm__ volatile("" ::: "memory");
        if (which == 0) {
            for (int i = 0; i < N; ++i) y[i] = plain(x[i]);
        } else if (which == 1) {
#pragma omp simd
            for (int i = 0; i < N; ++i) y[i] = any(x[i]);
        } else {
#pragma omp simd
            for (int i = 0; i < N; ++i) y[i] = eight(x[i]);
        }
    }
    return (omp_get_wtime() - start) / rounds / N * 1e9;
}

int main(int argc, char** argv) {
    if (quick(argc, argv)) repeats = 1, rounds = 1;
    for (int i = 0; i < N; ++i) x[i] = 0.1f + (float)(i % 7);
    const char* names[] = {"no directive", "declare simd", "declare simd simdlen(8)"};
    for (int w = 0; w < 3; ++w) {
        double v[REPEATS];
        memset(y, 0, sizeof y);
        for (int r = 0; r < repeats; ++r) v[r] = time_of(w);
        for (int i = 0; i < N; ++i) require(y[i] == (x[i] > 1 ? x[i] * 0.5f : x[i]), names[w]);
        char axes[64];
        snprintf(axes, sizeof axes, "\"way\": \"%s\"", names[w]);
        if (repeats > 1) emit("call", axes, "ns", v, repeats);
    }
    if (repeats == 1) printf("three ways, the same values\n");
    return 0;
}
