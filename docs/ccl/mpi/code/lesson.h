// What every program here shares: a check that ends all ranks, and the world's size and own rank.
#pragma once
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// One rank alone must not return from main: the others would wait for it. MPI_Abort ends them all.
static inline void require(bool holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "failed: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline int rank_of(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static inline int size_of(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    return size;
}
