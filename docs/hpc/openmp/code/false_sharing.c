// Each thread increments a long of its own; only the distance between these longs changes.
//
//   gcc -std=c17 -O2 -fopenmp -o false_sharing false_sharing.c && OMP_PROC_BIND=close OMP_PLACES=cores ./false_sharing
//
// increment: wall time of one increment of every thread. Below the size of a line (64 bytes on x86) threads share
// lines.
#include "lesson.h"

enum { REPEATS = 11, MOST = 1024, FARTHEST = 256 };
static _Alignas(4096) char memory[MOST * FARTHEST];
static int repeats = REPEATS;

// --8<-- [start:count]
static void count(int team, size_t distance, long times) {
#pragma omp parallel num_threads(team)
    {
        volatile long* mine = (volatile long*)(memory + (size_t)omp_get_thread_num() * distance);
        for (long i = 0; i < times; ++i) ++*mine;  // volatile: each increment goes to memory, as in a real counter
    }
}
// --8<-- [end:count]

int main(int argc, char** argv) {
    long times = 1000000;
    if (quick(argc, argv)) repeats = 1, times = 1000;
    int sizes[16], n = team_sizes(sizes);
    require(sizes[n - 1] <= MOST, "at most 1024 threads");
    double v[REPEATS];
    for (size_t distance = sizeof(long); distance <= FARTHEST; distance *= 2)
        for (int s = 0; s < n; ++s) {
            memset(memory, 0, sizeof memory);
            count(sizes[s], distance, times);
            for (int r = 0; r < repeats; ++r) {
                double start = omp_get_wtime();
                count(sizes[s], distance, times);
                v[r] = (omp_get_wtime() - start) / (double)times * 1e9;
            }
            for (int t = 0; t < sizes[s]; ++t)
                require(*(long*)(memory + (size_t)t * distance) == times * (repeats + 1), "no increment is lost");
            char axes[64];
            snprintf(axes, sizeof axes, "\"distance\": %zu, \"threads\": %d", distance, sizes[s]);
            if (repeats > 1) emit("increment", axes, "ns", v, repeats);
        }
    if (repeats == 1) printf("every counter right: false sharing is slow, not wrong\n");
    return 0;
}
