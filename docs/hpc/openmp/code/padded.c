// Two threads, each with a counter of its own: in one cache line or in two, by plain or by atomic increments.
//
//   gcc -std=c17 -O2 -fopenmp -o padded padded.c && OMP_PROC_BIND=close OMP_PLACES=cores ./padded
//
// increment: wall time of one increment of both threads. Median of 101 repeats of 20,000.
#include "lesson.h"

enum { REPEATS = 101, APART = 64 };
static _Alignas(4096) char memory[2 * APART];
static int repeats = REPEATS;

static void plain(size_t distance, long times) {
#pragma omp parallel num_threads(2)
    {
        volatile long* mine = (volatile long*)(memory + (size_t)omp_get_thread_num() * distance);
        for (long i = 0; i < times; ++i) ++*mine;
    }
}

static void atomic(size_t distance, long times) {
#pragma omp parallel num_threads(2)
    {
        long* mine = (long*)(memory + (size_t)omp_get_thread_num() * distance);
        for (long i = 0; i < times; ++i) {
#pragma omp atomic
            ++*mine;
        }
    }
}

int main(int argc, char** argv) {
    long times = 20000;
    if (quick(argc, argv)) repeats = 1, times = 1000;
    const size_t distances[] = {sizeof(long), APART};
    double v[2][REPEATS];
    for (int way = 0; way < 2; ++way) {
        for (int r = 0; r < repeats; ++r)
            for (int d = 0; d < 2; ++d) {  // in turn, so that both meet the same neighbours
                memset(memory, 0, sizeof memory);
                double start = omp_get_wtime();
                (way ? atomic : plain)(distances[d], times);
                v[d][r] = (omp_get_wtime() - start) / (double)times * 1e9;
                for (int t = 0; t < 2; ++t)
                    require(*(long*)(memory + (size_t)t * distances[d]) == times, "no increment is lost");
            }
        for (int d = 0; d < 2 && repeats > 1; ++d) {
            char axes[64];
            snprintf(axes, sizeof axes, "\"way\": \"%s\", \"distance\": %zu", way ? "atomic" : "plain", distances[d]);
            emit("increment", axes, "ns", v[d], repeats);
        }
    }
    if (repeats == 1) printf("both counters right\n");
    return 0;
}
