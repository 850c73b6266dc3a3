// Tasks: a wavefront by depend, quicksort with a cut-off, taskloop with a grain size, and a taskgroup's reduction.
//
//   gcc -std=c17 -O2 -fopenmp -o tasks tasks.c && ./tasks
#include "lesson.h"

enum { LENGTH = 512, BLOCK = 64, SIDE = LENGTH / BLOCK, ITEMS = 100000, CUTOFF = 1000 };
static char a[LENGTH], b[LENGTH];
static int table[LENGTH + 1][LENGTH + 1];

static void block(int r, int c) {  // longest common subsequence, one block of the table
    for (int i = r * BLOCK + 1; i <= (r + 1) * BLOCK; ++i)
        for (int j = c * BLOCK + 1; j <= (c + 1) * BLOCK; ++j) {
            int up = table[i - 1][j], left = table[i][j - 1], both = table[i - 1][j - 1] + 1;
            table[i][j] = a[i - 1] == b[j - 1] ? both : up > left ? up : left;
        }
}

static int wavefront(void) {
    static char done[SIDE + 1][SIDE + 1];  // only addresses count
    (void)done;
    memset(table, 0, sizeof table);
#pragma omp parallel num_threads(4)
#pragma omp single
    // --8<-- [start:depend]
    for (int r = 0; r < SIDE; ++r)
        for (int c = 0; c < SIDE; ++c) {
#pragma omp task depend(in : done[r][c + 1], done[r + 1][c]) depend(out : done[r + 1][c + 1])
            block(r, c);
        }
    // --8<-- [end:depend]
    return table[LENGTH][LENGTH];
}

static int by_int(const void* x, const void* y) {
    int p = *(const int*)x, q = *(const int*)y;
    return (p > q) - (p < q);
}

// --8<-- [start:sort]
static void sort(int* v, int n) {
    if (n < CUTOFF) {
        qsort(v, (size_t)n, sizeof *v, by_int);  // small: no task pays
        return;
    }
    int pivot = v[n / 2], i = 0, j = n - 1;
    while (i <= j) {
        while (v[i] < pivot) ++i;
        while (v[j] > pivot) --j;
        if (i <= j) {
            int t = v[i];
            v[i++] = v[j], v[j--] = t;
        }
    }
#pragma omp task
    sort(v, j + 1);
    sort(v + i, n - i);
}
// --8<-- [end:sort]

int main(void) {
    unsigned seed = 1;
    for (int i = 0; i < LENGTH; ++i) {
        seed = seed * 1664525u + 1013904223u, a[i] = (char)('a' + (seed >> 16) % 4);
        seed = seed * 1664525u + 1013904223u, b[i] = (char)('a' + (seed >> 16) % 4);
    }
    int parallel = wavefront();
    memset(table, 0, sizeof table);
    for (int r = 0; r < SIDE; ++r)
        for (int c = 0; c < SIDE; ++c) block(r, c);
    require(parallel == table[LENGTH][LENGTH], "the wavefront");
    printf("wavefront of %d tasks: common subsequence %d, as without tasks\n", SIDE * SIDE, parallel);

    static int v[ITEMS];
    for (int i = 0; i < ITEMS; ++i) seed = seed * 1664525u + 1013904223u, v[i] = (int)(seed >> 8);
#pragma omp parallel num_threads(4)
#pragma omp single
    sort(v, ITEMS);  // the barrier at the end of single waits for all tasks
    for (int i = 1; i < ITEMS; ++i) require(v[i - 1] <= v[i], "sorted");
    printf("quicksort: %d sorted\n", ITEMS);

    long sum = 0, grains = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
#pragma omp taskloop grainsize(1000) reduction(+ : sum)
        for (int i = 0; i < 10000; ++i) sum += i;
#pragma omp taskgroup task_reduction(+ : grains)
        for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : grains)
            grains += i;
        }
    }
    require(sum == 49995000 && grains == 45, "taskloop and taskgroup");
    printf("taskloop %ld, taskgroup %ld\n", sum, grains);
    return 0;
}
