// A string_view of a string that is gone.
#include <cstdio>
#include <string>
#include <string_view>

std::string_view host(int rank) {
    return "a-rack-with-a-long-name-node-" + std::to_string(rank);  // dies here
}

int main() {
    const std::string_view name = host(7);
    const std::string kept(name);
    std::printf("%s\n", kept.c_str());
    return kept != "a-rack-with-a-long-name-node-7";
}
