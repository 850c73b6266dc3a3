// Halo exchange round a ring with Isend/Irecv, messages in order, and a matched probe for an unknown length.
#include "lesson.h"

enum { HALO = 1 << 16, MESSAGES = 4 };

static void exchange_halo(int rank, int size) {
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int *out = malloc(2 * HALO * sizeof *out), *in = malloc(2 * HALO * sizeof *in);
    require(out != NULL && in != NULL, "memory");
    for (int i = 0; i < 2 * HALO; ++i) out[i] = rank;
    // --8<-- [start:halo]
    MPI_Request requests[4];
    MPI_Irecv(in, HALO, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + HALO, HALO, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out + HALO, HALO, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, HALO, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[3]);
    // Work on the inside of the own part belongs here; in and out are MPI's until the wait.
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    // --8<-- [end:halo]
    for (int i = 0; i < HALO; ++i) require(in[i] == left && in[HALO + i] == right, "halos of both neighbours");
    free(in);
    free(out);
}

// Two messages of one sender that match the same receive arrive in the order in which they were sent.
static void keep_order(int rank) {
    for (int i = 0; i < MESSAGES && rank == 0; ++i) MPI_Send(&i, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    for (int i = 0, got; i < MESSAGES && rank == 1; ++i) {
        MPI_Recv(&got, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        require(got == i, "messages of one sender do not overtake");
    }
}

// How long is it, and from whom? Mprobe takes the message out of matching, so no other thread can receive it.
static void take_unknown(int rank, int size) {
    if (rank != 0) {
        double values[8] = {0};
        values[0] = rank;
        MPI_Send(values, 1 + rank % 8, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < size; ++i) {
        MPI_Message message;
        MPI_Status status;
        int count;
        MPI_Mprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        double* values = malloc((size_t)count * sizeof *values);
        require(values != NULL, "memory");
        MPI_Mrecv(values, count, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        require(values[0] == status.MPI_SOURCE && count == 1 + status.MPI_SOURCE % 8, "length and sender");
        free(values);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    require(size >= 2, "run with two ranks or more");
    exchange_halo(rank, size);
    keep_order(rank);
    take_unknown(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d ranks: halos right, order kept, lengths found\n", size);
    MPI_Finalize();
    return 0;
}
