// y = a x + y on a device, or on the host where there is none; and where it ran.
//
//   gcc -std=c17 -O2 -fopenmp -o offload offload.c && ./offload          (OMP_TARGET_OFFLOAD=mandatory: no fallback)
#include "lesson.h"

enum { N = 1 << 16 };

int main(void) {
    static float x[N], y[N];
    for (int i = 0; i < N; ++i) x[i] = (float)i, y[i] = 1;
    float a = 2;
    int host = -1, teams = 0;
    // --8<-- [start:saxpy]
    // x goes over, y goes over and back; a is a scalar, so firstprivate
#pragma omp target teams distribute parallel for map(to : x) map(tofrom : y)
    for (int i = 0; i < N; ++i) y[i] = a * x[i] + y[i];
        // --8<-- [end:saxpy]
#pragma omp target map(from : host)
    host = omp_is_initial_device();
    for (int i = 0; i < N; ++i) require(y[i] == 2 * (float)i + 1, "saxpy");

        // A data region: x and y stay on the device for ten kernels, and go over once.
#pragma omp target data map(to : x) map(tofrom : y)
    for (int k = 0; k < 10; ++k) {
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; ++i) y[i] += x[i];
    }
    for (int i = 0; i < N; ++i) require(y[i] == 12 * (float)i + 1, "ten more");
    // A scalar without map is a copy in the region: it stays as it was, on a device and on the host.
    int scalar = 1;
#pragma omp target
    scalar = 2;
    require(scalar == 1, "a scalar is firstprivate in target, even on the host");
#pragma omp target teams map(from : teams)
    if (omp_get_team_num() == 0) teams = omp_get_num_teams();
    printf("%d devices, ran on the %s, %s; scalar without map still %d\n", omp_get_num_devices(),
           host ? "host" : "device", teams == 1 ? "one team" : "several teams", scalar);
    return 0;
}
