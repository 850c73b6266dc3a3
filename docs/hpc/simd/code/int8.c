// Eight-bit dot products: pairs in AVX2 (which saturate), quads in VNNI, whole tiles in AMX.
//
//   int8 [--time]
#include "bench.h"

#ifndef __x86_64__
int main(void) {
    puts("skipped: for x86-64 only");
    return 0;
}
#else
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>

enum { N = 4096, TILE_ROWS = 16, TILE_BYTES = 64 };
#define AVX2 __attribute__((target("avx2")))
#define VNNI __attribute__((target("avx512f,avx512vl,avx512vnni")))
#define AMX __attribute__((target("amx-tile,amx-int8")))

static int32_t dot_scalar(int n, const uint8_t* a, const int8_t* b) {
    int32_t sum = 0;
    for (int i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}
// --8<-- [start:maddubs]
AVX2 static int32_t dot_maddubs(int n, const uint8_t* a, const int8_t* b) {
    __m256i sum = _mm256_setzero_si256(), ones = _mm256_set1_epi16(1);
    for (int i = 0; i < n; i += 32) {
        __m256i va = _mm256_loadu_si256((const void*)(a + i)), vb = _mm256_loadu_si256((const void*)(b + i));
        __m256i pairs = _mm256_maddubs_epi16(va, vb);  // a0 b0 + a1 b1 in 16 bits: saturates above 32767
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
    }
    // --8<-- [end:maddubs]
    int32_t lane[8], total = 0;
    _mm256_storeu_si256((void*)lane, sum);
    for (int k = 0; k < 8; ++k) total += lane[k];
    return total;
}
// The safe way without VNNI: widen to 16 bits first, at half the rate.
AVX2 static int32_t dot_widen(int n, const uint8_t* a, const int8_t* b) {
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < n; i += 16) {
        __m256i va = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void*)(a + i)));
        __m256i vb = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void*)(b + i)));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(va, vb));
    }
    int32_t lane[8], total = 0;
    _mm256_storeu_si256((void*)lane, sum);
    for (int k = 0; k < 8; ++k) total += lane[k];
    return total;
}
// --8<-- [start:vnni]
VNNI static int32_t dot_vnni(int n, const uint8_t* a, const int8_t* b) {
    __m512i sum[4];
    for (int k = 0; k < 4; ++k) sum[k] = _mm512_setzero_si512();
    for (int i = 0; i < n; i += 256)
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k)  // four products of a lane are added in 32 bits: nothing saturates
            sum[k] =
                _mm512_dpbusd_epi32(sum[k], _mm512_loadu_si512(a + i + 64 * k), _mm512_loadu_si512(b + i + 64 * k));
    // --8<-- [end:vnni]
    return _mm512_reduce_add_epi32(
        _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3])));
}

// ---- AMX: eight tiles of 16 rows of 64 bytes
// --8<-- [start:amx]
static bool amx_allowed(void) {  // Linux: the process must ask before its first tile instruction
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 24 & 1) || !(d >> 25 & 1)) return false;
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

// c (16 x 16, int32) += a (16 x 64, uint8) times b; b holds four consecutive k side by side: b[k / 4][4 j + k % 4].
AMX static void tile_multiply(const uint8_t* a, const int8_t* b, int32_t* c) {
    struct tile_config config = {.palette = 1};
    for (int t = 0; t < 3; ++t) config.row_bytes[t] = TILE_BYTES, config.rows[t] = TILE_ROWS;
    _tile_loadconfig(&config);
    _tile_loadd(0, c, TILE_BYTES);
    _tile_loadd(1, a, TILE_BYTES);
    _tile_loadd(2, b, TILE_BYTES);
    _tile_dpbusd(0, 1, 2);  // 16 x 16 x 64 multiply-adds
    _tile_stored(0, c, TILE_BYTES);
    _tile_release();
}
// --8<-- [end:amx]

AMX static void tile_loop(const uint8_t* a, const int8_t* b, int32_t* c, int rounds) {
    struct tile_config config = {.palette = 1};
    for (int t = 0; t < 8; ++t) config.row_bytes[t] = TILE_BYTES, config.rows[t] = TILE_ROWS;
    _tile_loadconfig(&config);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_loadd(4, a, TILE_BYTES);
    _tile_loadd(5, a + 1024, TILE_BYTES);
    _tile_loadd(6, b, TILE_BYTES);
    _tile_loadd(7, b + 1024, TILE_BYTES);
    for (int i = 0; i < rounds; ++i) {
        _tile_dpbusd(0, 4, 6);
        _tile_dpbusd(1, 4, 7);
        _tile_dpbusd(2, 5, 6);
        _tile_dpbusd(3, 5, 7);
    }
    _tile_stored(0, c, TILE_BYTES);
    _tile_release();
}

static void check_amx(void) {
    static uint8_t a[TILE_ROWS][TILE_BYTES];
    static int8_t b[TILE_BYTES][16], packed[TILE_ROWS][TILE_BYTES];
    static int32_t c[16][16];
    uint32_t state = 5;
    for (int i = 0; i < TILE_ROWS; ++i)
        for (int k = 0; k < TILE_BYTES; ++k) a[i][k] = (uint8_t)noise(&state), b[k][i] = (int8_t)noise(&state);
    for (int k = 0; k < TILE_BYTES; ++k)
        for (int j = 0; j < 16; ++j) packed[k / 4][4 * j + k % 4] = b[k][j];
    tile_multiply(&a[0][0], &packed[0][0], &c[0][0]);
    for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 16; ++j) {
            int32_t sum = 0;
            for (int k = 0; k < TILE_BYTES; ++k) sum += a[i][k] * b[k][j];
            require(c[i][j] == sum, "the tile product");
        }
}

static void time_dot(const char* way, int32_t (*dot)(int, const uint8_t*, const int8_t*), const uint8_t* a,
                     const int8_t* b) {
    double v[REPEATS];
    char labels[64];
    volatile int32_t sink;
    for (int k = 0; k < REPEATS; ++k) {
        double start = seconds();
        for (int j = 0; j < 1000; ++j) sink = dot(N, a, b);
        v[k] = 2e-9 * N * 1000 / (seconds() - start);
    }
    (void)sink;
    snprintf(labels, sizeof labels, "\"way\": \"%s\"", way);
    emit("int8", labels, "GOP/s", v, REPEATS);
}

int main(int argc, char** argv) {
    bool timing = asked(argc, argv, "--time");
    uint8_t* a = lines(N);
    int8_t* b = lines(N);
    uint32_t state = 9;
    for (int i = 0; i < N; ++i) a[i] = (uint8_t)(noise(&state) & 127), b[i] = (int8_t)noise(&state);
    bool avx2 = __builtin_cpu_supports("avx2"), vnni = __builtin_cpu_supports("avx512vnni"), amx = amx_allowed();
    int32_t exact = dot_scalar(N, a, b);
    if (avx2) require(dot_maddubs(N, a, b) == exact && dot_widen(N, a, b) == exact, "AVX2");
    if (vnni) require(dot_vnni(N, a, b) == exact, "VNNI");
    if (amx) check_amx();
    if (timing) {
        time_dot("scalar", dot_scalar, a, b);
        if (avx2) time_dot("AVX2, widened", dot_widen, a, b);
        if (avx2) time_dot("AVX2, pairs", dot_maddubs, a, b);
        if (vnni) time_dot("AVX512-VNNI", dot_vnni, a, b);
        double v[REPEATS];
        static int32_t c[256];
        for (int k = 0; amx && k < REPEATS; ++k) {
            double start = seconds();
            tile_loop(a, b, c, 100000);
            v[k] = 2e-9 * 16 * 16 * 64 * 4 * 100000 / (seconds() - start);
        }
        if (amx) emit("int8", "\"way\": \"AMX tiles in registers\"", "GOP/s", v, REPEATS);
        return 0;
    }
    memset(a, 255, N), memset(b, 127, N);
    printf("255 times 127, %d of them: %d\n", N, dot_scalar(N, a, b));
    if (avx2) printf("AVX2, pairs in 16 bits:    %d\n", dot_maddubs(N, a, b));
    if (avx2) require(dot_widen(N, a, b) == N * 255 * 127, "widened");
    if (vnni) printf("AVX512-VNNI:               %d\n", dot_vnni(N, a, b));
    puts(amx ? "AMX: the tile product is right" : "AMX: skipped, the processor or the system has it not");
    return 0;
}
#endif
