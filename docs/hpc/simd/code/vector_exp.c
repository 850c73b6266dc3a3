// The vector expf of glibc without -ffast-math: declared by hand. Build with -fopenmp-simd -fno-math-errno.
#include "bench.h"

#if !defined __x86_64__ || !defined __GLIBC__
int main(void) {
    puts("skipped: the vector functions of glibc for x86-64");
    return 0;
}
#else
// --8<-- [start:declare]
#pragma omp declare simd notinbranch
float expf(float);  // bits/math-vector.h says so only where __FAST_MATH__ is defined

static void exps(int n, const float* restrict x, float* restrict y) {
    for (int i = 0; i < n; ++i) y[i] = expf(x[i]);
}
// --8<-- [end:declare]

int main(void) {
    enum { N = 4096 };
    float *x = lines(N * sizeof *x), *y = lines(N * sizeof *y);
    uint32_t state = 1;
    for (int i = 0; i < N; ++i) x[i] = 80 * noise_float(&state);
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = 100;
    keep(x);
    exps(N, x, y);
    keep(y);
    require(isnan(y[0]) && isinf(y[1]) && y[2] == 0 && isinf(y[3]), "special values");
    for (int i = 4; i < N; ++i) require(fabs(y[i] / exp(x[i]) - 1) < 4 * 0x1p-23, "four units in the last place");
    puts("NaN, infinity and 4092 others are right");
    free(x), free(y);
    return 0;
}
#endif
