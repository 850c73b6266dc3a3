// What an NVTX range costs the host: push and pop, with a name, a registered name, in a domain.
//
//   g++ -O2 -I/usr/local/cuda/include -o nvtx_cost nvtx_cost.cpp -ldl && ./nvtx_cost
//   nsys profile --trace=nvtx -o /tmp/nvtx ./nvtx_cost        the same under a tool
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

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

template <typename Call>
void measure(const char* what, Call call) {
    std::vector<double> found;
    for (int group = 0; group < 31; ++group) {
        auto began = std::chrono::steady_clock::now();
        for (int i = 0; i < 2000; ++i) call();
        double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count();
        found.push_back(ns / 2000);
    }
    std::sort(found.begin(), found.end());
    std::printf(
        "{\"result\": \"nvtx\", \"call\": \"%s\", \"unit\": \"ns\", \"n\": 31, "
        "\"median\": %.1f, \"p5\": %.1f, \"p95\": %.1f}\n",
        what, found[15], found[2], found[28]);
}

int main() {
    auto with = attributes();
    measure("C: push and pop", [] {
        nvtxRangePushA("step");
        nvtxRangePop();
    });
    measure("C: push and pop in a domain, registered name", [&] {
        nvtxDomainRangePushEx(domain, &with);
        nvtxDomainRangePop(domain);
    });
    measure("C: start and end", [] { nvtxRangeEnd(nvtxRangeStartA("step")); });
}
