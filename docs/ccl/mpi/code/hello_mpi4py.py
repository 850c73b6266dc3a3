"""MPI from Python: lower-case methods pickle any object, upper-case ones send a buffer as it is."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI


def main() -> None:
    """Check one of each kind over all ranks."""
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()

    settings = comm.bcast({"steps": 3, "name": "pickled"} if rank == 0 else None, root=0)
    assert settings == {"steps": 3, "name": "pickled"}

    # The array goes as it lies in memory: no copy into Python objects.
    data = np.full(1000, rank + 1, dtype=np.float64)
    total = np.empty_like(data)
    comm.Allreduce(data, total, op=MPI.SUM)
    assert np.all(total == size * (size + 1) / 2)

    received = np.empty(1, dtype=np.int64)
    request = comm.Irecv(received, source=(rank - 1) % size)
    comm.Send(np.array([rank]), dest=(rank + 1) % size)
    request.Wait()
    assert received[0] == (rank - 1) % size
    if rank == 0:
        print(f"mpi4py: {size} ranks, an object, an array and a message round the ring")


if __name__ == "__main__":
    main()
