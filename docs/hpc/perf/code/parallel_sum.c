/* One sum, four kinds of parallelism: chains of additions, vectors, threads, and all of them.
 *
 * gcc -O2 -march=native -fno-tree-vectorize -pthread -o parallel_sum parallel_sum.c && ./parallel_sum
 *
 * Prints additions per nanosecond: the best of many short runs, so that neighbours disturb little.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { N = 2048, RUNS = 400, MOST = 2 }; /* 16 KiB of doubles: they stay in L1 */
typedef double vector __attribute__((vector_size(32)));
typedef double (*sum)(const double *);

static double data[MOST][N] __attribute__((aligned(64)));
static volatile double sink[MOST * 8]; /* a line for each thread */

/* --8<-- [start:chains] */
static double one_chain(const double *x) {
    double s = 0;
    for (int i = 0; i < N; i++) s += x[i];
    return s;
}

static double eight_chains(const double *x) {
    double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
    for (int i = 0; i < N; i += 8) {
        a += x[i], b += x[i + 1], c += x[i + 2], d += x[i + 3];
        e += x[i + 4], f += x[i + 5], g += x[i + 6], h += x[i + 7];
    }
    return ((a + b) + (c + d)) + ((e + f) + (g + h));
}
/* --8<-- [end:chains] */

static double folded(vector s) { return s[0] + s[1] + s[2] + s[3]; }

static double one_vector(const double *x) {
    vector s = {0};
    for (int i = 0; i < N; i += 4) s += *(const vector *)(x + i);
    return folded(s);
}

static double eight_vectors(const double *x) {
    vector a = {0}, b = {0}, c = {0}, d = {0}, e = {0}, f = {0}, g = {0}, h = {0};
    for (int i = 0; i < N; i += 32) {
        const vector *v = (const vector *)(x + i);
        a += v[0], b += v[1], c += v[2], d += v[3];
        e += v[4], f += v[5], g += v[6], h += v[7];
    }
    return folded(((a + b) + (c + d)) + ((e + f) + (g + h)));
}

struct job {
    sum of;
    int thread, repeats;
};

static void *repeat(void *argument) {
    struct job *job = argument;
    for (int r = 0; r < job->repeats; r++) {
        sink[job->thread * 8] = job->of(data[job->thread]);
        __asm__ volatile("" ::: "memory"); /* or the compiler would sum once */
    }
    return NULL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static double rate(sum of, int threads) {
    double best = 0;
    int repeats = 100; /* then as many as last a millisecond, so that a run is rarely interrupted */
    for (int run = 0; run < RUNS; run++) {
        pthread_t others[MOST];
        struct job jobs[MOST];
        double start = now();
        for (int t = 0; t < threads; t++) {
            jobs[t] = (struct job){of, t, repeats};
            if (t) pthread_create(&others[t], NULL, repeat, &jobs[t]);
        }
        repeat(&jobs[0]);
        for (int t = 1; t < threads; t++) pthread_join(others[t], NULL);
        double found = (double)threads * N * repeats / (now() - start);
        if (run > 20 && found > best) best = found;
        if (run == 20) repeats = 1 + (int)(1e6 * found / threads / N);
    }
    return best;
}

int main(void) {
    const struct {
        const char *name;
        sum of;
        int threads;
    } ways[] = {
        {"one chain", one_chain, 1},
        {"eight chains", eight_chains, 1},
        {"one chain of 4-wide vectors", one_vector, 1},
        {"eight chains of vectors", eight_vectors, 1},
        {"one chain, 2 threads", one_chain, 2},
        {"all three", eight_vectors, 2},
    };
    double first = 0;
    for (int t = 0; t < MOST; t++)
        for (int i = 0; i < N; i++) data[t][i] = (i & 7) - 3;
    for (int w = 0; w < 6; w++) {
        double found = rate(ways[w].of, ways[w].threads);
        if (ways[w].of(data[0]) != N / 2) return printf("wrong sum: %s\n", ways[w].name), 1;
        if (!w) first = found;
        printf("%-30s%7.2f per ns%7.1f times\n", ways[w].name, found, found / first);
    }
    return 0;
}
