"""From what `nvshmem_put.cu` printed to its record."""
