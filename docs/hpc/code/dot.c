// One small function, to be read in the assembly of several machines.
float dot(const float* x, const float* y, long n) {
    float sum = 0;
    for (long i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}
