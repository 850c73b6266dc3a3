// What -ffast-math changes in results: built once without it and once with it.
#include "bench.h"

enum { N = 10000000 };

static float naive(const float* x) {
    float sum = 0;
    for (int i = 0; i < N; ++i) sum += x[i];
    return sum;
}

// --8<-- [start:kahan]
static float kahan(const float* x) {
    float sum = 0, lost = 0;
    for (int i = 0; i < N; ++i) {
        float y = x[i] - lost, t = sum + y;
        lost = (t - sum) - y;  // zero in algebra: -ffast-math removes it
        sum = t;
    }
    return sum;
}
// --8<-- [end:kahan]

int main(void) {
    float* x = lines(N * sizeof *x);
    for (int i = 0; i < N; ++i) x[i] = 0.1f;
    keep(x);
    volatile float zero = 0, tiny = 0x1p-149f;
    float nan = zero / zero;
    printf("ten million times 0.1f: %.0f\n", naive(x));
    printf("the same by Kahan:      %.0f\n", kahan(x));
    printf("isnan(0/0):             %s\n", isnan(nan) ? "true" : "false");
    printf("denormal 2^-149 times 1 is zero: %s\n", tiny * (1 + zero) == 0 ? "true" : "false");
    free(x);
    return 0;
}
