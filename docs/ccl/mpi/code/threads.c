// Four threads in each of two ranks call MPI at once, each over a communicator of its own.
#include <pthread.h>

#include "lesson.h"

enum { THREADS = 4, ROUNDS = 200 };

struct work {
    MPI_Comm comm;
    int number;
    long sum;
};

static void* bounce(void* argument) {
    struct work* work = argument;
    int rank = rank_of(work->comm), value;
    for (int i = 0; i < ROUNDS; ++i) {
        int out = 1000 * work->number + i;
        MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 0, &value, 1, MPI_INT, 1 - rank, 0, work->comm, MPI_STATUS_IGNORE);
        require(value == out, "the same thread of the other rank");
        work->sum += value;
    }
    return NULL;
}

int main(int argc, char** argv) {
    // --8<-- [start:level]
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    require(provided >= MPI_THREAD_MULTIPLE, "this library gives MPI_THREAD_MULTIPLE");
    // --8<-- [end:level]
    require(size_of(MPI_COMM_WORLD) == 2, "run with two ranks");
    pthread_t threads[THREADS];
    struct work work[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        work[i] = (struct work){MPI_COMM_NULL, i, 0};
        MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm);  // collective: by one thread, in the same order on all ranks
    }
    for (int i = 0; i < THREADS; ++i) require(pthread_create(&threads[i], NULL, bounce, &work[i]) == 0, "a thread");
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
        require(work[i].sum == 1000L * i * ROUNDS + (long)ROUNDS * (ROUNDS - 1) / 2, "all messages");
        MPI_Comm_free(&work[i].comm);
    }
    if (rank_of(MPI_COMM_WORLD) == 0) printf("MPI_THREAD_MULTIPLE: %d threads in each rank, all right\n", THREADS);
    MPI_Finalize();
    return 0;
}
