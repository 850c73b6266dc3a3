// Saxpy and dot product in Neon, whose width is fixed, and in SVE, whose width the program asks for.
#include "bench.h"

#ifndef __ARM_FEATURE_SVE
int main(void) {
    puts("skipped: for aarch64 with SVE");
    return 0;
}
#else
#include <arm_neon.h>
#include <arm_sve.h>

static void saxpy_neon(int n, float a, const float* x, float* y) {
    int i = 0;
    for (; i + 4 <= n; i += 4) vst1q_f32(y + i, vfmaq_n_f32(vld1q_f32(y + i), vld1q_f32(x + i), a));
    for (; i < n; ++i) y[i] = a * x[i] + y[i];  // the tail
}

// --8<-- [start:sve]
static void saxpy_sve(int n, float a, const float* x, float* y) {
    for (int i = 0; i < n; i += (int)svcntw()) {  // lanes of 32 bits, known only at run time
        svbool_t some = svwhilelt_b32_s32(i, n);  // all lanes, or those of the tail
        svfloat32_t vx = svld1_f32(some, x + i), vy = svld1_f32(some, y + i);
        svst1_f32(some, y + i, svmla_n_f32_x(some, vy, vx, a));
    }
}
// --8<-- [end:sve]
static float dot_sve(int n, const float* x, const float* y) {
    svfloat32_t sum = svdup_n_f32(0);
    for (int i = 0; i < n; i += (int)svcntw()) {
        svbool_t some = svwhilelt_b32_s32(i, n);
        sum = svmla_f32_m(some, sum, svld1_f32(some, x + i), svld1_f32(some, y + i));  // other lanes keep their sum
    }
    return svaddv_f32(svptrue_b32(), sum);
}

int main(void) {
    enum { MOST = 150 };
    float x[MOST], y[MOST], one[MOST], two[MOST];
    uint32_t state = 1;
    for (int n = 1; n <= MOST; ++n) {
        double dot = 0, size = 0;
        for (int i = 0; i < n; ++i) {
            x[i] = noise_float(&state), y[i] = one[i] = two[i] = noise_float(&state);
            dot += (double)x[i] * y[i], size += fabs((double)x[i] * y[i]);
        }
        saxpy_neon(n, 0.5f, x, one), saxpy_sve(n, 0.5f, x, two);
        for (int i = 0; i < n; ++i) {
            require(fabs(one[i] - (0.5 * x[i] + y[i])) <= 0x1p-23, "Neon");
            require(fabs(two[i] - (0.5 * x[i] + y[i])) <= 0x1p-23, "SVE");
        }
        require(fabs(dot_sve(n, x, y) - dot) <= 1e-6 * size, "dot");
    }
    printf("Neon 4 lanes, SVE %d lanes of 32 bits: right for every length from 1 to %d\n", (int)svcntw(), MOST);
    return 0;
}
#endif
