// A ring as a Cartesian topology, a star as a graph, and a persistent and a non-blocking all-reduce.
#include "lesson.h"
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>  // Open MPI 4.1 has the persistent collectives of MPI 4.0 under another name
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

static void ring(int rank, int size) {
    MPI_Comm comm;
    int left, right, got[2] = {-1, -1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){size}, (int[]){1}, 0, &comm);  // periodic, ranks not reordered
    MPI_Cart_shift(comm, 0, 1, &left, &right);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm);
    require(got[0] == left && got[1] == right, "both neighbours' ranks, the lower first");
    MPI_Comm_free(&comm);
}

// Each rank names its own edges only: rank 0 exchanges with all others, these with rank 0.
static void star(int rank, int size) {
    int degree = rank == 0 ? size - 1 : 1, *peers = malloc((size_t)degree * sizeof *peers);
    int *out = malloc((size_t)degree * sizeof *out), *in = malloc((size_t)degree * sizeof *in);
    int* weights = malloc((size_t)degree * sizeof *weights);
    require(peers != NULL && out != NULL && in != NULL && weights != NULL, "memory");
    for (int i = 0; i < degree; ++i) peers[i] = rank == 0 ? i + 1 : 0;
    for (int i = 0; i < degree; ++i) out[i] = 100 * rank + peers[i];
    for (int i = 0; i < degree; ++i) weights[i] = 1;  // all edges alike
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, peers, weights, degree, peers, weights, MPI_INFO_NULL, 0,
                                   &comm);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < degree; ++i) require(in[i] == 100 * peers[i] + rank, "one value from each neighbour");
    MPI_Comm_free(&comm);
    free(weights);
    free(in);
    free(out);
    free(peers);
}

static void persistent(int rank, int size) {
    // --8<-- [start:persistent]
    double value, sum;
    MPI_Request request;
    MPI_Allreduce_init(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int step = 0; step < 10; ++step) {
        value = rank + step;  // the same buffers each time, new values
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        require(sum == size * (size - 1) / 2.0 + size * step, "the sum of this step");
    }
    MPI_Request_free(&request);
    // --8<-- [end:persistent]
}

static void nonblocking(int rank, int size) {
    int sum, done = 0;
    long tests = 0;
    MPI_Request request;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (; !done; ++tests) MPI_Test(&request, &done, MPI_STATUS_IGNORE);  // and some work between the tests
    require(sum == size * (size - 1) / 2, "the sum of all ranks");
    require(tests >= 1, "completion is seen by a test");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    require(size >= 2, "run with two ranks or more");
    ring(rank, size);
    star(rank, size);
    persistent(rank, size);
    nonblocking(rank, size);
    if (rank == 0) printf("%d ranks: ring, star, persistent and non-blocking all-reduce right\n", size);
    MPI_Finalize();
    return 0;
}
