// What an NVTX range costs the host: push and pop, with a name, a registered name, in a domain.
//
//   g++ -O2 -I/usr/local/cuda/include -o nvtx_cost nvtx_cost.cpp -ldl && ./nvtx_cost
//   nsys profile --trace=nvtx -o /tmp/nvtx ./nvtx_cost        the same under a tool
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

// --8<-- [start:domain]
static nvtxDomainHandle_t domain = nvtxDomainCreateA("handbook");
static nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "step");

static nvtxEventAttributes_t attributes() {
    nvtxEventAttributes_t a = {};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = name;
    return a;
}
// --8<-- [end:domain]

template <typename Call> void measure(const char* what, Call call) {
    double best = 1e30;
    for (int group = 0; group < 30; ++group) {
        auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < 2000; ++i) call();
        double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count();
        best = std::min(best, ns / 2000);
    }
    std::printf("{\"result\": \"nvtx\", \"unit\": \"ns\", \"n\": 30, \"call\": \"%s\", \"median\": %.1f}\n", what, best);
}

int main() {
    auto with = attributes();
    measure("C: push and pop", [] { nvtxRangePushA("step"); nvtxRangePop(); });
    measure("C: push and pop in a domain, registered name", [&] {
        nvtxDomainRangePushEx(domain, &with);
        nvtxDomainRangePop(domain);
    });
    measure("C: start and end", [] { nvtxRangeEnd(nvtxRangeStartA("step")); });
}
