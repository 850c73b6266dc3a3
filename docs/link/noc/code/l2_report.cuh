// The runs of l2_latency.cu and the lines that they print.
#pragma once

using Times = std::vector<uint16_t>;

static std::string number(size_t n) { return std::to_string(n); }

struct Sample {  // of one SM, by line
    Times atomic, chain, again, first_here, first_there;
    std::vector<bool> near;
};

struct Lines {
    const Device<uint64_t>& list;
    size_t from;
    int count, rounds;
};

static Times taken(const Device<uint16_t>& data, int count) {
    Times out(size_t(count), 0);
    CHECK(cudaMemcpy(out.data(), data.data, size_t(count) * 2, cudaMemcpyDeviceToHost));
    return out;
}

// Time of an atomic at each line, and whether the line's home is near: it is where atomics are carried out.
static void find_homes(Bench& bench, uint32_t sm, const Lines& lines, Device<uint16_t>& a, Sample& out) {
    std::vector<Times> rounds;
    for (int r = 0; r < lines.rounds; ++r) {
        bench.run<ATOMIC>(sm, lines.list, lines.from, lines.count, a, a);
        rounds.push_back(taken(a, lines.count));
    }
    out.atomic = middle(rounds);
    const double threshold = otsu(out.atomic);
    for (uint16_t t : out.atomic) out.near.push_back(t < threshold);
}

// First load after `writer` wrote the lines, and the one after it.
static Times first_load(Bench& bench, uint32_t sm, uint32_t writer, const Lines& lines, Device<uint16_t>& a,
                        Device<uint16_t>& b, Times& again) {
    std::vector<Times> first, second;
    for (int r = 0; r < lines.rounds; ++r) {
        bench.run<WRITE>(writer, lines.list, lines.from, lines.count, a, b);
        bench.run<TOUCH>(sm, lines.list, lines.from, lines.count, a, b);
        first.push_back(taken(a, lines.count)), second.push_back(taken(b, lines.count));
    }
    again = middle(second);
    return middle(first);
}

static double same(const std::vector<bool>& x, const std::vector<bool>& y) {
    size_t equal = 0;
    for (size_t i = 0; i < x.size(); ++i) equal += x[i] == y[i];
    return double(equal) / double(x.size());
}

static std::vector<double> chosen(const Times& times, const std::vector<bool>& near, bool which) {
    std::vector<double> out;
    for (size_t i = 0; i < times.size(); ++i)
        if (near[i] == which) out.push_back(times[i]);
    if (out.empty()) out.push_back(0);
    return out;
}

static void follow(Bench& bench, uint32_t sm, const char* from, const char* kind, std::vector<uint64_t> nodes,
                   size_t bytes) {
    if (bytes / LINE > nodes.size()) return;
    nodes.resize(bytes / LINE);  // the first ones: a region without gaps, or with every other line
    std::shuffle(nodes.begin(), nodes.end(), std::mt19937(11));
    std::vector<uint64_t> next(nodes.begin() + 1, nodes.end());
    next.push_back(nodes[0]);
    const Device<uint64_t> at(nodes), to(next);
    Device<uint32_t> cycles(1);
    set_words<<<1056, 256>>>(at.data, to.data, nodes.size());
    CHECK(cudaFuncSetAttribute(chase, cudaFuncAttributeMaxDynamicSharedMemorySize, 2 * ALONE));
    const int steps = 16384;
    std::vector<double> found;
    for (int r = 0; r < 6; ++r) {
        CHECK(cudaMemset(bench.arrived.data, 0, 4));
        const size_t start = size_t(r) * steps % nodes.size();
        chase<<<bench.sms, 1, 2 * ALONE>>>(sm, bench.arrived.data, nodes[start], r ? 0 : int(2 * nodes.size()), steps,
                                           cycles.data);
        CHECK(cudaGetLastError());
        if (r) found.push_back(double(cycles.host()[0]) / steps);
    }
    emit("chase", {{"lines", quoted(kind)}, {"from", quoted(from)}, {"bytes", number(bytes)}}, "cycle", found);
    set_words<<<1056, 256>>>(at.data, at.data, nodes.size());  // each its own address again
}

static void measure(int sms, bool quick) {
    const size_t region = (quick ? 16 : 80) * MIB, all_lines = region / LINE;
    const int count = quick ? 512 : 4096, rounds = quick ? 3 : 5;
    char* memory = nullptr;
    CHECK(cudaMalloc(&memory, region));
    std::vector<uint64_t> every;
    for (size_t i = 0; i < all_lines; ++i) every.push_back(uint64_t(memory) + i * LINE);
    const Device<uint64_t> lines(every);
    set_words<<<1056, 256>>>(lines.data, lines.data, all_lines);
    Device<uint32_t> empty(64);
    empty_timer<<<1, 1, 1024>>>(empty.data);
    const std::vector<uint32_t> nothing = empty.host();
    emit("timer", {}, "cycle", {nothing.begin() + 8, nothing.end()});

    Bench bench{sms};
    const std::map<uint32_t, uint32_t> gpc = find_gpcs(sms);
    expect(int(gpc.size()) == sms, "every SM was seen");
    std::vector<uint32_t> ids;
    for (const auto& one : gpc) ids.push_back(one.first);

    // 4096 lines of the first 16 MiB, from every SM. Sides: whose near lines agree with those of the first SM.
    std::vector<uint64_t> picked(every.begin(), every.begin() + 16 * MIB / LINE);
    std::shuffle(picked.begin(), picked.end(), std::mt19937(5));
    picked.resize(size_t(count));
    const Device<uint64_t> few(picked);
    const Lines sampled{few, 0, count, rounds};
    const size_t chunk = 4 * MIB / LINE;
    Device<uint16_t> a(chunk), b(chunk);
    std::map<uint32_t, Sample> by_sm;
    std::map<uint32_t, char> side;
    std::map<char, uint32_t> writer;
    std::vector<double> agree;
    for (uint32_t sm : ids) {
        find_homes(bench, sm, sampled, a, by_sm[sm]);
        const double share = same(by_sm[sm].near, by_sm[ids[0]].near);
        side[sm] = share > 0.9 ? 'A' : share < 0.1 ? 'B' : '?';
        writer.insert({side[sm], sm});
        agree.push_back(100 * std::max(share, 1 - share));
    }
    emit("agreement", {}, "%", agree);
    for (char s : {'A', 'B', '?'}) {
        double members = 0;
        for (const auto& one : side) members += one.second == s;
        emit("side", {{"side", quoted(std::string(1, s))}}, "SM", {members});
    }
    expect(writer.count('B') == 1, "there are two sides");

    std::map<std::string, std::map<int, double>> bins;
    std::map<std::string, std::vector<double>> pooled;
    std::map<uint32_t, std::map<std::string, std::vector<double>>> gpcs;
    std::map<uint32_t, std::map<char, int>> members;
    for (uint32_t sm : ids) {
        Sample& s = by_sm[sm];
        // Not itself: the writers are SMs of both sides, next to it or not.
        s.first_there = first_load(bench, sm, writer[side[sm] == 'A' ? 'B' : 'A'], sampled, a, b, s.again);
        const uint32_t here = writer[side[sm]] == sm ? sm + 1 : writer[side[sm]];
        s.first_here = first_load(bench, sm, here, sampled, a, b, s.again);
        bench.run<CHAIN>(sm, few, 0, count, a, b);
        s.chain = taken(a, count);
        const std::pair<const char*, const Times*> kinds[] = {{"atomic", &s.atomic},
                                                              {"first, written on the other side", &s.first_there},
                                                              {"first, written on this side", &s.first_here},
                                                              {"again", &s.again},
                                                              {"repeated", &s.chain}};
        const Axes axes = {{"sm", number(sm)}, {"gpc", number(gpc.at(sm))}, {"side", quoted(std::string(1, side[sm]))}};
        for (bool near : {true, false}) {
            for (const auto& kind : kinds) {
                const std::vector<double> times = chosen(*kind.second, s.near, near);
                const std::string name = std::string(kind.first) + (near ? "|near" : "|far");
                pooled[name].insert(pooled[name].end(), times.begin(), times.end());
                for (double t : times) bins[kind.first][int(t) / 10 * 10] += 1;
                gpcs[gpc.at(sm)][name].push_back(quantile(times, 0.5));
            }
            emit(near ? "sm_near" : "sm_far", axes, "cycle", chosen(s.atomic, s.near, near));
        }
        emit("sm_repeated", axes, "cycle", {s.chain.begin(), s.chain.end()});
        ++members[gpc.at(sm)][side[sm]];
    }
    for (const auto& one : pooled) {
        const size_t gap = one.first.find('|');
        emit("latency", {{"access", quoted(one.first.substr(0, gap))}, {"home", quoted(one.first.substr(gap + 1))}},
             "cycle", one.second);
    }
    for (const auto& kind : bins)
        for (const auto& bin : kind.second)
            emit("histogram", {{"access", quoted(kind.first)}, {"cycles", number(size_t(bin.first) + 5)}}, "%",
                 {100 * bin.second / double(ids.size()) / count});
    for (const auto& one : gpcs)
        for (const auto& kind : one.second) {
            const size_t gap = kind.first.find('|');
            emit("gpc",
                 {{"gpc", number(one.first)},
                  {"access", quoted(kind.first.substr(0, gap))},
                  {"home", quoted(kind.first.substr(gap + 1))}},
                 "cycle", kind.second);
        }
    for (const auto& one : members)
        for (const auto& part : one.second)
            emit("members", {{"gpc", number(one.first)}, {"side", quoted(std::string(1, part.first))}}, "SM",
                 {double(part.second)});

    // Every line of the region, from one SM: where homes alternate, and chains through near or far lines only.
    const uint32_t other = writer['B'];
    std::vector<bool> near;
    for (size_t from = 0; from < all_lines; from += chunk) {
        Sample s;
        find_homes(bench, ids[0], {lines, from, int(chunk), 1}, a, s);
        near.insert(near.end(), s.near.begin(), s.near.end());
    }
    emit("near_share", {}, "%", {100.0 * double(std::count(near.begin(), near.end(), true)) / double(near.size())});
    for (size_t distance = LINE; distance <= 4 * MIB; distance *= 2) {
        size_t equal = 0, pairs = near.size() - distance / LINE;
        for (size_t i = 0; i < pairs; ++i) equal += near[i] == near[i + distance / LINE];
        emit("same_home", {{"distance", number(distance)}}, "%", {100.0 * double(equal) / double(pairs)});
    }
    std::vector<uint64_t> lists[2];
    for (size_t i = 0; i < all_lines; ++i) lists[near[i] ? 0 : 1].push_back(every[i]);
    for (size_t m : {4, 8, 12, 16, 20, 24, 26, 28, 30, 32, 36, 40, 48, 56}) {
        if (quick && m > 4) break;
        follow(bench, ids[0], "A", "near", lists[0], m * MIB);
        follow(bench, ids[0], "A", "far", lists[1], m * MIB);
        follow(bench, ids[0], "A", "mixed", every, m * MIB);
        if (m % 8 == 0) {
            follow(bench, other, "B", "near", lists[1], m * MIB);
            follow(bench, other, "B", "far", lists[0], m * MIB);
        }
    }
}
