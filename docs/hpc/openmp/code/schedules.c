// The same loop under several schedules: even work, work that grows with i, and almost no work.
//
//   gcc -std=c17 -O2 -fopenmp -o schedules schedules.c && OMP_PROC_BIND=close OMP_PLACES=cores ./schedules
//
// even, growing: speed-up over one thread without OpenMP's loop; tiny: wall time of one iteration. Median of 11
// repeats.
#include "lesson.h"

enum { REPEATS = 11, ITERATIONS = 4096, UNIT = 2000 };
static double out[1 << 20];
static int repeats = REPEATS;

// A chain of dependent operations: time goes with UNITS. The line of assembly keeps the compiler from calling it once.
__attribute__((noinline)) static double work(int units) {
    __asm__ volatile("" ::: "memory");
    double x = units;
    for (int i = 0; i < units; ++i) x = x * 0.999999 + 1e-6;
    return x;
}

static double serial(bool growing, int n, int unit) {
    double start = omp_get_wtime();
    for (int i = 0; i < n; ++i) out[i] = work(growing ? (int)((long)i * 2 * unit / n) : unit);
    return omp_get_wtime() - start;
}

static double shared(bool growing, int n, int unit) {
    double start = omp_get_wtime();
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < n; ++i) out[i] = work(growing ? (int)((long)i * 2 * unit / n) : unit);
    return omp_get_wtime() - start;
}

int main(int argc, char** argv) {
    const int unit = quick(argc, argv) ? 20 : UNIT;
    if (unit != UNIT) repeats = 1;
    struct {
        const char* name;
        omp_sched_t kind;
        int chunk;
    } plans[] = {{"static", omp_sched_static, 0},       {"static,1", omp_sched_static, 1},
                 {"static,16", omp_sched_static, 16},   {"dynamic,1", omp_sched_dynamic, 1},
                 {"dynamic,16", omp_sched_dynamic, 16}, {"dynamic,256", omp_sched_dynamic, 256},
                 {"guided", omp_sched_guided, 1}};
    double one[2], v[REPEATS];
    for (int growing = 0; growing < 2; ++growing) {
        for (int r = 0; r < repeats; ++r) v[r] = serial(growing, ITERATIONS, unit);
        qsort(v, (size_t)repeats, sizeof *v, by_value);
        one[growing] = v[repeats / 2];
    }
    double sum = 0;
    for (int i = 0; i < ITERATIONS; ++i) sum += out[i];
    for (size_t p = 0; p < sizeof plans / sizeof *plans; ++p) {
        omp_set_schedule(plans[p].kind, plans[p].chunk);
        char axes[64];
        snprintf(axes, sizeof axes, "\"schedule\": \"%s\", \"threads\": %d", plans[p].name, omp_get_max_threads());
        for (int growing = 0; growing < 2; ++growing) {
            memset(out, 0, sizeof out);
            shared(growing, ITERATIONS, unit);
            for (int r = 0; r < repeats; ++r) v[r] = one[growing] / shared(growing, ITERATIONS, unit);
            if (repeats > 1) emit(growing ? "growing" : "even", axes, "x", v, repeats);
        }
        double again = 0;
        for (int i = 0; i < ITERATIONS; ++i) again += out[i];
        require(again == sum, "every iteration, once, whatever the schedule");
        const int n = 1 << 20;
        for (int r = 0; r < repeats; ++r) v[r] = shared(false, n, 1) / n * 1e9;
        if (repeats > 1) emit("tiny", axes, "ns", v, repeats);
    }
    if (repeats == 1) printf("all schedules give the same sum\n");
    return 0;
}
