// One core, three loops: a float sum with and without `simd reduction`, and a function called from a simd loop.
//
//   gcc -std=c17 -O2 -march=native -fopenmp -o simd simd.c && ./simd
//
// sum, call: time of one element, arrays in the first-level cache. Median of 21 repeats.
#include <math.h>

#include "lesson.h"

enum { REPEATS = 21, N = 4096, ROUNDS = 2000 };
static _Alignas(64) float x[N], y[N];
static int repeats = REPEATS, rounds = ROUNDS;

// --8<-- [start:sum]
__attribute__((noinline)) static float in_order(const float* a, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i];
    return sum;
}

__attribute__((noinline)) static float reordered(const float* a, int n) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += a[i];
    return sum;
}
// --8<-- [end:sum]

// --8<-- [start:declare]
__attribute__((noinline)) static float halve_scalar(float v) { return v > 1 ? v * 0.5f : v; }

#pragma omp declare simd notinbranch
__attribute__((noinline)) static float halve_vector(float v) { return v > 1 ? v * 0.5f : v; }
// --8<-- [end:declare]

__attribute__((noinline)) static void scalar_calls(int n) {
    for (int i = 0; i < n; ++i) y[i] = halve_scalar(x[i]);
}

__attribute__((noinline)) static void vector_calls(int n) {
#pragma omp simd
    for (int i = 0; i < n; ++i) y[i] = halve_vector(x[i]);
}

static double time_of(int which, float* result) {
    double start = omp_get_wtime();
    for (int r = 0; r < rounds; ++r) {
        __asm__ volatile("" ::: "memory");
        if (which == 0) *result = in_order(x, N);
        if (which == 1) *result = reordered(x, N);
        if (which == 2) scalar_calls(N);
        if (which == 3) vector_calls(N);
    }
    return (omp_get_wtime() - start) / rounds / N * 1e9;
}

int main(int argc, char** argv) {
    if (quick(argc, argv)) repeats = 1, rounds = 1;
    double exact = 0, v[REPEATS];
    for (int i = 0; i < N; ++i) x[i] = 0.1f + (float)(i % 7), exact += x[i];
    const char* names[] = {"loop", "simd reduction", "plain function", "declare simd"};
    float sums[4] = {0};
    for (int w = 0; w < 4; ++w) {
        for (int r = 0; r < repeats; ++r) v[r] = time_of(w, &sums[w]);
        char axes[64];
        snprintf(axes, sizeof axes, "\"way\": \"%s\"", names[w]);
        if (repeats > 1) emit(w < 2 ? "sum" : "call", axes, "ns", v, repeats);
    }
    require(fabs(sums[0] - exact) < 1 && fabs(sums[1] - exact) < 1, "both sums are near");
    for (int i = 0; i < N; ++i) require(y[i] == (x[i] > 1 ? x[i] * 0.5f : x[i]), "the calls");
    if (repeats == 1) printf("in order %.3f, reordered %.3f, exact %.3f\n", sums[0], sums[1], exact);
    return 0;
}
