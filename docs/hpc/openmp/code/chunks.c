// Which thread gets which iteration: static is fixed, dynamic and guided fix the chunks only.
//
//   gcc -std=c17 -O2 -fopenmp -o chunks chunks.c && ./chunks
#include "lesson.h"

enum { TEAM = 4, N = 24 };
static int owner[N];

static void run(omp_sched_t kind, int chunk) {
    omp_set_schedule(kind, chunk);
#pragma omp parallel for num_threads(TEAM) schedule(runtime)
    for (int i = 0; i < N; ++i) owner[i] = omp_get_thread_num();
}

static void map(const char* name) {
    printf("%-10s ", name);
    for (int i = 0; i < N; ++i) printf("%d", owner[i]);
    printf("\n");
}

// Of each predicted chunk one thread runs all iterations; LARGEST: of libgomp's guided, ceil(rest / threads).
static void chunks(const char* name, bool guided, int least) {
    printf("%-10s chunks of", name);
    for (int start = 0; start < N;) {
        int rest = N - start, size = guided ? (rest + TEAM - 1) / TEAM : least;
        if (size < least) size = least;
        if (size > rest) size = rest;
        for (int i = start; i < start + size; ++i) require(owner[i] == owner[start], "a chunk has one owner");
        printf(" %d", size);
        start += size;
    }
    printf("\n");
}

int main(void) {
    run(omp_sched_static, 0), map("static");
    for (int i = 0; i < N; ++i) require(owner[i] == i / (N / TEAM), "static: blocks");
    run(omp_sched_static, 1), map("static,1");
    for (int i = 0; i < N; ++i) require(owner[i] == i % TEAM, "static,1: in turn");
    run(omp_sched_static, 3), map("static,3");
    for (int i = 0; i < N; ++i) require(owner[i] == i / 3 % TEAM, "static,3: in turn");
    for (int again = 0; again < 50; ++again) {
        run(omp_sched_dynamic, 5);
        for (int i = 0; i < N; ++i) require(owner[i] == owner[i / 5 * 5], "dynamic,5");
    }
    chunks("dynamic,5", false, 5);
    run(omp_sched_guided, 2), chunks("guided,2", true, 2);
    // collapse makes one loop of 3 x 8; ordered runs its block in the order of the loop.
    int order[N], at = 0;
#pragma omp parallel for num_threads(TEAM) collapse(2) ordered schedule(dynamic)
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 8; ++j) {
#pragma omp ordered
            order[at++] = i * 8 + j;
        }
    for (int i = 0; i < N; ++i) require(order[i] == i, "ordered");
    printf("ordered    %d blocks in the order of the loop\n", at);
    return 0;
}
