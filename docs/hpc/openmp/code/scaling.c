// How far two loops scale: one that computes, one that moves memory (a[i] = b[i] + s c[i], three arrays).
//
//   gcc -std=c17 -O3 -march=native -fopenmp -o scaling scaling.c && OMP_PROC_BIND=close OMP_PLACES=cores ./scaling
//
// compute: speed-up of an integral over one thread. triad: GB/s of 24 bytes an element, by who touched the arrays
// first and by OMP_PROC_BIND. Median of 9 repeats. --quick checks results only.
#include <math.h>

#include "lesson.h"

enum { REPEATS = 9 };
static int repeats = REPEATS;

static double integral(long steps, int team) {
    double sum = 0, h = 1.0 / (double)steps;
#pragma omp parallel for num_threads(team) reduction(+ : sum)
    for (long i = 0; i < steps; ++i) {
        double x = h * ((double)i + 0.5);
        sum += 4.0 / (1.0 + x * x);
    }
    return sum * h;
}

// --8<-- [start:touch]
static void fill(double* a, double* b, double* c, long n, int team) {
#pragma omp parallel for num_threads(team) schedule(static)
    for (long i = 0; i < n; ++i) a[i] = 0, b[i] = 1, c[i] = 2;
}

static void triad(double* restrict a, const double* restrict b, const double* restrict c, long n, int team) {
#pragma omp parallel for num_threads(team) schedule(static)
    for (long i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i];
}
// --8<-- [end:touch]

int main(int argc, char** argv) {
    long steps = 40000000, n = 1l << 26;
    if (quick(argc, argv)) repeats = 1, steps = 100000, n = 1l << 16;
    int sizes[16], number = team_sizes(sizes);
    double v[REPEATS], one = 0;
    char axes[128];
    for (int s = 0; s < number; ++s) {
        for (int r = 0; r < repeats; ++r) {
            double start = omp_get_wtime(), pi = integral(steps, sizes[s]);
            v[r] = omp_get_wtime() - start;
            require(fabs(pi - acos(-1.0)) < 1e-9, "pi");
        }
        qsort(v, (size_t)repeats, sizeof *v, by_value);
        if (s == 0) one = v[repeats / 2];
        for (int r = 0; r < repeats; ++r) v[r] = one / v[r];
        snprintf(axes, sizeof axes, "\"threads\": %d", sizes[s]);
        if (repeats > 1) emit("compute", axes, "x", v, repeats);
    }
    const char* bind = getenv("OMP_PROC_BIND");
    for (int together = 0; together < 2; ++together)
        for (int s = 0; s < number; ++s) {
            double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b),
                   *c = malloc((size_t)n * sizeof *c);
            require(a && b && c, "memory");
            fill(a, b, c, n, together ? sizes[s] : 1);  // here the pages get their node
            triad(a, b, c, n, sizes[s]);
            for (int r = 0; r < repeats; ++r) {
                double start = omp_get_wtime();
                triad(a, b, c, n, sizes[s]);
                v[r] = 24.0 * (double)n / (omp_get_wtime() - start) * 1e-9;
            }
            for (long i = 0; i < n; i += 4097) require(a[i] == 7.0, "the triad");
            snprintf(axes, sizeof axes, "\"bind\": \"%s\", \"touched\": \"%s\", \"threads\": %d", bind ? bind : "unset",
                     together ? "team" : "one thread", sizes[s]);
            if (repeats > 1) emit("triad", axes, "GB/s", v, repeats);
            free(a), free(b), free(c);
        }
    if (repeats == 1) printf("pi and triad right in teams up to %d\n", sizes[number - 1]);
    return 0;
}
