// A race, and three cures. -fsanitize=thread finds the race; what it says of the cures depends on the runtime.
//
//   gcc -std=c17 -g -O1 -fopenmp -fsanitize=thread -o race race.c && ./race race        (or atomic, reduction, barrier)
#include "lesson.h"

enum { N = 100000 };

int main(int argc, char** argv) {
    const char* way = argc > 1 ? argv[1] : "race";
    static long sum, part[4], seen;
    // --8<-- [start:race]
    if (strcmp(way, "race") == 0) {
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < N; ++i) sum += i;  // read, add, write: another thread may write in between
    }
    // --8<-- [end:race]
    if (strcmp(way, "atomic") == 0) {
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < N; ++i) {
#pragma omp atomic
            sum += i;
        }
    }
    if (strcmp(way, "reduction") == 0) {
#pragma omp parallel for num_threads(4) reduction(+ : sum)
        for (int i = 0; i < N; ++i) sum += i;
    }
    if (strcmp(way, "barrier") == 0) {
#pragma omp parallel num_threads(4)
        {
            int me = omp_get_thread_num();
            for (int i = me; i < N; i += 4) part[me] += i;
#pragma omp barrier
#pragma omp single
            for (int t = 0; t < 4; ++t) seen += part[t];
        }
        sum = seen;
    }
    const long right = (long)N * (N - 1) / 2;
    if (strcmp(way, "race") == 0) {
        printf("race: %s\n", sum == right ? "right, by luck" : "wrong");
        return 0;
    }
    require(sum == right, "the sum");
    printf("%s: right\n", way);
    return 0;
}
