// arch: 90 100
// Which SMs belong together, which half of the L2 cache is near to them, and what they can read at once.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 -o gpu_anatomy gpu_anatomy.cu && ./gpu_anatomy [RAW_FOLDER]   (--quick: clusters
//   only)
//
// Needs clusters (compute capability 9.0) and 16 GiB of device memory. Prints JSON lines (see measure.cuh); with a
// folder it also leaves the raw latencies there.
#include "gpu_anatomy.cuh"

using Numbers = std::vector<double>;

struct Bench {
    const uint4* memory;
    const unsigned* lines;
    int count, turn = 0;
    unsigned long long wrong = 0;
    // GB/s of each SM; `active[sm]`: 0, or 1 (of lines: the number of the list plus one).
    template <From FROM>
    Numbers once(const std::vector<unsigned char>& active) {
        CHECK(cudaFuncSetAttribute(stream<FROM>, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGE));
        Device<unsigned char> on(active);
        Device<int> gate(std::vector<int>(1, 0));
        Device<double> rate(Numbers(active.size(), 0));
        Device<unsigned long long> bad(std::vector<unsigned long long>(1, 0));
        const int wanted = int(active.size()) - int(std::count(active.begin(), active.end(), 0));
        stream<FROM><<<sms, 1024, LARGE>>>(on.data, wanted, memory, lines, count, turn++, 400000, gate.data, rate.data,
                                           bad.data);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        wrong += bad.host()[0];
        return rate.host();
    }
    // GB/s of these SMs together, `trials` times after one that does not count.
    template <From FROM>
    Numbers together(const std::vector<unsigned char>& active, int trials = 5) {
        Numbers sums;
        for (int trial = -1; trial < trials; ++trial) {
            const Numbers each = once<FROM>(active);
            if (trial >= 0) sums.push_back(std::accumulate(each.begin(), each.end(), 0.0));
        }
        return sums;
    }
};

static std::vector<unsigned char> only(const std::vector<int>& chosen) {
    std::vector<unsigned char> active(sms, 0);
    for (int sm : chosen) active[sm] = 1;
    return active;
}

static std::string folder;  // for raw numbers, if named
template <typename T>
static void keep(const char* name, const std::vector<T>& data) {
    if (folder.empty()) return;
    FILE* file = std::fopen((folder + "/" + name).c_str(), "ab");
    std::fwrite(data.data(), sizeof(T), data.size(), file);
    std::fclose(file);
}

struct Map {                    // what the program finds out about each SM
    std::vector<int> tpc, gpc;  // lowest SM of the TPC; number of the GPC, or -1: no cluster of more than two
    std::vector<char> side;     // A: the half of L2 near to SM 0; B: the other
    std::vector<std::vector<int>> members;  // of each GPC
};

static std::string text(double number) {
    char out[32];
    std::snprintf(out, sizeof out, "%g", number);
    return out;
}

static Map by_clusters() {
    Sets gpcs(sms), pairs(sms);
    for (int size = 1; size <= 16; ++size) {
        const int fit = resident(size);
        emit("resident", {{"cluster", text(size)}}, "1", {double(fit)});
        emit("reached", {{"cluster", text(size)}}, "SM", {double(fit) * size});
        for (int trial = 0; trial < 10 && fit > 0; ++trial) {
            Device<int2> seen(size_t(fit) * size);
            expect(launch(place, fit * size, size, seen.data), "launch of clusters");
            std::map<int, int> first;
            const std::vector<int2> where = seen.host();
            for (size_t block = 0; block < where.size(); ++block) {
                const int2 s = where[block];
                if (size == 1 && trial == 0) emit("placed", {{"block", text(block)}}, "1", {double(s.x)});
                if (size == 1) continue;
                if (first.count(s.y)) (size == 2 ? pairs : gpcs).join(first[s.y], s.x);
                first.insert({s.y, s.x});
            }
        }
    }
    Map map;
    map.gpc.assign(sms, -1), map.side.assign(sms, 'A');
    std::map<int, std::vector<int>> sets;
    for (int sm = 0; sm < sms; ++sm) sets[gpcs.root(sm)].push_back(sm), map.tpc.push_back(pairs.root(sm));
    for (const auto& [root, list] : sets) {
        if (list.size() < 3) continue;
        for (int sm : list) map.gpc[sm] = int(map.members.size());
        emit("gpc_sms", {{"gpc", text(map.members.size())}}, "SM", {double(list.size())});
        map.members.push_back(list);
    }
    return map;
}

static void by_shared_memory(const Map& map) {
    std::map<std::string, Numbers> found;
    for (int size : {2, 8, 16}) {
        const int blocks = resident(size) * size;
        Device<int> where(blocks);
        Device<float> cycles(size_t(blocks) * size);
        for (int trial = 0; trial < 6; ++trial) {
            expect(launch(neighbours, blocks, size, where.data, cycles.data), "launch of clusters");
            const std::vector<int> sm = where.host();
            const std::vector<float> took = cycles.host();
            keep("shared_where.i32", sm), keep("shared_cycles.f32", took);
            for (int b = 0; b < blocks; ++b)
                for (int owner = 0; owner < size; ++owner) {
                    const int other = sm[b / size * size + owner];
                    const char* kind = other == sm[b]                     ? "own"
                                       : map.tpc[other] == map.tpc[sm[b]] ? "same TPC"
                                                                          : "another TPC";
                    found[text(size) + "," + kind].push_back(took[size_t(b) * size + owner]);
                }
        }
    }
    for (const auto& [key, took] : found) {
        const size_t comma = key.find(',');
        emit("shared", {{"cluster", key.substr(0, comma)}, {"owner", quoted(key.substr(comma + 1))}}, "cycle", took);
    }
}

// Returns the lines that lie near SM 0, then as many that lie near the other half of the SMs.
static std::vector<unsigned> by_latency(Map& map, char* memory) {
    const int lines = 2048, many = 65536;
    point_to_self<<<1056, 256>>>(memory, size_t(many) * LINE);
    CHECK(cudaDeviceSynchronize());
    std::vector<std::vector<float>> of[2];  // reads, atomic operations
    for (int sm = 0; sm < sms; ++sm) {
        of[0].push_back(latency<false>(sm, memory, lines, LINE)),
            of[1].push_back(latency<true>(sm, memory, lines, LINE));
        keep("reads.f32", of[0].back()), keep("atomics.f32", of[1].back());
    }
    Numbers row, column;
    emit("two_sides", {}, "%", {100 * two_sides(of[1], row, column)});
    int other = 0;
    for (int sm = 0; sm < sms; ++sm) {
        map.side[sm] = row[sm] * row[0] > 0 ? 'A' : 'B';
        if (row[sm] * row[0] < row[other] * row[0]) other = sm;
    }
    const auto near = [&](int sm, int line) { return row[sm] * column[line] < 0; };
    const char* names[2][2] = {{"read far", "read near"}, {"atomic far", "atomic near"}};
    for (int kind = 0; kind < 2; ++kind)
        for (int close = 0; close < 2; ++close) {
            std::map<int, double> bins;
            Numbers all;
            for (int sm = 0; sm < sms; ++sm) {
                Numbers mine;
                for (int line = 0; line < lines; ++line)
                    if (near(sm, line) == bool(close)) mine.push_back(of[kind][sm][line]);
                for (double cycles : mine) bins[int(cycles / 10) * 10] += 100.0 / double(sms) / double(mine.size());
                all.insert(all.end(), mine.begin(), mine.end());
                emit("from_sm",
                     {{"kind", quoted(names[kind][close])},
                      {"sm", text(sm)},
                      {"gpc", quoted(map.gpc[sm] < 0 ? "none" : text(map.gpc[sm]))},
                      {"side", quoted(std::string(1, map.side[sm]))}},
                     "cycle", mine);
            }
            emit("latency", {{"kind", quoted(names[kind][close])}}, "cycle", all);
            for (const auto& [cycles, share] : bins)
                emit("spread", {{"kind", quoted(names[kind][close])}, {"cycles", text(cycles)}}, "%", {share});
        }
    for (int sm = 0; sm < sms; ++sm) {  // the lowest SM with the same pattern of near and far slices
        const auto differ = [&](int a, int b) {
            double mean = 0, square = 0;
            for (int i = 0; i < lines; ++i) mean += double(of[0][a][i] - of[0][b][i]) / lines;
            for (int i = 0; i < lines; ++i) square += std::pow(of[0][a][i] - of[0][b][i] - mean, 2) / lines;
            return std::sqrt(square);
        };
        int same = 0;
        while (differ(same, sm) > 0.6) ++same;
        emit("pattern", {{"sm", text(sm)}}, "1", {double(same)});
    }
    const std::vector<float> a = latency<true>(0, memory, many, LINE, 2),
                             b = latency<true>(other, memory, many, LINE, 2);
    const std::vector<float> fine[2] = {latency<true>(0, memory, many, 32, 2),
                                        latency<true>(other, memory, many, 32, 2)};
    keep("many.f32", a), keep("many.f32", b), keep("fine.f32", fine[0]), keep("fine.f32", fine[1]);
    std::vector<unsigned> lists[2], both;
    for (int i = 0; i < many; ++i) lists[a[i] > b[i]].push_back(i);
    for (int bytes = 1024; bytes <= 65536; bytes *= 2) {
        int mixed = 0, blocks = 0;
        for (int i = 0; i < many; i += bytes / LINE, ++blocks) {
            int far = 0;
            for (int j = i; j < i + bytes / LINE; ++j) far += a[j] > b[j];
            mixed += far != 0 && far != bytes / LINE;
        }
        emit("mixed", {{"bytes", text(bytes)}}, "%", {100.0 * mixed / blocks});
    }
    int sectors = 0;
    for (int i = 0; i < many; i += 4)
        for (int j = 1; j < 4; ++j) sectors += (fine[0][i] > fine[1][i]) != (fine[0][i + j] > fine[1][i + j]);
    emit("sectors_apart", {}, "1", {double(sectors)});
    emit("near_share", {}, "%", {100.0 * double(lists[0].size()) / many});
    CHECK(cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGE));
    Device<float> out(lines);  // first and second reads of lines that a reader's own or the other half has read before
    std::map<std::string, Numbers> touched;
    for (int first : {0, other})
        for (int second = 0; second < sms; second += 3) {
            CHECK(cudaMemset(memory + (size_t(1) << 30), second, 256 << 20));  // what was in L2 leaves it
            const int readers[3] = {first, second, second};
            for (int turn = 0; turn < 3 && second != first; ++turn) {
                touch<<<sms, 32, LARGE>>>(readers[turn], memory, lines, 2 << 20, out.data);
                CHECK(cudaGetLastError());
                const std::vector<float> took = out.host();
                for (int line = 0; line < lines; ++line) {
                    const std::string home = near(readers[turn], line) ? "near" : "far";
                    const std::string who = map.side[first] == map.side[second] ? "own half" : "other half";
                    touched[turn == 0 ? "nobody," + home + ",1" : who + "," + home + "," + text(turn)].push_back(
                        took[line]);
                }
            }
        }
    for (const auto& [key, took] : touched) {
        const size_t one = key.find(','), two = key.rfind(',');
        emit("touch",
             {{"before", quoted(key.substr(0, one))},
              {"home", quoted(key.substr(one + 1, two - one - 1))},
              {"read", key.substr(two + 1)}},
             "cycle", took);
    }
    const size_t count = std::min(lists[0].size(), lists[1].size());
    for (const auto& list : lists) both.insert(both.end(), list.begin(), list.begin() + count);
    return both;
}

static void by_bandwidth(const Map& map, Bench& bench) {
    const auto hbm = [&](const char* name, Axes axes, const std::vector<int>& chosen) {
        axes.insert(axes.begin(), {"from", quoted("HBM")});
        emit(name, axes, "GB/s", bench.together<HBM>(only(chosen)));
    };
    std::vector<int> everyone(sms), spread, largest;
    std::iota(everyone.begin(), everyone.end(), 0);
    hbm("all", {}, everyone);
    Numbers ones, pairs;
    for (int sm = 0; sm < sms; ++sm) {
        ones.push_back(quantile(bench.together<HBM>(only({sm}), 3), 0.5));
        if (map.tpc[sm] != sm) pairs.push_back(quantile(bench.together<HBM>(only({map.tpc[sm], sm}), 3), 0.5));
    }
    emit("one", {{"from", quoted("HBM")}}, "GB/s", ones);
    emit("tpc", {{"from", quoted("HBM")}}, "GB/s", pairs);
    for (size_t g = 0; g < map.members.size(); ++g) {
        const std::vector<int>& list = map.members[g];
        hbm("gpc", {{"gpc", text(g)}, {"sms", text(list.size())}}, list);
        if (list.size() > largest.size()) largest = list;
    }
    for (size_t k = 0; k < largest.size(); ++k)
        for (const auto& list : map.members)
            if (k < list.size()) spread.push_back(list[k]);
    for (size_t k = 1; k <= largest.size(); ++k) {
        hbm("ladder", {{"where", quoted("one GPC")}, {"sms", text(k)}}, {largest.begin(), largest.begin() + k});
        hbm("ladder", {{"where", quoted("all GPCs")}, {"sms", text(k)}}, {spread.begin(), spread.begin() + k});
    }
    for (size_t k : {24, 32, 48, 64, 80, 96, 112, 124})
        if (k <= spread.size())
            hbm("ladder", {{"where", quoted("all GPCs")}, {"sms", text(k)}}, {spread.begin(), spread.begin() + k});
    for (const char* who : {"all", "one"})
        for (int far = 0; far < 2; ++far) {
            std::vector<unsigned char> active(sms, 0);
            for (int sm = 0; sm < sms; ++sm)
                if (sm == 0 || *who == 'a') active[sm] = (unsigned char)(1 + ((map.side[sm] == 'B') != bool(far)));
            emit("halves", {{"sms", quoted(who)}, {"home", quoted(far ? "far" : "near")}}, "GB/s",
                 bench.together<LINES>(active));
        }
}

int main(int argc, char** argv) {
    load_kernels_at_start();
    sms = require_device(9, 0).multiProcessorCount;
    const bool quick = wants(argc, argv, "--quick");
    if (argc > 1 && !quick) folder = argv[1];
    Map map = by_clusters();
    if (quick) return 0;
    by_shared_memory(map);
    const size_t bytes = size_t(15) << 30;
    char* memory = nullptr;
    CHECK(cudaMalloc(&memory, bytes));
    Device<unsigned> lines(by_latency(map, memory));
    fill(0, memory, bytes, 1);
    Bench bench{reinterpret_cast<const uint4*>(memory), lines.data, int(lines.count / 2)};
    by_bandwidth(map, bench);
    expect(bench.wrong == 0, "sums of what was read");
    return 0;
}
