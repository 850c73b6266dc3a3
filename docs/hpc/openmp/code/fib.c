// Fibonacci by tasks, with a cut-off below which no more tasks are made; and the same number as plain recursion.
//
//   gcc -std=c17 -O2 -fopenmp -o fib fib.c && OMP_PROC_BIND=close OMP_PLACES=cores ./fib
//
// plain: one thread, no tasks. cutoff: seconds for fib(36) with tasks made down to fib(cutoff). Median of 5 repeats.
#include "lesson.h"

enum { REPEATS = 5 };
static int repeats = REPEATS;

// --8<-- [start:fib]
static long plain(int n) { return n < 2 ? n : plain(n - 1) + plain(n - 2); }

static long fib(int n, int cutoff) {
    if (n < cutoff || n < 2) return plain(n);
    long a, b;
#pragma omp task shared(a)
    a = fib(n - 1, cutoff);
    b = fib(n - 2, cutoff);  // this thread keeps one half for itself
#pragma omp taskwait
    return a + b;
}
// --8<-- [end:fib]

static long in_team(int n, int cutoff, int team) {
    long result = 0;
#pragma omp parallel num_threads(team)
#pragma omp single
    result = fib(n, cutoff);
    return result;
}

static long tasks_made(int n, int cutoff) {
    if (n < cutoff || n < 2) return 0;
    return 1 + tasks_made(n - 1, cutoff) + tasks_made(n - 2, cutoff);
}

int main(int argc, char** argv) {
    int n = 36;
    if (quick(argc, argv)) repeats = 1, n = 20;
    double v[REPEATS];
    volatile int hidden = n;
    long right = 0;
    for (int r = 0; r < repeats; ++r) {
        double start = omp_get_wtime();
        right = plain(hidden);
        v[r] = (omp_get_wtime() - start) * 1e3;
    }
    require(right == (n == 36 ? 14930352 : 6765), "fib");
    if (repeats > 1) emit("plain", "\"threads\": 1", "ms", v, repeats);
    int sizes[16], number = team_sizes(sizes);
    for (int cutoff = repeats > 1 ? 12 : 8; cutoff <= n; cutoff += 4)
        for (int s = 0; s < number; ++s) {
            if (s != 0 && s != number - 1 && sizes[s] != 4) continue;
            for (int r = 0; r < repeats; ++r) {
                double start = omp_get_wtime();
                require(in_team(n, cutoff, sizes[s]) == right, "the same number");
                v[r] = (omp_get_wtime() - start) * 1e3;
            }
            char axes[96];
            snprintf(axes, sizeof axes, "\"cutoff\": %d, \"tasks\": %ld, \"threads\": %d", cutoff,
                     tasks_made(n, cutoff), sizes[s]);
            if (repeats > 1) emit("cutoff", axes, "ms", v, repeats);
        }
    if (repeats == 1)
        printf("fib(20) = %ld with every cut-off; down to fib(8) it makes %ld tasks\n", right, tasks_made(20, 8));
    return 0;
}
