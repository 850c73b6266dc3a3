/**
 * Collectives by the alpha-beta model: what an algorithm costs at least, and bus bandwidth.
 *
 * S is the size as nccl-tests counts it: the whole buffer of a rank for all-reduce, broadcast,
 * reduce and all-to-all; what all ranks hold together for all-gather and reduce-scatter.
 * alpha is in seconds a step, bandwidth in bytes a second of one rank in one direction.
 *
 * Several nodes: N nodes of g GPUs, a network port each (a rail). `inner` and `outer` are the links
 * in the node and between nodes, {alpha, bandwidth}. A cost is {alpha, link, net, summed}: seconds
 * of latency, of bytes over the link in the node, of bytes over the port; both are in use at once,
 * unless summed (phases one after the other).
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  function steps(n) {
    return Math.ceil(Math.log(n) / Math.LN2 - 1e-12);
  }

  /** Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md). */
  f.busFactor = function (operation, n) {
    if (operation === "all-reduce") {
      return (2 * (n - 1)) / n;
    }
    return operation === "broadcast" || operation === "reduce" ? 1 : (n - 1) / n;
  };

  function step(n, alpha, moved, bandwidth, count) {
    return n > 1 ? count * alpha + moved / bandwidth : 0;
  }

  /** Half of a ring all-reduce: reduce-scatter or all-gather. */
  f.ringHalf = function (n, size, alpha, bandwidth) {
    return step(n, alpha, (size * (n - 1)) / n, bandwidth, n - 1);
  };

  f.ringAllReduce = function (n, size, alpha, bandwidth) {
    return 2 * f.ringHalf(n, size, alpha, bandwidth);
  };

  /** Recursive halving or doubling of one half; also Bruck's all-gather, for any n. */
  f.recursiveHalf = function (n, size, alpha, bandwidth) {
    return step(n, alpha, (size * (n - 1)) / n, bandwidth, steps(n));
  };

  /** Reduce-scatter by recursive halving, all-gather by recursive doubling (Rabenseifner). */
  f.halvingDoublingAllReduce = function (n, size, alpha, bandwidth) {
    return 2 * f.recursiveHalf(n, size, alpha, bandwidth);
  };

  /** Recursive doubling of the whole buffer: fewest messages, most bytes. */
  f.doublingAllReduce = function (n, size, alpha, bandwidth) {
    return step(n, alpha, size * steps(n), bandwidth, steps(n));
  };

  /**
   * Buffers that the busiest node of two complementary binary trees sends, up and down.
   *
   * Of four nodes or more some node has a parent and two children in one tree (3/2) and a parent in
   * the other (1/2); of three 3/2, of two 1 (NCCL, tuning.cc: trees get the port's whole rate up to
   * two nodes and half of it beyond).
   */
  f.treeBuffers = function (nodes) {
    return nodes < 2 ? 0 : nodes === 2 ? 1 : nodes === 3 ? 1.5 : 2;
  };

  /** Two pipelined binary trees, each with half the data (Sanders et al. 2009). */
  f.treeAllReduce = function (n, size, alpha, bandwidth) {
    return step(n, alpha, f.treeBuffers(n) * size, bandwidth, 2 * steps(n));
  };

  /** Binomial tree: the whole buffer at each of log2 n levels. */
  f.binomial = function (n, size, alpha, bandwidth) {
    return step(n, alpha, size * steps(n), bandwidth, steps(n));
  };

  /** Scatter, then all-gather in a ring (van de Geijn). */
  f.scatterGather = function (n, size, alpha, bandwidth) {
    return step(n, alpha, (2 * size * (n - 1)) / n, bandwidth, steps(n) + n - 1);
  };

  /** Bruck's all-to-all: half of the buffer in each of log2 n steps. */
  f.bruckAllToAll = function (n, size, alpha, bandwidth) {
    return step(n, alpha, (size / 2) * steps(n), bandwidth, steps(n));
  };

  /** Seconds of a cost. */
  f.costTime = function (cost) {
    return cost.alpha + (cost.summed ? cost.link + cost.net : Math.max(cost.link, cost.net));
  };

  /**
   * Rings over all ranks, one through each port, each with 1/g of the data.
   *
   * passes: 2 for all-reduce, 1 for all-gather and reduce-scatter. Of each ring's n-1 steps N-1
   * cross nodes (NCCL, tuning.cc, nInterSteps); a GPU sends on its port in one ring and over the
   * link in the node in the other g-1. One node: the rings have the link alone.
   */
  f.railRing = function (perNode, nodes, size, inner, outer, passes) {
    var n = perNode * nodes;
    var moved = (passes * size * (n - 1)) / n;
    return {
      alpha: passes * ((n - nodes) * inner.alpha + (nodes - 1) * outer.alpha),
      link: nodes === 1 ? moved / inner.bandwidth : (moved * (perNode - 1)) / perNode / inner.bandwidth,
      net: nodes === 1 ? 0 : moved / perNode / outer.bandwidth
    };
  };

  /**
   * NCCL's all-reduce by trees: chains in the node, two binary trees between nodes, on each rail.
   *
   * Steps 2 ((g-1) in the node + log2 N between) as tuning.cc counts them. A GPU passes the data up
   * and down a chain of g, 2 (g-1)/g of it.
   */
  f.railTree = function (perNode, nodes, size, inner, outer) {
    return {
      alpha: 2 * ((perNode - 1) * inner.alpha + steps(nodes) * outer.alpha),
      link: (2 * size * (perNode - 1)) / perNode / inner.bandwidth,
      net: (f.treeBuffers(nodes) * size) / perNode / outer.bandwidth
    };
  };

  /**
   * Reduce-scatter in the node, the operation between nodes on 1/g of the data in each rail's ring,
   * all-gather in the node (passes 2); or one half of it (passes 1).
   */
  f.hierarchical = function (perNode, nodes, size, inner, outer, passes, isOverlapped) {
    return {
      alpha: passes * ((perNode - 1) * inner.alpha + (nodes - 1) * outer.alpha),
      link: (passes * size * (perNode - 1)) / perNode / inner.bandwidth,
      net: (passes * size * (nodes - 1)) / nodes / perNode / outer.bandwidth,
      summed: !isOverlapped
    };
  };

  /** Recursive halving or doubling with near partners first: bytes as above, log2 steps. */
  f.recursiveRails = function (perNode, nodes, size, inner, outer, passes) {
    var cost = f.hierarchical(perNode, nodes, size, inner, outer, passes, false);
    cost.alpha = passes * (steps(perNode) * inner.alpha + steps(nodes) * outer.alpha);
    return cost;
  };

  /**
   * All-to-all by direct exchanges, none waiting for another: (g-1)/n of the buffer stays in the
   * node, only (n-g)/n takes the port (NVIDIA/nccl-tests issue 130: busbw nears N/(N-1) ports).
   */
  f.directAllToAll = function (perNode, nodes, size, inner, outer) {
    var n = perNode * nodes;
    return {
      alpha: nodes > 1 ? outer.alpha : inner.alpha,
      link: (size * (perNode - 1)) / n / inner.bandwidth,
      net: (size * (n - perNode)) / n / outer.bandwidth
    };
  };

  /** A chain through all ranks on each rail that passes k segments on, with the best k. */
  f.railChain = function (perNode, nodes, size, inner, outer) {
    var n = perNode * nodes;
    var ring = f.railRing(perNode, nodes, (size * n) / (n - 1), inner, outer, 1);
    var seconds = Math.max(ring.link, ring.net);
    var slowest = Math.max(perNode > 1 ? inner.alpha : 0, nodes > 1 ? outer.alpha : 0);
    var best = Math.max(1, Math.round(Math.sqrt(((n - 2) * seconds) / slowest)) || 1);
    var waits = (n - 2 + best) / best;
    return { alpha: ring.alpha + (best - 1) * slowest, link: ring.link * waits, net: ring.net * waits };
  };

  var NAMES = {
    ring: { zh: "环（每网口一条）", en: "ring (one per port)" },
    tree: { zh: "双二叉树（节点内为链）", en: "double binary tree (chains in nodes)" },
    flatTree: { zh: "双二叉树（不分节点）", en: "double binary tree (flat)" },
    pat: { zh: "Bruck（NCCL 的 PAT）", en: "Bruck (NCCL's PAT)" },
    direct: { zh: "直接交换", en: "direct exchange" },
    chain: { zh: "链（分段流水）", en: "chain (pipelined segments)" },
    overlapped: { zh: "分层，各段重叠", en: "hierarchical, phases overlapped" },
    hierarchical: { zh: "分层，一段接一段", en: "hierarchical, phase after phase" },
    recursive: { zh: "递归减半倍增", en: "recursive halving-doubling" },
    doubling: { zh: "递归倍增（整块）", en: "recursive doubling (whole buffer)" },
    binomial: { zh: "二项树", en: "binomial tree" },
    scatter: { zh: "散发后全收集", en: "scatter, then all-gather" },
    bruck: { zh: "Bruck", en: "Bruck" }
  };

  /** Textbook algorithms that know no nodes, each over one kind of link. */
  var FLAT = {
    "all-reduce": { flatTree: "treeAllReduce", recursive: "halvingDoublingAllReduce", doubling: "doublingAllReduce" },
    "reduce-scatter": { recursive: "recursiveHalf", pat: "recursiveHalf" },
    "all-gather": { recursive: "recursiveHalf", pat: "recursiveHalf" },
    "all-to-all": { bruck: "bruckAllToAll" },
    broadcast: { binomial: "binomial", scatter: "scatterGather" },
    reduce: { binomial: "binomial" }
  };

  function isPower(n) {
    return Math.pow(2, steps(n)) === n;
  }

  /** Costs by name of the algorithms that NCCL has, and of all others. */
  function costs(v) {
    var inner = { alpha: v.alpha * 1e-6, bandwidth: v.bandwidth * 1e9 };
    var outer = { alpha: v.alpha_out * 1e-6, bandwidth: v.bandwidth_out * 1e9 };
    var perNode = Math.min(v.ranks, v.per_node);
    var nodes = v.ranks / perNode;
    var passes = v.operation === "all-reduce" ? 2 : 1;
    var isHalf = v.operation === "reduce-scatter" || v.operation === "all-gather";
    var nccl = {};
    var others = {};
    if (passes === 2 || isHalf) {
      nccl.ring = f.railRing(perNode, nodes, v.size, inner, outer, passes);
      if (nodes > 1 && passes === 2) {
        nccl.tree = f.railTree(perNode, nodes, v.size, inner, outer);
      }
      if (nodes > 1 && perNode > 1) {
        others.overlapped = f.hierarchical(perNode, nodes, v.size, inner, outer, passes, true);
        others.hierarchical = f.hierarchical(perNode, nodes, v.size, inner, outer, passes, false);
        if (isPower(perNode) && isPower(nodes)) {
          others.recursive = f.recursiveRails(perNode, nodes, v.size, inner, outer, passes);
        }
      }
    } else if (v.operation === "all-to-all") {
      nccl.direct = f.directAllToAll(perNode, nodes, v.size, inner, outer);
    } else {
      nccl.chain = f.railChain(perNode, nodes, v.size, inner, outer);
    }
    if (nodes === 1 || perNode === 1) {
      var link = nodes === 1 ? inner : outer;
      for (var name in FLAT[v.operation]) {
        if ((name !== "flatTree" || nodes === 1) && (isPower(v.ranks) || (name !== "recursive" && name !== "doubling"))) {
          var bytes = f[FLAT[v.operation][name]](v.ranks, v.size, 0, link.bandwidth);
          var all = f[FLAT[v.operation][name]](v.ranks, v.size, link.alpha, link.bandwidth);
          var cost = { alpha: all - bytes, link: nodes === 1 ? bytes : 0, net: nodes === 1 ? 0 : bytes };
          if (name === "pat" && perNode === 1) {
            nccl.pat = cost; // NCCL has it with one GPU a node only
          } else {
            others[name === "pat" ? "bruck" : name] = cost;
          }
        }
      }
    }
    return { nccl: nccl, others: others };
  }

  function times(v) {
    var found = [];
    var groups = costs(v);
    for (var group in groups) {
      for (var name in groups[group]) {
        var cost = groups[group][name];
        found.push({
          name: name, cost: cost, time: v.launch * 1e-6 + f.costTime(cost), isNccl: group === "nccl",
          counts: group === "nccl" || v.library === "any"
        });
      }
    }
    return found;
  }

  function fastest(found) {
    var best = null;
    for (var i = 0; i < found.length; i++) {
      if (found[i].counts && (!best || found[i].time < best.time)) {
        best = found[i];
      }
    }
    return best;
  }

  /** What most of the time goes to. */
  function bottleneck(v, best) {
    var fixed = v.launch * 1e-6 + best.cost.alpha;
    var bytes = best.time - fixed;
    return fixed > bytes ? { zh: "延迟（步数与启动）", en: "latency (steps and the call)" }
      : best.cost.net > best.cost.link ? { zh: "节点间网口", en: "the ports between nodes" }
        : { zh: "节点内互联", en: "the link in the node" };
  }

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
        key: "alpha", label: { zh: "节点内每步延迟 α₁", en: "Latency of a step in the node, α₁" }, unit: "µs", value: 0.6, min: 0.001, max: 100000,
        help: { zh: "NCCL 的 LL 协议在 NVLink 上取 0.6，LL128 为 1.9，Simple 为 3.4。", en: "NCCL takes 0.6 for its LL protocol on NVLink, 1.9 for LL128, 3.4 for Simple." }
      },
      {
        key: "net", label: { zh: "每 GPU 网口", en: "Network port of a GPU" }, kind: "preset", family: "infiniband", value: "ndr",
        fills: { bandwidth_out: "port" }, help: { zh: "只在多于一个节点时用到。", en: "Used with more than one node only." }
      },
      { key: "bandwidth_out", label: { zh: "节点间带宽，每 GPU 单向", en: "Bandwidth between nodes, per GPU, one way" }, unit: "GB/s", min: 0.001, max: 100000 },
      {
        key: "alpha_out", label: { zh: "节点间每步延迟 α₂", en: "Latency of a step between nodes, α₂" }, unit: "µs", value: 2.7, min: 0.001, max: 100000,
        help: { zh: "NCCL 的 LL 协议经网络取 2.7，LL128 为 4，Simple 为 14，另加路径延迟。", en: "NCCL takes 2.7 for LL over the network, 4 for LL128, 14 for Simple, and the path's own latency on top." }
      },
      {
        key: "launch", label: { zh: "一次调用的固定开销", en: "Fixed cost of a call" }, unit: "µs", value: 9.5, min: 0, max: 1e6,
        help: {
          zh: "与步数无关，默认取实测的下限。本站四块 H200 全归约 1 MiB 用 16.8 µs，比步数与字节多 9.7；小消息重放 CUDA 图 14.4 µs，从 PyTorch 逐次调用 17 至 37 µs（两块 25.3）：要估这种调用就填大。",
          en: "Whatever the steps; as it stands the least measured. Here an all-reduce of 1 MiB on four H200s took 16.8 µs, 9.7 more than its steps and bytes; small ones 14.4 µs replayed from a CUDA graph, 17 to 37 µs called from PyTorch (25.3 on two): enter more for such calls."
        }
      },
      {
        key: "library", label: { zh: "可选的算法", en: "Algorithms to choose from" }, kind: "choice", value: "nccl",
        choices: [{ value: "nccl", label: { zh: "NCCL 有的", en: "those of NCCL" } }, { value: "any", label: { zh: "表中全部", en: "all in the table" } }]
      },
      { key: "measured", label: { zh: "实测时间（可不填）", en: "Measured time (optional)" }, unit: "ms", value: 0, min: 0, max: 1e9, optional: true }
    ],
    outputs: [
      { key: "time", label: { zh: "最快算法的时间下限", en: "Least time, by the fastest algorithm" }, kind: "seconds" },
      { key: "algorithm", label: { zh: "最快的算法", en: "Fastest algorithm" } },
      { key: "bound", label: { zh: "主要花在", en: "Bound by" } },
      { key: "phased", label: { zh: "若分层、一段接一段", en: "If hierarchical, phase after phase" }, kind: "seconds" },
      { key: "algbw", label: { zh: "算法带宽 algbw", en: "Algorithm bandwidth, algbw" }, unit: "GB/s" },
      { key: "busbw", label: { zh: "总线带宽 busbw", en: "Bus bandwidth, busbw" }, unit: "GB/s" },
      { key: "factor", label: { zh: "busbw ÷ algbw", en: "busbw over algbw" } },
      { key: "measured_busbw", label: { zh: "实测的 busbw", en: "Measured busbw" }, unit: "GB/s" },
      { key: "measured_share", label: { zh: "模型时间 ÷ 实测时间", en: "Model time over measured time" }, kind: "ratio" }
    ],
    formula: [
      "n = gN, \\qquad t_{\\text{ring}} = t_0 + p\\left[(n-N)\\alpha_1 + (N-1)\\alpha_2\\right] + p\\,\\frac{n-1}{n}\\,S\\,\\max\\left(\\frac{1}{g B_2},\\; \\frac{g-1}{g B_1}\\right), \\quad p = 2 \\text{ (AR)},\\; 1 \\text{ (RS, AG)}",
      "t_{\\text{tree}} = t_0 + 2\\left[(g-1)\\alpha_1 + \\lceil\\log_2 N\\rceil\\alpha_2\\right] + \\max\\left(\\frac{c\\,S}{g B_2},\\; \\frac{2(g-1)S}{g B_1}\\right), \\quad c = 1,\\ \\tfrac32,\\ 2 \\text{ for } N = 2,\\ 3,\\ {\\ge}4",
      "t_{\\text{A2A}} = t_0 + \\alpha_2 + \\max\\left(\\frac{n-g}{n}\\frac{S}{B_2},\\; \\frac{g-1}{n}\\frac{S}{B_1}\\right)",
      "t_{\\text{hier}} = t_0 + p\\left[(g-1)\\alpha_1 + (N-1)\\alpha_2\\right] + p\\left[\\frac{g-1}{g}\\frac{S}{B_1} + \\frac{N-1}{N}\\frac{S}{g B_2}\\right] \\text{, overlapped: the larger of the two}",
      "\\text{algbw} = S/t, \\qquad \\text{busbw}_{\\text{AR}} = \\text{algbw}\\cdot\\frac{2(n-1)}{n}, \\quad \\text{busbw}_{\\text{RS, AG, A2A}} = \\text{algbw}\\cdot\\frac{n-1}{n}"
    ],
    assumptions: [
      { zh: "下限：不计归约运算与拥塞，带宽取标称值。一个节点时环只走节点内互联：t = t₀ + p(g−1)α₁ + p(g−1)S/(gB₁)。", en: "Lower bounds: no reduction arithmetic or congestion, nominal bandwidths. In one node a ring has the link alone: t = t₀ + p(g−1)α₁ + p(g−1)S/(gB₁)." },
      { zh: "每 GPU 一个网口（轨道），g 个网口同时用；网口比 GPU 少时，填每 GPU 分得的带宽。", en: "One port per GPU (rails), all g in use at once; with fewer ports, enter a GPU's share of the bandwidth." },
      { zh: "扁平的环每网口一条、同时走，NCCL 就是这样；“分层”先在节点内归约散发、再各轨道走环、再在节点内全收集，NCCL 没有这种算法（HSDP 一类的程序自己这样做，一段接一段）。", en: "Rings run at once, one through each port, as NCCL's do. Hierarchical: reduce-scatter in the node, a ring on each rail, all-gather in the node; NCCL has no such algorithm (programs such as HSDP do it themselves, phase after phase)." },
      { zh: "递归减半倍增、二项树、Bruck 全交换是教科书（与 MPI）的算法，NCCL 没有；NCCL 的 PAT 只用于每节点一块 GPU。", en: "Recursive halving-doubling, binomial trees and Bruck's all-to-all are textbook (and MPI) algorithms that NCCL does not have; its PAT serves one GPU a node only." },
      { zh: "全交换里只有发往别的节点的 (n−g)/n 走网口；各次交换互不等待，α 只计一次。", en: "Of an all-to-all only the (n−g)/n for other nodes takes the port; no exchange waits for another, so alpha counts once." },
      { zh: "交换机内归约（NVLS、NVLSTree、SHARP）每 GPU 只收发约 S，可以低于这里的下限。", en: "Reduction in the switch (NVLS, NVLSTree, SHARP) moves about S per GPU and can beat these bounds." },
      { zh: "α 取 NCCL 调优模型里 LL 协议的值，是下限；大消息用 Simple 协议，每步更慢但被字节掩过。", en: "The alphas are those of LL in NCCL's tuning model, the least; large messages go by Simple, with slower steps that bytes outweigh." }
    ],
    example: { inputs: { operation: "all-reduce", ranks: 8, size: "1Gi" }, says: { zh: "一台八卡机（每卡单向 450 GB/s）全归约 1 GiB：", en: "All-reduce of 1 GiB on eight GPUs with 450 GB/s each, one way:" } },
    sources: [
      { title: "nccl-tests: doc/PERFORMANCE.md", url: "https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md", read: "2026-11-21" },
      { title: "NCCL: src/graph/tuning.cc", url: "https://github.com/NVIDIA/nccl/blob/b6475625fbcaa2c3c0e50eed2fa1255d7514d4a2/src/graph/tuning.cc", read: "2026-11-23" },
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
      var found = times(v);
      var best = fastest(found);
      var phased = null;
      for (var i = 0; i < found.length; i++) {
        phased = found[i].name === "hierarchical" ? found[i].time : phased;
      }
      var factor = f.busFactor(v.operation, v.ranks);
      var algbw = v.size / best.time / 1e9;
      var measured = v.measured > 0 ? v.measured * 1e-3 : null;
      return {
        time: best.time, algorithm: NAMES[best.name], bound: bottleneck(v, best), phased: phased, algbw: algbw, busbw: algbw * factor, factor: factor,
        measured_busbw: measured ? (v.size / measured / 1e9) * factor : null,
        measured_share: measured ? best.time / measured : null
      };
    },
    tables: function (v) {
      var found = times(v);
      var best = fastest(found);
      var factor = f.busFactor(v.operation, v.ranks);
      var rows = [];
      for (var i = 0; i < found.length; i++) {
        var algbw = v.size / found[i].time / 1e9;
        rows.push({
          cells: [NAMES[found[i].name], found[i].isNccl ? { zh: "有", en: "yes" } : { zh: "无", en: "no" }, found[i].time, algbw, algbw * factor],
          chosen: found[i] === best
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
