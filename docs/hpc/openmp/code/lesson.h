// What the programs here share: a check that ends the program, a line of JSON for a median, and a list of team sizes.
#pragma once
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void require(bool holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static inline bool quick(int argc, char** argv) { return argc > 1 && strcmp(argv[1], "--quick") == 0; }

static inline int by_value(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// AXES: what names the point, as the inside of a JSON object, such as "\"threads\": 4".
static inline void emit(const char* result, const char* axes, const char* unit, double* v, int n) {
    qsort(v, (size_t)n, sizeof *v, by_value);
    printf("{\"result\": \"%s\", %s, \"unit\": \"%s\", \"n\": %d, \"median\": %.6g, \"p5\": %.6g, \"p95\": %.6g}\n",
           result, axes, unit, n, v[n / 2], v[n / 20], v[n - 1 - n / 20]);
    fflush(stdout);
}

// 1, 2, 4 … and the number of processors; returns how many there are.
static inline int team_sizes(int sizes[16]) {
    int n = 0, all = omp_get_num_procs();
    for (int t = 1; t < all && n < 15; t *= 2) sizes[n++] = t;
    sizes[n++] = all;
    return n;
}
