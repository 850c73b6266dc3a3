// Loops that a compiler turns into vectors, or does not. This file is compiled several times, with other options each
// time.
#include "loops.h"

#include <math.h>

void NAME(saxpy)(int n, float a, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void NAME(saxpy_restrict)(int n, float a, const float* restrict x, float* restrict y) {
    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

int NAME(sum_int)(int n, const int* x) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
}

float NAME(sum)(int n, const float* x) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
}

// --8<-- [start:simd]
float NAME(sum_pragma)(int n, const float* x) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)  // with -fopenmp-simd: this sum may be reordered, nothing else
    for (int i = 0; i < n; ++i) sum += x[i];
    return sum;
}
// --8<-- [end:simd]

void NAME(gather)(int n, const float* restrict x, const int* restrict index, float* restrict y) {
    for (int i = 0; i < n; ++i) y[i] = x[index[i]];
}

void NAME(relu)(int n, const float* restrict x, float* restrict y) {
    for (int i = 0; i < n; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

void NAME(exps)(int n, const float* restrict x, float* restrict y) {
    for (int i = 0; i < n; ++i) y[i] = expf(x[i]);
}

void NAME(norm_aos)(int n, const struct point* restrict p, float* restrict y) {
    for (int i = 0; i < n; ++i) y[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}

void NAME(norm_soa)(int n, const float* restrict x, const float* restrict y, const float* restrict z,
                    float* restrict out) {
    for (int i = 0; i < n; ++i) out[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}

void NAME(recurrence)(int n, float a, const float* restrict x, float* restrict y) {
    for (int i = 1; i < n; ++i) y[i] = a * y[i - 1] + x[i];
}

int NAME(first_negative)(int n, const float* x) {
    for (int i = 0; i < n; ++i)
        if (x[i] < 0) return i;
    return n;
}
