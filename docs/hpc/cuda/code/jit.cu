// What it costs to load code: PTX that the driver must compile, PTX from its cache, machine code.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o jit jit.cu && ./jit
//
// A module of many small kernels is written as PTX at run time. It is loaded without the driver's cache, with it, and
// as the cubin that the driver's own linker makes of it; a kernel of each module is run and its result checked.
#include "lesson.cuh"

#include <cuda.h>

template <typename F>
static F entry(const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result));
    expect(found != nullptr, name);
    return reinterpret_cast<F>(found);
}

static void driver(CUresult status, const char* what) {
    if (status != CUDA_SUCCESS) std::fprintf(stderr, "driver error %d\n", int(status));
    expect(status == CUDA_SUCCESS, what);
}

// --8<-- [start:ptx]
// `kernels` functions k0, k1, … of compute_80; each does x[0] <- a x[0] + c, `length` times. `salt` makes it new.
static std::string module_text(int kernels, int length, unsigned salt) {
    std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n";
    for (int k = 0; k < kernels; ++k) {
        text += ".visible .entry k" + std::to_string(k) + "(.param .u64 p)\n{\n.reg .b64 %d<3>;\n.reg .b32 %r<3>;\n";
        text += "ld.param.u64 %d1, [p];\ncvta.to.global.u64 %d2, %d1;\nld.global.u32 %r1, [%d2];\n";
        for (int i = 0; i < length; ++i)
            text += "xor.b32 %r1, %r1, " + std::to_string(salt + k + i) + ";\nmul.lo.u32 %r1, %r1, 1664525;\n";
        text += "st.global.u32 [%d2], %r1;\nret;\n}\n";
    }
    return text;
}
// --8<-- [end:ptx]

int main(int argc, char** argv) {
    const bool quick = wants(argc, argv, "--quick");
    const std::string folder = "/tmp/cuda-lesson-jit-cache";
    expect(std::system(("rm -rf " + folder).c_str()) == 0, "emptying the cache");
    setenv("CUDA_CACHE_PATH", folder.c_str(), 1);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    require_device(8, 0);
    CHECK(cudaFree(nullptr));
    auto load = entry<CUresult (*)(CUmodule*, const void*)>("cuModuleLoadData");
    auto unload = entry<CUresult (*)(CUmodule)>("cuModuleUnload");
    auto function = entry<CUresult (*)(CUfunction*, CUmodule, const char*)>("cuModuleGetFunction");
    auto launch = entry<CUresult (*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     CUstream, void**, void**)>("cuLaunchKernel");
    auto link = entry<CUresult (*)(unsigned, CUjit_option*, void**, CUlinkState*)>("cuLinkCreate");
    auto add =
        entry<CUresult (*)(CUlinkState, CUjitInputType, void*, size_t, const char*, unsigned, CUjit_option*, void**)>(
            "cuLinkAddData");
    auto complete = entry<CUresult (*)(CUlinkState, void**, size_t*)>("cuLinkComplete");
    auto destroy = entry<CUresult (*)(CUlinkState)>("cuLinkDestroy");
    Device<uint32_t> x(std::vector<uint32_t>{7});

    // Load `image`, run its last kernel, compare; return the milliseconds of the load.
    auto loaded = [&](const void* image, int kernels, int length, unsigned salt) {
        CUmodule module;
        double from = host_seconds();
        driver(load(&module, image), "cuModuleLoadData");
        double ms = (host_seconds() - from) * 1e3;
        CUfunction last;
        driver(function(&last, module, ("k" + std::to_string(kernels - 1)).c_str()), "cuModuleGetFunction");
        uint32_t value = 7;
        CHECK(cudaMemcpy(x.data, &value, 4, cudaMemcpyHostToDevice));
        void* arguments[] = {&x.data};
        driver(launch(last, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel");
        for (int i = 0; i < length; ++i) value = (value ^ (salt + kernels - 1 + i)) * 1664525u;
        expect(x.host()[0] == value, "a kernel of the module");
        driver(unload(module), "cuModuleUnload");
        return ms;
    };
    unsigned salt = 0;
    const int trials = quick ? 1 : 11, length = 100;
    for (int kernels : quick ? std::vector<int>{2} : std::vector<int>{1, 10, 100}) {
        std::vector<double> fresh, cached, cubin;
        for (int t = 0; t < trials; ++t) {
            const std::string text = module_text(kernels, length, salt += 1000);
            fresh.push_back(loaded(text.c_str(), kernels, length, salt));   // a text never seen: compiled
            cached.push_back(loaded(text.c_str(), kernels, length, salt));  // the same text again
            CUlinkState state;
            void* image;
            size_t bytes;
            driver(link(0, nullptr, nullptr, &state), "cuLinkCreate");
            driver(add(state, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()), text.size() + 1, "text", 0, nullptr,
                       nullptr),
                   "cuLinkAddData");
            driver(complete(state, &image, &bytes), "cuLinkComplete");
            cubin.push_back(loaded(image, kernels, length, salt));
            driver(destroy(state), "cuLinkDestroy");
        }
        auto print = [&](const char* what, const std::vector<double>& ms) {
            if (!quick) emit("load", {{"image", quoted(what)}, {"kernels", std::to_string(kernels)}}, "ms", ms);
        };
        print("PTX, first time", fresh);
        print("PTX, from the cache", cached);
        print("cubin", cubin);
    }
    return std::system(("rm -rf " + folder).c_str());
}
