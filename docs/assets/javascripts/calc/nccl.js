/**
 * The calculator of collectives (nccl-costs.js has what they take).
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var nccl = calc.ncclParts;

  function operation(value, zh) {
    return { value: value, label: { zh: zh + "（" + value + "）", en: value } };
  }

  calc.add({
    id: "collective",
    title: { zh: "集合通信时间与总线带宽", en: "Collective time and bus bandwidth" },
    about: {
      zh: "用 α–β 模型比较各算法，并在算法带宽与总线带宽之间换算。",
      en: "Algorithms compared by the alpha-beta model, with algorithm bandwidth turned into bus bandwidth."
    },
    note: "ccl/cost-models",
    inputs: [
      {
        key: "operation", label: { zh: "操作", en: "Operation" }, kind: "choice", value: "all-reduce",
        choices: [
          operation("all-reduce", "全归约"), operation("reduce-scatter", "归约散发"), operation("all-gather", "全收集"),
          operation("all-to-all", "全交换"), operation("broadcast", "广播"), operation("reduce", "归约")
        ]
      },
      { key: "ranks", label: { zh: "进程（GPU）数", en: "Ranks (GPUs)" }, kind: "integer", value: 8, min: 2, max: 1048576 },
      { key: "size", label: { zh: "数据量 S", en: "Size S" }, unit: "B", value: "1Gi", min: 1, max: 1e15, help: { zh: "按 nccl-tests 的口径；可写 64M、1Gi。", en: "As nccl-tests counts it; 64M or 1Gi will do." } },
      { key: "per_node", label: { zh: "每节点 GPU", en: "GPUs per node" }, kind: "integer", value: 8, min: 1, max: 1024 },
      {
        key: "link", label: { zh: "节点内互联", en: "Link in the node" }, kind: "preset", family: "nvlink", value: "nvlink4-h100",
        needs: ["gpu_uni"], fills: { bandwidth: "gpu_uni" }
      },
      { key: "bandwidth", label: { zh: "节点内带宽，每 GPU 单向", en: "Bandwidth in the node, per GPU, one way" }, unit: "GB/s", min: 0.001, max: 100000 },
      {
        key: "share", label: { zh: "其中能用到的比例", en: "Share of it that can be had" }, value: 0.82, min: 0.01, max: 1,
        help: { zh: "NCCL 每条 NVLink 4 按 20.6、NVLink 5 按 40.1 GB/s 计，即标称的 0.82 与 0.80。", en: "NCCL counts 20.6 GB/s for an NVLink 4 and 40.1 for an NVLink 5: 0.82 and 0.80 of nominal." }
      },
      {
        key: "net", label: { zh: "每 GPU 网口", en: "Network port of a GPU" }, kind: "preset", family: "infiniband", value: "ndr",
        fills: { bandwidth_out: "port" }, help: { zh: "只在多于一个节点时用到。", en: "Used with more than one node only." }
      },
      { key: "bandwidth_out", label: { zh: "节点间带宽，每 GPU 单向", en: "Bandwidth between nodes, per GPU, one way" }, unit: "GB/s", min: 0.001, max: 100000 },
      {
        key: "share_out", label: { zh: "其中能用到的比例", en: "Share of it that can be had" }, value: 0.96, min: 0.01, max: 1,
        help: { zh: "NVIDIA 的人说 400 Gb/s 网卡应见约 48 GB/s。", en: "About 48 GB/s from a NIC of 400 Gb/s, as NVIDIA's people put it." }
      },
      {
        key: "protocol", label: { zh: "协议与每步延迟", en: "Protocol and latency of a step" }, kind: "choice", value: "least",
        choices: [
          { value: "least", label: { zh: "NCCL 的三种，取最快", en: "NCCL's three, the fastest" } },
          { value: "LL", label: "LL" }, { value: "LL128", label: "LL128" }, { value: "Simple", label: "Simple" },
          { value: "own", label: { zh: "自己填延迟", en: "own latencies" } }
        ],
        help: { zh: "延迟与带宽折扣成对取自 NCCL 的调优模型：LL 1/2，LL128 0.92，Simple 1；树另有折扣。", en: "Latency and share of bandwidth together, from NCCL's tuning model: LL 1/2, LL128 0.92, Simple 1; less for trees." }
      },
      { key: "alpha", label: { zh: "节点内每步延迟 α₁", en: "Latency of a step in the node, α₁" }, unit: "µs", value: 0.6, min: 0.001, max: 100000, when: { protocol: ["own"] } },
      { key: "alpha_out", label: { zh: "节点间每步延迟 α₂", en: "Latency of a step between nodes, α₂" }, unit: "µs", value: 2.7, min: 0.001, max: 100000, when: { protocol: ["own"] } },
      {
        key: "offload", label: { zh: "交换机内归约", en: "Reduction in switches" }, kind: "choice", value: "none",
        choices: [
          { value: "none", label: { zh: "不用", en: "none" } }, { value: "nvls", label: "NVLS" },
          { value: "sharp", label: { zh: "NVLS，节点间 SHARP", en: "NVLS, and SHARP between nodes" } }
        ],
        when: { operation: ["all-reduce"] }
      },
      {
        key: "nvls_share", label: { zh: "NVLS 能用到的比例", en: "Share that NVLS reaches" }, value: 0.85, min: 0.01, max: 1, when: { offload: ["nvls", "sharp"] },
        help: { zh: "NCCL 取 Hopper 0.85，Blackwell 0.74。", en: "NCCL takes 0.85 for Hopper and 0.74 for Blackwell." }
      },
      {
        key: "path", label: { zh: "网络路径另加的延迟", en: "Latency of the network's path on top" }, unit: "µs", value: 0, min: 0, max: 100000,
        help: { zh: "NCCL 取网络插件所报的值，内置的 IB 与套接字插件报 0。", en: "NCCL takes what the network plugin reports; its own for IB and sockets report 0." }
      },
      {
        key: "launch", label: { zh: "调用另加的开销", en: "What the call adds" }, unit: "µs", value: 0, min: 0, max: 1e6,
        help: {
          zh: "加在 NCCL 的基础延迟（6.6 到 14 µs）之上。本站四块 H200 小消息：模型 10.2 µs，重放 CUDA 图 14.4，从 PyTorch 逐次调用 17 至 37。",
          en: "On top of NCCL's base latency of 6.6 to 14 µs. Small ones on four H200s here: 10.2 µs by the model, 14.4 replayed from a CUDA graph, 17 to 37 called from PyTorch."
        }
      },
      {
        key: "library", label: { zh: "可选的算法", en: "Algorithms to choose from" }, kind: "choice", value: "nccl",
        choices: [{ value: "nccl", label: { zh: "NCCL 有的", en: "those of NCCL" } }, { value: "any", label: { zh: "表中全部", en: "all in the table" } }]
      },
      { key: "measured", label: { zh: "实测时间（可不填）", en: "Measured time (optional)" }, unit: "ms", value: 0, min: 0, max: 1e9, optional: true }
    ],
    outputs: [
      { key: "time", label: { zh: "最快算法所需时间", en: "Time of the fastest algorithm" }, kind: "seconds" },
      { key: "algorithm", label: { zh: "最快的算法与协议", en: "Fastest algorithm and protocol" } },
      { key: "floor", label: { zh: "下限：标称带宽下只算字节", en: "Lower bound: its bytes alone at nominal rates" }, kind: "seconds" },
      { key: "bound", label: { zh: "主要花在", en: "Bound by" } },
      { key: "phased", label: { zh: "若分层、一段接一段", en: "If hierarchical, phase after phase" }, kind: "seconds" },
      { key: "algbw", label: { zh: "算法带宽 algbw", en: "Algorithm bandwidth, algbw" }, unit: "GB/s" },
      { key: "busbw", label: { zh: "总线带宽 busbw", en: "Bus bandwidth, busbw" }, unit: "GB/s" },
      { key: "factor", label: { zh: "busbw ÷ algbw", en: "busbw over algbw" } },
      { key: "measured_busbw", label: { zh: "实测的 busbw", en: "Measured busbw" }, unit: "GB/s" },
      { key: "measured_share", label: { zh: "模型时间 ÷ 实测时间", en: "Model time over measured time" }, kind: "ratio" }
    ],
    formula: [
      "n = gN, \\qquad t_{\\text{ring}} = t_0 + p\\left[(n-N)\\alpha_1 + (N-1)\\alpha_2\\right] + p\\,\\frac{n-1}{n}\\,\\frac{S}{e}\\,\\max\\left(\\frac{1}{g B_2},\\; \\frac{g-1}{g B_1}\\right), \\quad p = 2 \\text{ (AR)},\\; 1 \\text{ (RS, AG)}",
      "t_{\\text{tree}} = t_0 + 2\\left[(g-1)\\alpha_1 + \\lceil\\log_2 N\\rceil\\alpha_2\\right] + \\frac{S}{e}\\max\\left(\\frac{c}{g B_2},\\; \\frac{2(g-1)}{g B_1}\\right), \\quad c = 1,\\ \\tfrac32,\\ 2 \\text{ for } N = 2,\\ 3,\\ {\\ge}4",
      "t_{\\text{NVLSTree}} = \\alpha_1 + 2\\lceil\\log_2 N\\rceil\\alpha_2 + S\\max\\left(\\frac{c}{g B_2},\\; \\frac{g+1}{e\\,g B_1}\\right)",
      "t_{\\text{A2A}} = t_0 + \\alpha_2 + \\frac1e\\max\\left(\\frac{n-g}{n}\\frac{S}{B_2},\\; \\frac{g-1}{n}\\frac{S}{B_1}\\right)",
      "t_{\\text{hier}} = (p+1)\\,t_0 + p\\left[(g-1)\\alpha_1 + (N-1)\\alpha_2\\right] + \\frac pe\\Bigl[\\frac{g-1}{g}\\frac{S}{B_1} + \\frac{N-1}{N}\\frac{S}{g B_2}\\Bigr]\\allowbreak\\text{, overlapped: the larger of the two}",
      "\\text{algbw} = S/t, \\qquad \\text{busbw}_{\\text{AR}} = \\text{algbw}\\cdot\\frac{2(n-1)}{n}, \\quad \\text{busbw}_{\\text{RS, AG, A2A}} = \\text{algbw}\\cdot\\frac{n-1}{n}"
    ],
    assumptions: [
      { zh: "t₀、α₁、α₂ 与带宽折扣 e 属于同一种协议：环 LL 6.6、0.6、2.7 µs 与 1/2，LL128 14、1.9、4 与 0.92，Simple 8.4、3.4、14 与 1；树 6.8、0.6、5，14、1.25、8.5，8.4、4、14。跨节点的环每步至少 1 µs（Simple 3，AMD 主机加倍），Simple 的全归约延迟乘 1.4；每节点一块 GPU 时 α₂ 取树的值。", en: "t₀, α₁, α₂ and the share e of the bandwidth belong to one protocol: rings by LL 6.6, 0.6, 2.7 µs and 1/2, LL128 14, 1.9, 4 and 0.92, Simple 8.4, 3.4, 14 and 1; trees 6.8, 0.6, 5; 14, 1.25, 8.5; 8.4, 4, 14. Over nodes a ring's step takes at least 1 µs (Simple 3; twice that on AMD hosts), and an all-reduce by Simple 1.4 times the latency; with one GPU a node α₂ is the tree's." },
      { zh: "树的 e 是 0.92，LL 再除以 3.8，LL128 乘 15/16，再乘 NCCL 按大小的修正（最低是 LL 在 256、512 KiB 的 0.4）。NCCL 的 log₂ N 向下取整，这里向上。", en: "A tree's e is 0.92, by LL over 3.8, by LL128 times 15/16, and NCCL's correction by size on top (at the lowest 0.4, by LL at 256 and 512 KiB). NCCL rounds log₂ N down, here it is rounded up." },
      { zh: "不计拥塞，也不计 NCCL 对 LL 跨节点总带宽的上限（19 到 45 GB/s）和每通道上限；节点内 LL 上限 141 GB/s 也不计，本站测得更快。", en: "Left out: congestion, NCCL's caps for LL over nodes (19 to 45 GB/s in all) and by channel, and its cap of 141 GB/s for LL in a Hopper node, which was exceeded here." },
      { zh: "每 GPU 一个网口（轨道），g 个网口同时用；网口比 GPU 少时，填每 GPU 分得的带宽。", en: "One port per GPU (rails), all g in use at once; with fewer ports, enter a GPU's share of the bandwidth." },
      { zh: "扁平的环每网口一条、同时走，NCCL 就是这样；“分层”是程序自己调用两三次（每次一个 t₀），如 HSDP；“只走一个网口”是网口没有认全时的样子。", en: "Rings run at once, one through each port, as NCCL's do. Hierarchical: two or three calls by the program itself (each with its t₀), as in HSDP. Through one port only: what remains where ports were not found." },
      { zh: "递归减半倍增、二项树、Bruck 是教科书（与 MPI）的算法，NCCL 没有；NCCL 的 PAT 只用于每节点一块 GPU。", en: "Recursive halving-doubling, binomial trees and Bruck are textbook (and MPI) algorithms that NCCL does not have; its PAT serves one GPU a node only." },
      { zh: "全交换里只有发往别的节点的 (n−g)/n 走网口；各次交换互不等待，α 只计一次。", en: "Of an all-to-all only the (n−g)/n for other nodes takes the port; no exchange waits for another, so alpha counts once." },
      { zh: "NVLS、NVLSTree、SHARP 只在选了之后才算，且只算全归约：α₁ 25 µs，α₂ 20.9（SHARP 18，只计一次）。", en: "NVLS, NVLSTree and SHARP count only when chosen, for all-reduce only: α₁ 25 µs, α₂ 20.9 (SHARP 18, once)." }
    ],
    example: { inputs: { operation: "all-reduce", ranks: 8, size: "1Gi" }, says: { zh: "一台八卡机（每卡单向 450 GB/s）全归约 1 GiB：", en: "All-reduce of 1 GiB on eight GPUs with 450 GB/s each, one way:" } },
    sources: [
      { title: "nccl-tests: doc/PERFORMANCE.md", url: "https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md", read: "2026-11-21" },
      { title: "NCCL v2.30.7-1: src/graph/tuning.cc, L138-L213, L295-L438, L608-L656", url: "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/tuning.cc#L138-L213", read: "2026-11-23" },
      { title: "NCCL v2.30.7-1: src/graph/topo.h, L17-L24", url: "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/topo.h#L17-L24", read: "2026-11-23" },
      { title: "NVIDIA/nccl issue 1442: 370 GB/s each way as the target in a node", url: "https://github.com/NVIDIA/nccl/issues/1442", read: "2026-11-23" },
      { title: "NVIDIA/nccl-tests issue 319: 48 GB/s a NIC, up to 396 GB/s by rings", url: "https://github.com/NVIDIA/nccl-tests/issues/319", read: "2026-11-23" },
      { title: "NVIDIA/nccl-tests issue 130: algorithm bandwidth of all2all", url: "https://github.com/NVIDIA/nccl-tests/issues/130", read: "2026-11-23" },
      { title: "Sanders, Speck, Träff: Two-tree algorithms for full bandwidth broadcast, reduction and scan (2009)", url: "https://doi.org/10.1016/j.parco.2009.09.001" },
      { title: "Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH (2005)", url: "https://doi.org/10.1177/1094342005051521" }
    ],
    check: function (v) {
      return v.ranks > v.per_node && v.ranks % v.per_node
        ? [{ key: "ranks", zh: "多于一个节点时，进程数应是每节点 GPU 数（" + v.per_node + "）的倍数。", en: "With more than one node, ranks must be a multiple of the GPUs per node (" + v.per_node + ")." }]
        : [];
    },
    run: function (v) {
      var found = nccl.times(v);
      var first = nccl.fastest(found);
      var phased = null;
      for (var i = 0; i < found.length; i++) {
        phased = found[i].name === "hierarchical" ? found[i].time : phased;
      }
      var factor = f.busFactor(v.operation, v.ranks);
      var algbw = v.size / first.time / 1e9;
      var measured = v.measured > 0 ? v.measured * 1e-3 : null;
      return {
        time: first.time, algorithm: nccl.named(first), floor: nccl.floorOf(v), bound: nccl.bottleneck(v, first), phased: phased,
        algbw: algbw, busbw: algbw * factor, factor: factor,
        measured_busbw: measured ? (v.size / measured / 1e9) * factor : null,
        measured_share: measured ? first.time / measured : null
      };
    },
    tables: function (v) {
      var found = nccl.times(v);
      var first = nccl.fastest(found);
      var factor = f.busFactor(v.operation, v.ranks);
      var rows = [];
      for (var i = 0; i < found.length; i++) {
        var algbw = v.size / found[i].time / 1e9;
        rows.push({
          cells: [nccl.named(found[i]), found[i].isNccl ? { zh: "有", en: "yes" } : { zh: "无", en: "no" }, found[i].time, algbw, algbw * factor],
          chosen: found[i] === first
        });
      }
      return [{
        caption: { zh: "各算法", en: "Algorithms" },
        head: [
          { label: { zh: "算法", en: "Algorithm" } }, { label: { zh: "NCCL", en: "In NCCL" } }, { label: { zh: "时间", en: "Time" }, kind: "seconds" },
          { label: "algbw", unit: "GB/s" }, { label: "busbw", unit: "GB/s" }
        ],
        rows: rows
      }];
    }
  });
})(this);
