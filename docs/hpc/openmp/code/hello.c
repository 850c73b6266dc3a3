// Fork and join: who runs what, what a nested region gets, and whom a setting reaches.
//
//   gcc -std=c17 -O2 -fopenmp -o hello hello.c && ./hello
#include "lesson.h"

enum { TEAM = 4 };

int main(void) {
    // --8<-- [start:fork]
    int number[TEAM], inner[TEAM], after[TEAM];
#pragma omp parallel num_threads(TEAM)
    {
        int me = omp_get_thread_num();  // declared inside: private
        number[me] = me;
        omp_set_num_threads(me + 10);  // changes the ICV of this implicit task alone
        after[me] = omp_get_max_threads();
#pragma omp parallel
#pragma omp single
        inner[me] = omp_get_num_threads();
    }
    // --8<-- [end:fork]
    for (int i = 0; i < TEAM; ++i) {
        require(number[i] == i && after[i] == i + 10, "each thread has its own setting");
        printf("thread %d of %d, asked for %d, nested region got %d\n", number[i], TEAM, after[i], inner[i]);
        require(inner[i] == 1, "one active level");
    }
    omp_set_max_active_levels(2);
    int deep = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
#pragma omp atomic
    ++deep;
    printf("with two active levels, 2 x 3 threads: %d\n", deep);
    require(deep == 6, "two levels");
    printf("_OPENMP %d, outside: thread %d of %d, level %d\n", _OPENMP, omp_get_thread_num(), omp_get_num_threads(),
           omp_get_level());
    return 0;
}
