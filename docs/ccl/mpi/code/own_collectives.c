// Ring all-reduce and binomial-tree broadcast from Send and Recv alone, checked against the library's.
#include <string.h>

#include "lesson.h"

static long sent;  // elements that this rank sent

// Chunk i of `count` elements cut into `size` chunks whose lengths differ by one at most.
static int begin_of(int i, int count, int size) { return (int)((long long)i * count / size); }

// --8<-- [start:ring]
// First each chunk is summed on its way round the ring (reduce-scatter), then handed round (all-gather).
static void ring_allreduce(double* data, int count, MPI_Comm comm) {
    int rank = rank_of(comm), size = size_of(comm);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double* incoming = malloc((size_t)(count / size + 1) * sizeof *incoming);
    require(incoming != NULL, "memory");
    for (int step = 0; step < 2 * (size - 1); ++step) {
        bool reducing = step < size - 1;
        int out = (rank - step + 2 * size) % size;  // the chunk that came in the step before
        int in = (out + size - 1) % size;
        int out_begin = begin_of(out, count, size), out_count = begin_of(out + 1, count, size) - out_begin;
        int in_begin = begin_of(in, count, size), in_count = begin_of(in + 1, count, size) - in_begin;
        MPI_Sendrecv(data + out_begin, out_count, MPI_DOUBLE, right, 0, incoming, in_count, MPI_DOUBLE, left, 0, comm,
                     MPI_STATUS_IGNORE);
        sent += out_count;
        for (int i = 0; i < in_count; ++i) {
            if (reducing) {
                data[in_begin + i] += incoming[i];
            } else {
                data[in_begin + i] = incoming[i];
            }
        }
    }
    free(incoming);
}
// --8<-- [end:ring]

// --8<-- [start:tree]
// Who has the data doubles with each step: ceil(log2 n) steps, any n, any root.
static void tree_broadcast(double* data, int count, int root, MPI_Comm comm) {
    int size = size_of(comm), me = (rank_of(comm) - root + size) % size;
    for (int reach = 1; reach < size; reach *= 2) {
        if (me < reach && me + reach < size) {
            MPI_Send(data, count, MPI_DOUBLE, (me + reach + root) % size, 0, comm);
            sent += count;
        } else if (me >= reach && me < 2 * reach) {
            MPI_Recv(data, count, MPI_DOUBLE, (me - reach + root) % size, 0, comm, MPI_STATUS_IGNORE);
        }
    }
}
// --8<-- [end:tree]

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    static const int counts[] = {1, 3, 1000, 100003};  // fewer elements than ranks, and no multiple of them
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; ++c) {
        int count = counts[c];
        double *own = malloc((size_t)count * sizeof *own), *theirs = malloc((size_t)count * sizeof *theirs);
        require(own != NULL && theirs != NULL, "memory");
        // Whole numbers: the sum is exact in any order. With fractions the last bits would depend on the algorithm.
        for (int i = 0; i < count; ++i) own[i] = theirs[i] = (rank + 1) * (i % 97);
        sent = 0;
        ring_allreduce(own, count, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, theirs, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        require(memcmp(own, theirs, (size_t)count * sizeof *own) == 0, "ring_allreduce equals MPI_Allreduce");
        long in_all = 0;
        MPI_Reduce(&sent, &in_all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
        require(rank != 0 || in_all == 2L * (size - 1) * count, "2(n-1)/n of the data per rank, on average");
        if (rank == 0) printf("ring all-reduce, %6d elements: %ld sent by %d ranks\n", count, in_all, size);

        for (int root = 0; root < size; ++root) {
            for (int i = 0; i < count; ++i) own[i] = theirs[i] = rank == root ? root + 0.5 * i : -1;
            sent = 0;
            tree_broadcast(own, count, root, MPI_COMM_WORLD);
            MPI_Bcast(theirs, count, MPI_DOUBLE, root, MPI_COMM_WORLD);
            require(memcmp(own, theirs, (size_t)count * sizeof *own) == 0, "tree_broadcast equals MPI_Bcast");
            MPI_Reduce(&sent, &in_all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
            require(rank != 0 || in_all == (long)(size - 1) * count, "n-1 copies");
        }
        free(theirs);
        free(own);
    }
    if (rank == 0) printf("tree broadcast: right from every root\n");
    MPI_Finalize();
    return 0;
}
