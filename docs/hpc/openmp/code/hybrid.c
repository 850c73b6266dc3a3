// Two levels: ranks share out the range, threads of each rank share out its part; one thread of each rank calls MPI.
//
//   mpicc -std=c17 -O2 -fopenmp -o hybrid hybrid.c && OMP_NUM_THREADS=3 mpirun -n 2 --bind-to none ./hybrid
#include <math.h>
#include <mpi.h>

#include "lesson.h"

int main(int argc, char** argv) {
    // --8<-- [start:hybrid]
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (provided < MPI_THREAD_FUNNELED) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long steps = 6000000, first = rank * steps / ranks, last = (rank + 1) * steps / ranks;
    double part = 0, sum = 0;
#pragma omp parallel for reduction(+ : part)
    for (long i = first; i < last; ++i) {
        double x = ((double)i + 0.5) / (double)steps;
        part += 4 / (1 + x * x);
    }
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // outside the region: the main thread
    // --8<-- [end:hybrid]
    double pi = sum / (double)steps;
    if (fabs(pi - acos(-1.0)) > 1e-9) MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0)
        printf("%d ranks x %d threads, level %s: pi %.8f\n", ranks, omp_get_max_threads(),
               provided == MPI_THREAD_FUNNELED     ? "funneled"
               : provided == MPI_THREAD_SERIALIZED ? "serialized"
               : provided == MPI_THREAD_MULTIPLE   ? "multiple"
                                                   : "single",
               pi);
    MPI_Finalize();
    return 0;
}
