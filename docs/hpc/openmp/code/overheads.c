// What each construct costs, by team size: a region, worksharing, barriers, and ways to add up a shared number.
//
//   gcc -std=c17 -O2 -fopenmp -o overheads overheads.c && OMP_PROC_BIND=close OMP_PLACES=cores ./overheads
//
// region, for, barrier, single: time of one. update: time of one increment of one shared long, as the team sees it
// (wall time by all increments). Each value is the median of 21 repeats. --quick checks the sums only.
#include "lesson.h"

enum { REPEATS = 21 };
static long total;
static int rounds = 1000, repeats = REPEATS;

static void nothing(void) { __asm__ volatile("" ::: "memory"); }

static void region(int team) {
    for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(team)
        nothing();
    }
}

static void loop(int team) {
#pragma omp parallel num_threads(team)
    for (int i = 0; i < rounds; ++i) {
#pragma omp for
        for (int j = 0; j < team; ++j) nothing();
    }
}

static void barrier(int team) {
#pragma omp parallel num_threads(team)
    for (int i = 0; i < rounds; ++i) {
#pragma omp barrier
    }
}

static void single(int team) {
#pragma omp parallel num_threads(team)
    for (int i = 0; i < rounds; ++i) {
#pragma omp single
        nothing();
    }
}

// --8<-- [start:updates]
static void critical(int team) {
#pragma omp parallel for num_threads(team)
    for (int i = 0; i < rounds; ++i) {
#pragma omp critical
        ++total;
    }
}

static void lock(int team) {
    omp_lock_t guard;
    omp_init_lock(&guard);
#pragma omp parallel for num_threads(team)
    for (int i = 0; i < rounds; ++i) {
        omp_set_lock(&guard);
        ++total;
        omp_unset_lock(&guard);
    }
    omp_destroy_lock(&guard);
}

static void atomic(int team) {
#pragma omp parallel for num_threads(team)
    for (int i = 0; i < rounds; ++i) {
#pragma omp atomic
        ++total;
    }
}

static void reduction(int team) {
#pragma omp parallel for num_threads(team) reduction(+ : total)
    for (int i = 0; i < rounds; ++i) {
        ++total;
        nothing();  // or the compiler adds all at once
    }
}
// --8<-- [end:updates]

struct way {
    const char *result, *name;
    void (*run)(int team);
    int rounds;
};
static const struct way ways[] = {
    {"once", "parallel region", region, 500}, {"once", "for", loop, 500},
    {"once", "barrier", barrier, 500},        {"once", "single", single, 500},
    {"update", "critical", critical, 20000},  {"update", "lock", lock, 20000},
    {"update", "atomic", atomic, 100000},     {"update", "reduction", reduction, 1000000},
};

int main(int argc, char** argv) {
    if (quick(argc, argv)) repeats = 1;
    int sizes[16], n = team_sizes(sizes);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; ++w)
        for (int s = 0; s < n; ++s) {
            rounds = repeats == 1 ? 500 : ways[w].rounds;
            double took[REPEATS];
            ways[w].run(sizes[s]);  // starts the threads, and settles them
            for (int r = 0; r < repeats; ++r) {
                total = 0;
                double start = omp_get_wtime();
                ways[w].run(sizes[s]);
                took[r] = (omp_get_wtime() - start) / rounds * 1e9;
                require(*ways[w].result != 'u' || total == rounds, "no increment is lost");
            }
            if (repeats == 1) continue;
            char axes[96];
            snprintf(axes, sizeof axes, "\"way\": \"%s\", \"threads\": %d", ways[w].name, sizes[s]);
            emit(ways[w].result, axes, "ns", took, repeats);
        }
    if (repeats == 1) printf("sums right in teams up to %d\n", sizes[n - 1]);
    return 0;
}
