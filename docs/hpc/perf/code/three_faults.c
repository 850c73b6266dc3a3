/* Counts words in a file with two threads; three faults are planted and can be repaired.
 *
 * gcc -O2 -g -fno-omit-frame-pointer -pthread -o three_faults three_faults.c
 * ./three_faults REPAIRED      0 to 3: how many of the faults are repaired
 *
 * It makes its own data in the current folder and prints a checksum, the same for all four.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RECORD = 16, RECORDS = 1 << 21, WORDS = 2048, THREADS = 2, REPORT = 2048 };

static char vocabulary[WORDS][RECORD];
static long counts[THREADS][WORDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int repaired, progress_file;

static void name(char *out, unsigned word) { snprintf(out, RECORD, "word%011u", word * 7919); }

static void make_data(void) {
    FILE *file = fopen("words.dat", "wb");
    unsigned random = 1;
    for (int i = 0; i < WORDS; i++) name(vocabulary[i], i);
    for (int i = 0; i < RECORDS; i++) {
        random = random * 1664525 + 1013904223;
        fwrite(vocabulary[random >> 16 & (WORDS - 1)], RECORD, 1, file);
    }
    fclose(file);
}

/* --8<-- [start:search] */
__attribute__((noinline)) static int search_all(const char *word) {
    for (int i = 0; i < WORDS; i++)
        if (memcmp(vocabulary[i], word, RECORD) == 0) return i;
    return -1;
}
/* --8<-- [end:search] */

/* The names sort as their numbers do, so that halving finds them. */
__attribute__((noinline)) static int search_halves(const char *word) {
    int low = 0, high = WORDS;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (memcmp(vocabulary[middle], word, RECORD) <= 0) low = middle;
        else high = middle;
    }
    return low;
}

/* --8<-- [start:progress] */
__attribute__((noinline)) static void report_progress(long done) {
    pthread_mutex_lock(&lock);
    pwrite(progress_file, &done, sizeof done, 0);
    if (repaired < 1) fdatasync(progress_file);
    pthread_mutex_unlock(&lock);
}
/* --8<-- [end:progress] */

/* --8<-- [start:read] */
__attribute__((noinline)) static void next_record(int file, char *word) {
    static __thread char buffer[1 << 20];
    static __thread size_t at, filled;
    if (repaired < 3) {
        read(file, word, RECORD);
        return;
    }
    if (at == filled) filled = read(file, buffer, sizeof buffer), at = 0;
    memcpy(word, buffer + at, RECORD);
    at += RECORD;
}
/* --8<-- [end:read] */

static void *work(void *argument) {
    long thread = (long)argument, share = RECORDS / THREADS;
    char word[RECORD];
    int file = open("words.dat", O_RDONLY);
    lseek(file, thread * share * RECORD, SEEK_SET);
    for (long i = 1; i <= share; i++) {
        next_record(file, word);
        counts[thread][repaired < 2 ? search_all(word) : search_halves(word)]++;
        if (i % REPORT == 0) report_progress(i);
    }
    close(file);
    return NULL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    unsigned long sum = 0;
    repaired = argc > 1 ? atoi(argv[1]) : 0;
    make_data();
    progress_file = open("progress.dat", O_WRONLY | O_CREAT, 0644);
    double start = now();
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    double seconds = now() - start;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < WORDS; i++) sum = sum * 31 + counts[t][i];
    printf("%d repaired: %.2f s, checksum %lx\n", repaired, seconds, sum);
    return 0;
}
