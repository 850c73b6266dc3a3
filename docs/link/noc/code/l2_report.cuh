// The runs of l2_latency.cu and the lines that they print.
#pragma once

using Times = std::vector<uint16_t>;

static std::string number(size_t n) { return std::to_string(n); }

struct Sample {  // of one SM, by line
    Times first, again, chain, atomic;
    std::vector<bool> near;
};

static Sample sample(Bench& bench, uint32_t sm, uint32_t writer, const Device<uint64_t>& lines, size_t from, int count,
                     int rounds, bool all, Device<uint16_t>& a, Device<uint16_t>& b) {
    const auto taken = [&](const Device<uint16_t>& data) {
        Times out(size_t(count), 0);
        CHECK(cudaMemcpy(out.data(), data.data, size_t(count) * 2, cudaMemcpyDeviceToHost));
        return out;
    };
    std::vector<Times> first, again;
    for (int r = 0; r < rounds; ++r) {
        bench.run<WRITE>(writer, lines, from, count, a, b);
        bench.run<TOUCH>(sm, lines, from, count, a, b);
        first.push_back(taken(a)), again.push_back(taken(b));
    }
    Sample out{middle(first), middle(again), {}, {}, {}};
    const double threshold = otsu(out.first);
    for (uint16_t t : out.first) out.near.push_back(t < threshold);
    if (!all) return out;
    bench.run<CHAIN>(sm, lines, from, count, a, b);
    out.chain = taken(a);
    bench.run<ATOMIC>(sm, lines, from, count, a, b);
    out.atomic = taken(a);
    return out;
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

    // 4096 lines of the first 16 MiB, from every SM.
    std::vector<uint64_t> picked(every.begin(), every.begin() + 16 * MIB / LINE);
    std::shuffle(picked.begin(), picked.end(), std::mt19937(5));
    picked.resize(size_t(count));
    const Device<uint64_t> few(picked);
    const size_t chunk = 4 * MIB / LINE;
    Device<uint16_t> a(chunk), b(chunk);
    std::map<uint32_t, Sample> by_sm;
    for (uint32_t sm : ids)
        by_sm[sm] = sample(bench, sm, sm == ids[0] ? ids[1] : ids[0], few, 0, count, rounds, true, a, b);

    // Sides: whose near lines agree with those of the first SM.
    const std::vector<bool>& reference = by_sm[ids[0]].near;
    std::map<uint32_t, char> side;
    std::vector<double> agree;
    for (uint32_t sm : ids) {
        const double share = same(by_sm[sm].near, reference);
        side[sm] = share > 0.9 ? 'A' : share < 0.1 ? 'B' : '?';
        agree.push_back(100 * std::max(share, 1 - share));
    }
    emit("agreement", {}, "%", agree);
    for (char s : {'A', 'B', '?'}) {
        double members = 0;
        for (const auto& one : side) members += one.second == s;
        emit("side", {{"side", quoted(std::string(1, s))}}, "SM", {members});
    }
    std::map<std::string, std::map<int, double>> bins;
    std::map<std::string, std::vector<double>> pooled;
    std::map<uint32_t, std::map<std::string, std::vector<double>>> gpcs;
    std::map<uint32_t, std::map<char, int>> members;
    for (uint32_t sm : ids) {
        const Sample& s = by_sm[sm];
        const std::pair<const char*, const Times*> kinds[] = {
            {"first", &s.first}, {"again", &s.again}, {"chain", &s.chain}, {"atomic", &s.atomic}};
        for (bool near : {true, false}) {
            for (const auto& kind : kinds) {
                const std::vector<double> times = chosen(*kind.second, s.near, near);
                std::vector<double>& pool = pooled[std::string(kind.first) + (near ? " near" : " far")];
                pool.insert(pool.end(), times.begin(), times.end());
                for (double t : times) bins[kind.first][int(t) / 10 * 10] += 1;
                gpcs[gpc.at(sm)][std::string(kind.first) + (near ? " near" : " far")].push_back(quantile(times, 0.5));
            }
            const Axes axes = {
                {"sm", number(sm)}, {"gpc", number(gpc.at(sm))}, {"side", quoted(std::string(1, side[sm]))}};
            emit(near ? "sm_near" : "sm_far", axes, "cycle", chosen(s.first, s.near, near));
        }
        ++members[gpc.at(sm)][side[sm]];
    }
    for (const auto& one : pooled) {
        const size_t gap = one.first.find(' ');
        emit("latency", {{"access", quoted(one.first.substr(0, gap))}, {"line", quoted(one.first.substr(gap + 1))}},
             "cycle", one.second);
    }
    for (const auto& kind : bins)
        for (const auto& bin : kind.second)
            emit("histogram", {{"access", quoted(kind.first)}, {"cycles", number(size_t(bin.first) + 5)}}, "%",
                 {100 * bin.second / double(ids.size()) / count});
    for (const auto& one : gpcs)
        for (const auto& kind : one.second) {
            const size_t gap = kind.first.find(' ');
            emit("gpc",
                 {{"gpc", number(one.first)},
                  {"access", quoted(kind.first.substr(0, gap))},
                  {"line", quoted(kind.first.substr(gap + 1))}},
                 "cycle", kind.second);
        }
    for (const auto& one : members)
        for (const auto& part : one.second)
            emit("members", {{"gpc", number(one.first)}, {"side", quoted(std::string(1, part.first))}}, "SM",
                 {double(part.second)});

    // Does it matter who wrote? One reader of each side, writers of both.
    uint32_t other = ids.back();
    for (uint32_t sm : ids)
        if (side[sm] == 'B') other = sm;
    for (uint32_t reader : {ids[0], other})
        for (uint32_t writer : {ids[2], other == ids.back() ? ids[3] : other}) {
            const Sample s = sample(bench, reader, writer, few, 0, count, rounds, false, a, b);
            emit("writer",
                 {{"reader", quoted(std::string(1, side[reader]))}, {"writer", quoted(std::string(1, side[writer]))}},
                 "%", {100 * same(s.near, by_sm[reader].near)});
        }

    // Every line of the region, from one SM: where homes alternate, and chains through near or far lines only.
    std::vector<bool> near;
    for (size_t from = 0; from < all_lines; from += chunk) {
        const Sample s = sample(bench, ids[0], ids[1], lines, from, int(chunk), 3, false, a, b);
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
        if (m % 8 == 0 && side[other] == 'B') {
            follow(bench, other, "B", "near", lists[1], m * MIB);
            follow(bench, other, "B", "far", lists[0], m * MIB);
        }
    }
}
