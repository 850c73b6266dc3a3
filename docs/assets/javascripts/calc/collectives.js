/**
 * Collectives by the alpha-beta model: what an algorithm costs at least, and bus bandwidth.
 *
 * S is the size as nccl-tests counts it: the whole buffer of a rank for all-reduce, broadcast,
 * reduce and all-to-all; what all ranks hold together for all-gather and reduce-scatter.
 * alpha is in seconds a message, bandwidth in bytes a second of one rank in one direction.
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

  /** Two pipelined binary trees, each with half the data: every rank sends S up and S down. */
  f.treeAllReduce = function (n, size, alpha, bandwidth) {
    return step(n, alpha, 2 * size, bandwidth, 2 * steps(n));
  };

  /** Binomial tree: the whole buffer at each of log2 n levels. */
  f.binomial = function (n, size, alpha, bandwidth) {
    return step(n, alpha, size * steps(n), bandwidth, steps(n));
  };

  /** A chain that passes k segments on, with the best k. */
  f.chain = function (n, size, alpha, bandwidth) {
    if (n < 2) {
      return 0;
    }
    var best = Math.max(1, Math.round(Math.sqrt(((n - 2) * size) / (alpha * bandwidth))) || 1);
    return (n - 2 + best) * (alpha + size / (best * bandwidth));
  };

  /** Scatter, then all-gather in a ring (van de Geijn). */
  f.scatterGather = function (n, size, alpha, bandwidth) {
    return step(n, alpha, (2 * size * (n - 1)) / n, bandwidth, steps(n) + n - 1);
  };

  f.pairwiseAllToAll = function (n, size, alpha, bandwidth) {
    return step(n, alpha, (size * (n - 1)) / n, bandwidth, n - 1);
  };

  /** Bruck's all-to-all: half of the buffer in each of log2 n steps. */
  f.bruckAllToAll = function (n, size, alpha, bandwidth) {
    return step(n, alpha, (size / 2) * steps(n), bandwidth, steps(n));
  };

  /** Reduce-scatter in the node, all-reduce between nodes on 1/g of the data, all-gather. */
  f.hierarchicalAllReduce = function (perNode, nodes, size, inner, outer) {
    return 2 * f.ringHalf(perNode, size, inner.alpha, inner.bandwidth) +
      f.ringAllReduce(nodes, size / perNode, outer.alpha, outer.bandwidth);
  };

  f.hierarchicalHalf = function (perNode, nodes, size, inner, outer) {
    return f.ringHalf(perNode, size, inner.alpha, inner.bandwidth) +
      f.ringHalf(nodes, size / perNode, outer.alpha, outer.bandwidth);
  };

  var NAMES = {
    ring: { zh: "环", en: "ring" },
    recursive: { zh: "递归减半倍增", en: "recursive halving-doubling" },
    doubling: { zh: "递归倍增（整块）", en: "recursive doubling (whole buffer)" },
    tree: { zh: "双二叉树（流水）", en: "double binary tree (pipelined)" },
    binomial: { zh: "二项树", en: "binomial tree" },
    chain: { zh: "链（分段流水）", en: "chain (pipelined segments)" },
    scatter: { zh: "散发后全收集", en: "scatter, then all-gather" },
    bruck: { zh: "Bruck", en: "Bruck" },
    pairwise: { zh: "两两交换", en: "pairwise exchange" },
    hierarchical: { zh: "分层（节点内、节点间）", en: "hierarchical (in nodes, then between)" }
  };

  var FLAT = {
    "all-reduce": { ring: "ringAllReduce", recursive: "halvingDoublingAllReduce", doubling: "doublingAllReduce", tree: "treeAllReduce" },
    "reduce-scatter": { ring: "ringHalf", recursive: "recursiveHalf" },
    "all-gather": { ring: "ringHalf", recursive: "recursiveHalf", bruck: "recursiveHalf" },
    "all-to-all": { pairwise: "pairwiseAllToAll", bruck: "bruckAllToAll" },
    broadcast: { binomial: "binomial", chain: "chain", scatter: "scatterGather" },
    reduce: { binomial: "binomial", chain: "chain" }
  };

  function times(v) {
    var inner = { alpha: v.alpha * 1e-6, bandwidth: v.bandwidth * 1e9 };
    var outer = { alpha: v.alpha_out * 1e-6, bandwidth: v.bandwidth_out * 1e9 };
    var isOne = v.ranks <= v.per_node;
    var link = isOne ? inner : outer;
    var found = [];
    for (var name in FLAT[v.operation]) {
      var isPower = Math.pow(2, steps(v.ranks)) === v.ranks;
      if (isPower || (name !== "recursive" && name !== "doubling")) {
        found.push({ name: name, time: f[FLAT[v.operation][name]](v.ranks, v.size, link.alpha, link.bandwidth) });
      }
    }
    var nodes = v.ranks / v.per_node;
    if (!isOne && v.operation === "all-reduce") {
      found.push({ name: "hierarchical", time: f.hierarchicalAllReduce(v.per_node, nodes, v.size, inner, outer) });
    } else if (!isOne && /^(reduce-scatter|all-gather)$/.test(v.operation)) {
      found.push({ name: "hierarchical", time: f.hierarchicalHalf(v.per_node, nodes, v.size, inner, outer) });
    }
    return found;
  }

  function fastest(found) {
    var best = found[0];
    for (var i = 1; i < found.length; i++) {
      if (found[i].time < best.time) {
        best = found[i];
      }
    }
    return best;
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
      { key: "alpha", label: { zh: "节点内延迟 α", en: "Latency in the node, alpha" }, unit: "µs", value: 3, min: 0.001, max: 100000 },
      {
        key: "net", label: { zh: "每 GPU 网口", en: "Network port of a GPU" }, kind: "preset", family: "infiniband", value: "ndr",
        fills: { bandwidth_out: "port" }, help: { zh: "只在多于一个节点时用到。", en: "Used with more than one node only." }
      },
      { key: "bandwidth_out", label: { zh: "节点间带宽，每 GPU 单向", en: "Bandwidth between nodes, per GPU, one way" }, unit: "GB/s", min: 0.001, max: 100000 },
      { key: "alpha_out", label: { zh: "节点间延迟 α", en: "Latency between nodes, alpha" }, unit: "µs", value: 10, min: 0.001, max: 100000 },
      { key: "measured", label: { zh: "实测时间（可不填）", en: "Measured time (optional)" }, unit: "ms", value: 0, min: 0, max: 1e9, optional: true }
    ],
    outputs: [
      { key: "time", label: { zh: "最快算法的时间下限", en: "Least time, by the fastest algorithm" }, kind: "seconds" },
      { key: "algorithm", label: { zh: "最快的算法", en: "Fastest algorithm" } },
      { key: "algbw", label: { zh: "算法带宽 algbw", en: "Algorithm bandwidth, algbw" }, unit: "GB/s" },
      { key: "busbw", label: { zh: "总线带宽 busbw", en: "Bus bandwidth, busbw" }, unit: "GB/s" },
      { key: "factor", label: { zh: "busbw ÷ algbw", en: "busbw over algbw" } },
      { key: "measured_busbw", label: { zh: "实测的 busbw", en: "Measured busbw" }, unit: "GB/s" },
      { key: "measured_share", label: { zh: "模型时间 ÷ 实测时间", en: "Model time over measured time" }, kind: "ratio" }
    ],
    formula: [
      "t_{\\text{ring AR}} = 2(n-1)\\alpha + \\frac{2(n-1)}{n}\\frac{S}{B}, \\qquad t_{\\text{RS, AG}} = (n-1)\\alpha + \\frac{n-1}{n}\\frac{S}{B}",
      "t_{\\text{halving-doubling}} = 2\\lceil\\log_2 n\\rceil\\alpha + \\frac{2(n-1)}{n}\\frac{S}{B}, \\qquad t_{\\text{trees}} = 2\\lceil\\log_2 n\\rceil\\alpha + \\frac{2S}{B}",
      "t_{\\text{hier}} = 2\\left[(g-1)\\alpha_1 + \\tfrac{g-1}{g}\\tfrac{S}{B_1}\\right] + 2(N-1)\\alpha_2 + \\tfrac{2(N-1)}{N}\\tfrac{S}{g B_2}",
      "\\text{algbw} = S/t, \\qquad \\text{busbw}_{\\text{AR}} = \\text{algbw}\\cdot\\frac{2(n-1)}{n}, \\quad \\text{busbw}_{\\text{RS, AG, A2A}} = \\text{algbw}\\cdot\\frac{n-1}{n}"
    ],
    assumptions: [
      { zh: "下限：不计归约运算、核函数启动与拥塞；每步只有一条消息在路上。", en: "Lower bounds: no reduction arithmetic, kernel launches or congestion; one message a step." },
      { zh: "扁平算法跨节点时，整个环都按节点间的 α 与带宽算。", en: "Across nodes, a flat algorithm pays the latency and bandwidth between nodes at every step." },
      { zh: "交换机内归约（NVLS、SHARP）每 GPU 只收发约 S，可以低于这里的下限。", en: "Reduction in the switch (NVLS, SHARP) moves about S per GPU and can beat these bounds." }
    ],
    example: { inputs: { operation: "all-reduce", ranks: 8, size: "1Gi" }, says: { zh: "一台八卡机（每卡单向 450 GB/s）全归约 1 GiB：", en: "All-reduce of 1 GiB on eight GPUs with 450 GB/s each, one way:" } },
    sources: [
      { title: "nccl-tests: doc/PERFORMANCE.md", url: "https://github.com/NVIDIA/nccl-tests/blob/a0b82b2260cf5152b9f8c061bbf7eaf0ba096432/doc/PERFORMANCE.md", read: "2026-11-21" },
      { title: "Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH (2005)", url: "https://doi.org/10.1177/1094342005051521" }
    ],
    check: function (v) {
      return v.ranks > v.per_node && v.ranks % v.per_node
        ? [{ key: "ranks", zh: "多于一个节点时，进程数应是每节点 GPU 数（" + v.per_node + "）的倍数。", en: "With more than one node, ranks must be a multiple of the GPUs per node (" + v.per_node + ")." }]
        : [];
    },
    run: function (v) {
      var best = fastest(times(v));
      var factor = f.busFactor(v.operation, v.ranks);
      var algbw = v.size / best.time / 1e9;
      var measured = v.measured > 0 ? v.measured * 1e-3 : null;
      return {
        time: best.time, algorithm: NAMES[best.name], algbw: algbw, busbw: algbw * factor, factor: factor,
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
        rows.push({ cells: [NAMES[found[i].name], found[i].time, algbw, algbw * factor], chosen: found[i] === best });
      }
      return [{
        caption: { zh: "各算法", en: "Algorithms" },
        head: [
          { label: { zh: "算法", en: "Algorithm" } }, { label: { zh: "时间", en: "Time" }, kind: "seconds" },
          { label: "algbw", unit: "GB/s" }, { label: "busbw", unit: "GB/s" }
        ],
        rows: rows
      }];
    }
  });
})(this);
