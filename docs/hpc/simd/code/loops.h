// The loops of loops.c, once for each set of options it is compiled with: NAME(sum) is sum_o3 where BUILD is o3.
#ifndef LOOPS_H
#define LOOPS_H
#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NAME(function) JOIN(function, BUILD)

struct point {
    float x, y, z;
};

#define DECLARE(BUILD)                                                                    \
    void JOIN(saxpy, BUILD)(int, float, const float*, float*);                            \
    void JOIN(saxpy_restrict, BUILD)(int, float, const float* restrict, float* restrict); \
    int JOIN(sum_int, BUILD)(int, const int*);                                            \
    float JOIN(sum, BUILD)(int, const float*);                                            \
    float JOIN(sum_pragma, BUILD)(int, const float*);                                     \
    void JOIN(gather, BUILD)(int, const float*, const int*, float*);                      \
    void JOIN(relu, BUILD)(int, const float*, float*);                                    \
    void JOIN(exps, BUILD)(int, const float*, float*);                                    \
    void JOIN(norm_aos, BUILD)(int, const struct point*, float*);                         \
    void JOIN(norm_soa, BUILD)(int, const float*, const float*, const float*, float*);    \
    void JOIN(recurrence, BUILD)(int, float, const float*, float*);                       \
    int JOIN(first_negative, BUILD)(int, const float*);
#endif
