// What the programs of this volume share: checks, a clock, medians as JSON lines, memory by the cache line.
#ifndef BENCH_H
#define BENCH_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The compiler must have written what p points to, and may not know what becomes of it.
static inline void keep(const void* p) { __asm__ volatile("" : : "g"(p) : "memory"); }

enum { REPEATS = 11, LINE_BYTES = 64 };

static inline void require(bool holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static inline double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int by_value(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// One JSON line: the median of n values, with the 5th and 95th percentile; `labels` are its axes.
static inline double emit(const char* result, const char* labels, const char* unit, double* values, int n) {
    qsort(values, (size_t)n, sizeof *values, by_value);
    printf("{\"result\": \"%s\", %s%s\"unit\": \"%s\", \"n\": %d, \"median\": %.6g, \"p5\": %.6g, \"p95\": %.6g}\n",
           result, labels, *labels ? ", " : "", unit, n, values[n / 2], values[n / 20], values[n - 1 - n / 20]);
    fflush(stdout);
    return values[n / 2];
}

static inline bool asked(int argc, char** argv, const char* option) {
    for (int i = 1; i < argc; ++i)
        if (strcmp(argv[i], option) == 0) return true;
    return false;
}

static inline void* lines(size_t bytes) {
    void* p = aligned_alloc(LINE_BYTES, (bytes + LINE_BYTES) / LINE_BYTES * LINE_BYTES);
    require(p != NULL, "memory");
    return p;
}

// The same numbers on every machine: an xorshift generator.
static inline uint32_t noise(uint32_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

static inline float noise_float(uint32_t* state) { return (float)(noise(state) >> 8) * 0x1p-23f - 1.0f; }  // [-1, 1)

// The processors this process may use, in order; their number.
static inline int processors(int* list, int most) {
    cpu_set_t set;
    require(sched_getaffinity(0, sizeof set, &set) == 0, "affinity");
    int n = 0;
    for (int i = 0; i < CPU_SETSIZE && n < most; ++i)
        if (CPU_ISSET(i, &set)) list[n++] = i;
    return n;
}

static inline void run_on(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    require(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0, "no such processor");
}
#endif
