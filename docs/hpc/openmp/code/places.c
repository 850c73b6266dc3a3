// Places, and the place of each thread of a team.
//
//   gcc -std=c17 -O2 -fopenmp -o places places.c && OMP_PLACES=cores OMP_PROC_BIND=spread OMP_NUM_THREADS=4 ./places
#define _GNU_SOURCE
#include <sched.h>

#include "lesson.h"

int main(void) {
    int team = omp_get_max_threads(), places = omp_get_num_places();
    printf("%d processors, %d places, proc_bind %d\n", omp_get_num_procs(), places, (int)omp_get_proc_bind());
    for (int p = 0; p < places; ++p) {
        int n = omp_get_place_num_procs(p), ids[n];
        omp_get_place_proc_ids(p, ids);
        printf("place %d:", p);
        for (int i = 0; i < n; ++i) printf(" %d", ids[i]);
        printf("\n");
    }
    int *place = calloc((size_t)team, sizeof *place), *cpu = calloc((size_t)team, sizeof *cpu);
    require(place && cpu, "memory");
#pragma omp parallel num_threads(team)
    {
        place[omp_get_thread_num()] = omp_get_place_num();
        cpu[omp_get_thread_num()] = sched_getcpu();
    }
    for (int t = 0; t < team; ++t) {
        bool inside = place[t] < 0;
        if (!inside) {
            int n = omp_get_place_num_procs(place[t]), ids[n];
            omp_get_place_proc_ids(place[t], ids);
            for (int i = 0; i < n; ++i) inside = inside || ids[i] == cpu[t];
        }
        require(inside, "a bound thread runs in its place");
        printf("thread %d: %s %d\n", t, place[t] < 0 ? "not bound, ran on" : "place", place[t] < 0 ? cpu[t] : place[t]);
    }
    free(place), free(cpu);
    return 0;
}
