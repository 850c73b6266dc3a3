// What each data-sharing attribute does to a value, and a reduction of one's own.
//
//   gcc -std=c17 -O2 -fopenmp -o attributes attributes.c && ./attributes
#include "lesson.h"

enum { TEAM = 4, N = 1000 };

// clang-format off
// --8<-- [start:own]
struct best {
    double value;
    int at;
};
static struct best least(struct best a, struct best b) {  // of equal values the first
    return b.value < a.value || (b.value == a.value && b.at < a.at) ? b : a;
}
#pragma omp declare reduction(least : struct best : \
    omp_out = least(omp_out, omp_in)) initializer(omp_priv = {1e300, -1})
// --8<-- [end:own]
// clang-format on

static int calls;
#pragma omp threadprivate(calls)

int main(void) {
    int first = 7, last = -1, shared = 0;
#pragma omp parallel for num_threads(TEAM) default(none) firstprivate(first) lastprivate(last) shared(shared)
    for (int i = 0; i < N; ++i) {
        last = first + i;  // each thread has its own `last`; that of the last iteration is copied out
        if (i == 3) {
#pragma omp atomic write
            shared = last;
        }
    }
    require(last == 7 + N - 1 && first == 7 && shared == 10, "firstprivate, lastprivate, shared");
    printf("lastprivate %d, firstprivate outside still %d, shared %d\n", last, first, shared);

    calls = 5;
    int sum = 0;
#pragma omp parallel num_threads(TEAM) copyin(calls) reduction(+ : sum)
    {
        calls += omp_get_thread_num();  // one for each thread, and it lives on
        sum += calls;
    }
    require(sum == 4 * 5 + 6, "copyin");
    int again = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : again)
    again += calls;
    printf("threadprivate: %d, in the next region still %d\n", sum, again);
    require(again == sum, "threadprivate persists");

    double v[N];
    for (int i = 0; i < N; ++i) v[i] = (i * 37 % 101) + (i < 500);
    struct best best = {1e300, -1};
    // --8<-- [start:use]
#pragma omp parallel for num_threads(TEAM) reduction(least : best)
    for (int i = 0; i < N; ++i)
        if (v[i] < best.value) best = (struct best){v[i], i};
    // --8<-- [end:use]
    printf("least %.0f at %d\n", best.value, best.at);
    require(best.value == 0 && best.at == 505, "the first of the least");

    int histogram[8] = {0};
#pragma omp parallel for num_threads(TEAM) reduction(+ : histogram[:8])
    for (int i = 0; i < N; ++i) ++histogram[i % 8];
    for (int b = 0; b < 8; ++b) require(histogram[b] == N / 8, "reduction of an array section");
    printf("array reduction: 8 bins of %d\n", histogram[0]);
    return 0;
}
