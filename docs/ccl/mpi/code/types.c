// Derived types: a column, a block of a matrix, and an array of structures, each sent without packing by hand.
#include <stddef.h>

#include "lesson.h"

enum { ROWS = 6, COLUMNS = 8, PARTICLES = 5 };

struct particle {
    double position[3];
    int id;
};

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_of(MPI_COMM_WORLD);
    require(size_of(MPI_COMM_WORLD) == 2, "run with two ranks");
    int matrix[ROWS][COLUMNS];
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j) matrix[i][j] = rank == 0 ? 100 * i + j : -1;

    // A column: one element from each row. It is received as ROWS plain integers: types match by their elements.
    // --8<-- [start:vector]
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column);
    MPI_Type_commit(&column);
    // --8<-- [end:vector]
    if (rank == 0) {
        MPI_Send(&matrix[0][2], 1, column, 1, 0, MPI_COMM_WORLD);
    } else {
        int values[ROWS];
        MPI_Recv(values, ROWS, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS; ++i) require(values[i] == 100 * i + 2, "the third column");
    }

    // A block of 3 x 4 that begins at row 2, column 1, on both sides.
    MPI_Datatype block;
    MPI_Type_create_subarray(2, (int[]){ROWS, COLUMNS}, (int[]){3, 4}, (int[]){2, 1}, MPI_ORDER_C, MPI_INT, &block);
    MPI_Type_commit(&block);
    if (rank == 0) {
        MPI_Send(matrix, 1, block, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(matrix, 1, block, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROWS; ++i)
            for (int j = 0; j < COLUMNS; ++j) {
                bool inside = i >= 2 && i < 5 && j >= 1 && j < 5;
                require(matrix[i][j] == (inside ? 100 * i + j : -1), "the block, and nothing beside it");
            }
    }

    // A structure with padding: resized to sizeof, so that the next element begins where C puts it.
    MPI_Datatype fields, particle;
    MPI_Type_create_struct(2, (int[]){3, 1},
                           (MPI_Aint[]){offsetof(struct particle, position), offsetof(struct particle, id)},
                           (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(struct particle), &particle);
    MPI_Type_commit(&particle);
    struct particle all[PARTICLES] = {0};
    for (int i = 0; rank == 0 && i < PARTICLES; ++i) all[i] = (struct particle){{i, 2 * i, 3 * i}, 10 + i};
    MPI_Bcast(all, PARTICLES, particle, 0, MPI_COMM_WORLD);
    for (int i = 0; i < PARTICLES; ++i) require(all[i].id == 10 + i && all[i].position[2] == 3 * i, "all particles");

    int size_in_message;
    MPI_Aint lower, extent;
    MPI_Type_size(particle, &size_in_message);
    MPI_Type_get_extent(particle, &lower, &extent);
    if (rank == 0) printf("particle: %d B of data, one every %ld B in memory\n", size_in_message, (long)extent);
    MPI_Type_free(&particle);
    MPI_Type_free(&fields);
    MPI_Type_free(&block);
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
