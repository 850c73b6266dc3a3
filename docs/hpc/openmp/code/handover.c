// One thread hands a value to another: data, then a flag by an atomic release; and one named critical for each list.
//
//   gcc -std=c17 -O2 -fopenmp -o handover handover.c && ./handover
#include "lesson.h"

enum { ROUNDS = 2000, ITEMS = 10000 };

static int data, flag;

// --8<-- [start:producer]
static void give(int i) {
    data = i;
#pragma omp atomic write release
    flag = i;  // whoever sees i sees data too
}
// --8<-- [end:producer]

// --8<-- [start:consumer]
static int take(int i) {
    int seen = 0;
    while (seen != i) {
#pragma omp atomic read acquire
        seen = flag;
    }
    return data;
}
// --8<-- [end:consumer]

static void wait_until_taken(void) {
    int seen = 1;
    while (seen > 0) {
#pragma omp atomic read acquire
        seen = flag;
    }
}

int main(void) {
    int wrong = 0, got;
#pragma omp parallel num_threads(2)
    {
        require(omp_get_num_threads() == 2, "two threads");
        for (int i = 1; i <= ROUNDS; ++i)
            if (omp_get_thread_num() == 0) {
                give(i);
                wait_until_taken();
            } else {
                if (take(i) != i) ++wrong;
#pragma omp atomic write release
                flag = -i;
            }
    }
    require(wrong == 0, "acquire and release");
    printf("%d handovers, %d wrong\n", ROUNDS, wrong);

    long even = 0, odd = 0, once = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for nowait
        for (int i = 0; i < ITEMS; ++i) {
            if (i % 2) {
#pragma omp critical(odd_list)
                ++odd;
            } else {
#pragma omp critical(even_list)
                ++even;
            }
        }
#pragma omp barrier
#pragma omp single
        ++once;  // single ends with a barrier: nobody goes on before
#pragma omp masked
        ++once;  // by thread 0, no barrier
    }
    require(even == ITEMS / 2 && odd == ITEMS / 2 && once == 2, "critical, single, masked");
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_set_lock(&lock);
    got = omp_test_lock(&lock);  // would not wait; a second omp_set_lock by the owner would wait for ever
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
    printf("even %ld, odd %ld, single and masked once each, a taken lock tests as %d\n", even, odd, got);
    require(got == 0, "a simple lock is not nestable");
    return 0;
}
