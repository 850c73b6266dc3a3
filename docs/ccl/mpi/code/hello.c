// Who am I, how many are we, which MPI is this, and how is a communicator divided?
#include <string.h>

#include "lesson.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    if (rank == 0) {
        int version, subversion, length;
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        MPI_Get_version(&version, &subversion);
        MPI_Get_library_version(library, &length);
        printf("MPI %d.%d by %.*s\n", version, subversion, (int)strcspn(library, ",\n"), library);
        fflush(stdout);
    }
    // --8<-- [start:split]
    // Same colour, same new communicator; the key orders the ranks in it. Here: evens and odds, from the back.
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    // --8<-- [end:split]

    // Lines of several ranks come in any order; so rank 0 collects and prints them all.
    int mine[3] = {rank_of(half), size_of(half), sum};
    int* all = malloc((size_t)size * sizeof mine);
    require(all != NULL, "memory");
    MPI_Gather(mine, 3, MPI_INT, all, 3, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i) {
        int *one = all + 3 * i, expected = 0;
        for (int j = i % 2; j < size; j += 2) expected += j;
        require(one[2] == expected, "the sum of each half");
        printf("rank %d of %d: in its half rank %d of %d, sum of world ranks %d\n", i, size, one[0], one[1], one[2]);
    }
    free(all);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
