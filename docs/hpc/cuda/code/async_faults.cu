// arch: 90 100
// What wrong asynchronous copies, tensor maps and cooperative launches answer: one case a process.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o async_faults async_faults.cu && ./async_faults
//
// Without an option every case runs in a child process of its own, because most of these errors end the context. Each
// prints a line {"case": …, "said": …}.
#include <cooperative_groups.h>

#include "hopper.cuh"

#include <sys/wait.h>
#include <unistd.h>

namespace cg = cooperative_groups;

__global__ void cp_async(const char* x, int from, int to, unsigned* out) {
    __shared__ __align__(128) char s[1024];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(s + to)), "l"(x + from) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];
}

// --8<-- [start:zfill]
// 16 bytes at the destination, of which only `take` are read; the others become zero.
__global__ void zero_fill(const char* x, int take, unsigned char* out) {
    __shared__ __align__(16) unsigned char s[16];
    s[threadIdx.x % 16] = 255;
    __syncwarp();
    if (threadIdx.x == 0)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(s)), "l"(x), "r"(take)
                     : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x];
}
// --8<-- [end:zfill]

// The barrier expects `expected` bytes, `bytes` come.
__global__ void bulk(const char* x, int from, int bytes, int expected, unsigned* out) {
    __shared__ __align__(128) char s[4096];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        fence_barriers();
        arrive_expect(&full, expected);
        bulk_copy(s, x + from, bytes, &full);
    }
    __syncthreads();
    wait(&full, 0);
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void box(const __grid_constant__ CUtensorMap map, int x, int y, int shift, unsigned expected, float* out) {
    __shared__ __align__(128) char s[8192];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        barrier_init(&full, 1);
        fence_barriers();
        arrive_expect(&full, expected);
        tensor_copy(s + shift, &map, x, y, &full);
    }
    __syncthreads();
    wait(&full, 0);
    for (int i = threadIdx.x; i < 512; i += blockDim.x) out[i] = reinterpret_cast<float*>(s + shift)[i];
}

__global__ void grid_wait(unsigned* out) {
    cg::this_grid().sync();
    out[threadIdx.x] = 1;
}

struct Map {  // a good one: 256 × 256 floats in boxes of 32 columns and 16 rows
    CUtensorMap map;
    size_t base = 0;
    cuuint64_t sizes[2] = {256, 256}, pitch[1] = {1024};
    cuuint32_t box[2] = {32, 16}, steps[2] = {1, 1};
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    CUresult encode(char* data) {
        void* entry = nullptr;
        cudaDriverEntryPointQueryResult found;
        CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(
            &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data + base, sizes, pitch, box, steps, interleave, swizzle,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
};

static char* data;     // 256 KiB, the floats 0, 1, 2 …
static unsigned* out;  // 8 KiB
static const char* now;

static void say(const std::string& what) {
    std::printf("{\"case\": \"%s\", \"said\": \"%s\"}\n", now, what.c_str());
    std::fflush(stdout);
}

static std::string text(cudaError_t status) {
    return std::string(cudaGetErrorName(status)) + " (" + std::to_string(int(status)) +
           "): " + cudaGetErrorString(status);
}

static void ends() {  // how a launch ends
    const cudaError_t launch = cudaGetLastError();
    say(launch != cudaSuccess ? "launch: " + text(launch) : "then: " + text(cudaDeviceSynchronize()));
}

static void tensor(void (*change)(Map&)) {
    Map m;
    change(m);
    say("cuTensorMapEncodeTiled: CUresult " + std::to_string(int(m.encode(data))));
}

// A box at column x and row y: what came, or how the kernel ended.
static void at(int x, int y) {
    Map m;
    expect(m.encode(data) == CUDA_SUCCESS, "the map");
    box<<<1, 32>>>(m.map, x, y, 0, 2048, reinterpret_cast<float*>(out));
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return say(text(status));
    float got[512];
    CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDefault));
    char line[160];
    std::snprintf(line, sizeof line, "row 0 starts with %g, %g; row 1 with %g; the last word is %g", got[0], got[1],
                  got[32], got[511]);
    say(line);
}

struct Case {
    const char* name;
    void (*run)();
};
static const Case cases[] = {
    {"cp.async 16 B, good", [] { cp_async<<<1, 32>>>(data, 0, 0, out), ends(); }},
    {"cp.async 16 B, global address + 4", [] { cp_async<<<1, 32>>>(data, 4, 0, out), ends(); }},
    {"cp.async 16 B, shared address + 4", [] { cp_async<<<1, 32>>>(data, 0, 4, out), ends(); }},
    {"cp.async 16 B of which 6 are read",
     [] {
         zero_fill<<<1, 32>>>(data + 32, 6, reinterpret_cast<unsigned char*>(out));
         unsigned char got[16];
         CHECK(cudaMemcpy(got, out, 16, cudaMemcpyDefault));
         std::string bytes;
         for (unsigned char b : got) bytes += (bytes.empty() ? "" : " ") + std::to_string(b);
         say(bytes);
     }},
    {"bulk 1024 B, good", [] { bulk<<<1, 32>>>(data, 0, 1024, 1024, out), ends(); }},
    {"bulk, 1000 B, not a multiple of 16", [] { bulk<<<1, 32>>>(data, 0, 1000, 1000, out), ends(); }},
    {"bulk, global address + 4", [] { bulk<<<1, 32>>>(data, 4, 1024, 1024, out), ends(); }},
    {"bulk 1024 B, 1040 expected", [] { bulk<<<1, 32>>>(data, 0, 1024, 1040, out), ends(); }},
    {"bulk 1024 B, 1008 expected", [] { bulk<<<1, 32>>>(data, 0, 1024, 1008, out), ends(); }},
    {"map, good", [] { tensor([](Map&) {}); }},
    {"map, address + 4", [] { tensor([](Map& m) { m.base = 4; }); }},
    {"map, address + 16", [] { tensor([](Map& m) { m.base = 16; }); }},
    {"map, pitch 1020", [] { tensor([](Map& m) { m.pitch[0] = 1020; }); }},
    {"map, pitch 512, less than a row", [] { tensor([](Map& m) { m.pitch[0] = 512; }); }},
    {"map, box of 257 rows", [] { tensor([](Map& m) { m.box[1] = 257; }); }},
    {"map, box of 256 rows", [] { tensor([](Map& m) { m.box[1] = 256; }); }},
    {"map, box of 256 by 256 words (256 KiB)", [] { tensor([](Map& m) { m.box[0] = m.box[1] = 256; }); }},
    {"map, inner box 30 words (120 B)", [] { tensor([](Map& m) { m.box[0] = 30; }); }},
    {"map, box wider than the tensor", [] { tensor([](Map& m) { m.sizes[0] = 16, m.sizes[1] = 8; }); }},
    {"map, swizzle 128 B, inner box 128 B", [] { tensor([](Map& m) { m.swizzle = CU_TENSOR_MAP_SWIZZLE_128B; }); }},
    {"map, swizzle 128 B, inner box 256 B",
     [] { tensor([](Map& m) { m.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, m.box[0] = 64; }); }},
    {"map, step 0", [] { tensor([](Map& m) { m.steps[0] = 0; }); }},
    {"map, size 0", [] { tensor([](Map& m) { m.sizes[1] = 0; }); }},
    {"box at 0, 0", [] { at(0, 0); }},
    {"box at 1, 0", [] { at(1, 0); }},
    {"box at 2, 0", [] { at(2, 0); }},
    {"box at 3, 0", [] { at(3, 0); }},
    {"box at 4, 0", [] { at(4, 0); }},
    {"box at 8, 0", [] { at(8, 0); }},
    {"box at 0, 1", [] { at(0, 1); }},
    {"box at 0, 3", [] { at(0, 3); }},
    {"box at -4, 0", [] { at(-4, 0); }},
    {"box at -1, 0", [] { at(-1, 0); }},
    {"box at 0, -1", [] { at(0, -1); }},
    {"box at -4, -1", [] { at(-4, -1); }},
    {"box at 240, 0", [] { at(240, 0); }},
    {"box at 252, 250", [] { at(252, 250); }},
    {"box at 250, 0", [] { at(250, 0); }},
    {"box at 256, 0", [] { at(256, 0); }},
    {"box, shared address + 16",
     [] {
         Map m;
         expect(m.encode(data) == CUDA_SUCCESS, "map");
         box<<<1, 32>>>(m.map, 0, 0, 16, 2048, reinterpret_cast<float*>(out)), ends();
     }},
    {"box outside in part, only its inner bytes expected",
     [] {
         Map m;
         expect(m.encode(data) == CUDA_SUCCESS, "map");
         box<<<1, 32>>>(m.map, -16, 0, 0, 1024, reinterpret_cast<float*>(out)), ends();
     }},
    {"cooperative launch, one block too many",
     [] {
         int most = 0, sms = 0;
         CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, grid_wait, 256, 0));
         CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
         void* arguments[] = {&out};
         say(std::to_string(most) + " blocks per SM, " + std::to_string(most * sms) + " in all");
         cudaError_t status = cudaLaunchCooperativeKernel(grid_wait, dim3(most * sms), dim3(256), arguments, 0, 0);
         say("as many: " + text(status) + "; then: " + text(cudaDeviceSynchronize()));
         status = cudaLaunchCooperativeKernel(grid_wait, dim3(most * sms + 1), dim3(256), arguments, 0, 0);
         say("one more: " + text(status));
     }},
    {"grid.sync in an ordinary launch", [] { grid_wait<<<2, 32>>>(out), ends(); }},
};

static int child(const char* path, int index) {
    const pid_t pid = fork();
    if (pid == 0) {
        const std::string which = std::to_string(index);
        execl(path, path, "--case", which.c_str(), nullptr);
        _exit(127);
    }
    int status = 0;
    for (int tenths = 0; tenths < 150; ++tenths, usleep(100000))
        if (waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return 124;
}

int main(int argc, char** argv) {
    const int count = int(sizeof cases / sizeof *cases);
    if (argc == 3 && std::strcmp(argv[1], "--case") == 0) {
        const Case& c = cases[std::atoi(argv[2]) % count];
        now = c.name;
        CHECK(cudaMalloc(&data, 256 << 10));
        CHECK(cudaMalloc(&out, 8 << 10));
        std::vector<float> counting(64 << 10);
        for (size_t i = 0; i < counting.size(); ++i) counting[i] = float(i);
        CHECK(cudaMemcpy(data, counting.data(), 256 << 10, cudaMemcpyDefault));
        c.run();
        std::fflush(stdout);
        _exit(0);  // a broken context needs no farewell
    }
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    // The parent asks for the device in a child, too: after fork() a context would not be usable.
    const pid_t pid = fork();
    if (pid == 0) {
        require_device(9, 0);
        std::exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status)) return WEXITSTATUS(status);
    const bool quick = wants(argc, argv, "--quick");
    for (int i = 0; i < (quick ? 1 : count); ++i) {
        const int code = child(path, i);
        if (code == 124) std::printf("{\"case\": \"%s\", \"said\": \"hangs: ended after 15 s\"}\n", cases[i].name);
        if (code != 124 && code != 0) std::printf("{\"case\": \"%s\", \"said\": \"exit %d\"}\n", cases[i].name, code);
        std::fflush(stdout);
    }
    if (quick) std::printf("the good case ran\n");
    return 0;
}
