// Half the round trip of messages from 1 B to 4 MiB between two ranks, every byte checked.
#include <string.h>

#include "lesson.h"

enum { LARGEST = 4 << 20, ROUNDS = 101 };

static int compare(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void bounce(char* buffer, int bytes, int rank) {
    if (rank == 0) {
        MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_of(MPI_COMM_WORLD);
    require(size_of(MPI_COMM_WORLD) == 2, "run with two ranks");
    char *buffer = malloc(LARGEST), *sent = malloc(LARGEST);
    require(buffer != NULL && sent != NULL, "memory");
    for (int i = 0; i < LARGEST; ++i) sent[i] = (char)(i * 31 + i / 256);
    if (rank == 0) printf("%10s %12s %12s\n", "bytes", "median us", "GB/s");
    for (int bytes = 1; bytes <= LARGEST; bytes *= 4) {
        double times[ROUNDS];
        memset(buffer, 0, (size_t)bytes);
        if (rank == 0) memcpy(buffer, sent, (size_t)bytes);
        for (int i = 0; i < 10; ++i) bounce(buffer, bytes, rank);  // warm up: connections, pages
        for (int i = 0; i < ROUNDS; ++i) {
            double start = MPI_Wtime();
            bounce(buffer, bytes, rank);
            times[i] = (MPI_Wtime() - start) / 2;
        }
        require(memcmp(buffer, sent, (size_t)bytes) == 0, "the bytes that were sent");
        qsort(times, ROUNDS, sizeof times[0], compare);
        double median = times[ROUNDS / 2];
        if (rank == 0) printf("%10d %12.2f %12.3f\n", bytes, median * 1e6, bytes / median / 1e9);
    }
    free(sent);
    free(buffer);
    MPI_Finalize();
    return 0;
}
