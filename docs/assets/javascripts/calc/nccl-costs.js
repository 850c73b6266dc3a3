/**
 * What collectives take with NCCL's algorithms and protocols, and with others.
 *
 * Latencies and shares of the bandwidth are those by which NCCL itself chooses (v2.30.7-1,
 * src/graph/tuning.cc: constants L138-L213, how they are put together L295-L438, by size L608-L656).
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  var PROTOCOLS = ["LL", "LL128", "Simple"];

  /** NCCL's latencies in microseconds, and payload over bytes sent, for LL, LL128 and Simple. */
  var RING = { base: [6.6, 14, 8.4], link: [0.6, 1.9, 3.4], net: [2.7, 4, 14], share: [1 / 2, 0.92, 1] };
  var TREE = {
    base: [6.8, 14, 8.4], link: [0.6, 1.25, 4], net: [5, 8.5, 14], share: [0.92 / 3.8, (0.92 * 15) / 16, 0.92]
  };
  /** Microseconds that a proxy needs for a message (Intel; AMD twice that), a floor for ring steps. */
  var POST = [1, 1, 3];

  /** Latency of a step and rate of the links for one algorithm's constants and one protocol. */
  function linksOf(v, set, p, nodes, perNode) {
    var share = set === TREE ? set.share[p] * f.treeShare(p, v.size) : set.share[p];
    var link = set === RING && nodes > 1 ? Math.max(set.link[p], POST[p]) : set.link[p];
    var net = perNode === 1 ? TREE.net[p] : set.net[p];
    return {
      base: set.base[p], inner: { alpha: link * 1e-6, bandwidth: v.bandwidth * v.share * share * 1e9 },
      outer: { alpha: (net + v.path * (p === 2 ? 2 : 1)) * 1e-6, bandwidth: v.bandwidth_out * v.share_out * share * 1e9 }
    };
  }

  var NAMES = {
    ring: { zh: "环（每网口一条）", en: "ring (one per port)" },
    tree: { zh: "双二叉树（节点内为链）", en: "double binary tree (chains in nodes)" },
    nvls: { zh: "NVLS（NVSwitch 内归约）", en: "NVLS (reduction in the NVSwitch)" },
    nvlstree: { zh: "NVLSTree（节点内 NVLS，节点间双树）", en: "NVLSTree (NVLS in nodes, trees between)" },
    sharp: { zh: "NVLS 加 SHARP（网络内归约）", en: "NVLS and SHARP (reduction in the network)" },
    flatTree: { zh: "双二叉树（不分节点）", en: "double binary tree (flat)" },
    pat: { zh: "PAT", en: "PAT" },
    direct: { zh: "直接交换", en: "direct exchange" },
    chain: { zh: "链（分段流水）", en: "chain (pipelined segments)" },
    single: { zh: "环（只走一个网口）", en: "ring (through one port only)" },
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
    "reduce-scatter": { recursive: "recursiveHalf", bruck: "recursiveHalf" },
    "all-gather": { recursive: "recursiveHalf", bruck: "recursiveHalf" },
    "all-to-all": { bruck: "bruckAllToAll" },
    broadcast: { binomial: "binomial", scatter: "scatterGather" },
    reduce: { binomial: "binomial" }
  };

  function isPower(n) {
    return Math.pow(2, f.steps(n)) === n;
  }

  /** The least cost over the protocols asked for; make(inner, outer) without NCCL's base. */
  function best(v, set, perNode, nodes, make, calls) {
    if (v.protocol === "own") {
      return make({ alpha: v.alpha * 1e-6, bandwidth: v.bandwidth * v.share * 1e9 }, {
        alpha: v.alpha_out * 1e-6, bandwidth: v.bandwidth_out * v.share_out * 1e9
      });
    }
    var least = null;
    for (var p = 0; p < 3; p++) {
      if (v.protocol === "least" || v.protocol === PROTOCOLS[p]) {
        var links = linksOf(v, set, p, nodes, perNode);
        var cost = make(links.inner, links.outer, p);
        cost.alpha = (cost.alpha + (calls || 1) * links.base * 1e-6) * (cost.plateau || 1);
        cost.protocol = PROTOCOLS[p];
        least = !least || f.costTime(cost) < f.costTime(least) ? cost : least;
      }
    }
    return least;
  }

  /** All-reduce in the switches, by the constants of NVLS, NVLSTree and CollNet. */
  function inSwitch(v, perNode, nodes) {
    var inner = { alpha: 25e-6, bandwidth: v.bandwidth * v.share * v.nvls_share * 1e9 };
    var outer = {
      alpha: ((v.offload === "sharp" ? 18 : 20.9) + 2 * v.path) * 1e-6, bandwidth: v.bandwidth_out * v.share_out * 1e9
    };
    var cost = f.switchAllReduce(perNode, nodes, v.size, inner, outer, v.offload === "sharp");
    cost.protocol = "Simple";
    return cost;
  }

  /** PAT, one GPU a node: log2 n rounds and a linear part, three quarters of the bandwidth. */
  function pat(v) {
    var half = f.ringHalf(v.ranks, v.size, 0, v.bandwidth_out * v.share_out * 0.75e9);
    var alpha = (8 + (f.steps(v.ranks) * (14 + 2 * v.path)) / 3.5 + 2.8 * v.ranks) * 1e-6;
    return { alpha: alpha, link: 0, net: half, protocol: "Simple" };
  }

  /** Costs by name of the algorithms that NCCL has, and of all others. */
  function costs(v) {
    var g = Math.min(v.ranks, v.per_node);
    var nodes = v.ranks / g;
    var passes = v.operation === "all-reduce" ? 2 : 1;
    var isHalf = v.operation === "reduce-scatter" || v.operation === "all-gather";
    var nccl = {};
    var others = {};

    function add(group, name, formula, set, more, calls) {
      group[name] = best(v, set, g, nodes, function (inner, outer, p) {
        var cost = f[formula].apply(null, [g, nodes, v.size, inner, outer].concat(more));
        if (name === "ring" && p === 2 && nodes > 1 && passes === 2 && v.size / v.ranks >= 1024) {
          cost.plateau = 1.4;
        }
        return cost;
      }, calls);
    }

    if (passes === 2 || isHalf) {
      add(nccl, "ring", "railRing", RING, [passes]);
      if (nodes > 1 && passes === 2) {
        add(nccl, "tree", "railTree", TREE, []);
      }
      if (passes === 2 && v.offload !== "none" && g > 1) {
        nccl[nodes === 1 ? "nvls" : v.offload === "sharp" ? "sharp" : "nvlstree"] = inSwitch(v, g, nodes);
      }
      if (nodes > 1 && isHalf && g === 1 && v.protocol !== "own") {
        nccl.pat = pat(v);
      }
      if (nodes > 1 && g > 1) {
        add(others, "single", "singleRing", RING, [passes]);
        add(others, "overlapped", "hierarchical", RING, [passes, true]);
        add(others, "hierarchical", "hierarchical", RING, [passes, false], passes + 1);
        if (isPower(g) && isPower(nodes)) {
          add(others, "recursive", "recursiveRails", RING, [passes]);
        }
      }
    } else if (v.operation === "all-to-all") {
      add(nccl, "direct", "directAllToAll", RING, []);
    } else {
      add(nccl, "chain", "railChain", RING, []);
    }
    if (nodes === 1 || g === 1) {
      for (var name in FLAT[v.operation]) {
        if ((name !== "flatTree" || nodes === 1) && (isPower(v.ranks) || (name !== "recursive" && name !== "doubling"))) {
          others[name] = flat(v, g, nodes, FLAT[v.operation][name]);
        }
      }
    }
    return { nccl: nccl, others: others };
  }

  /** A textbook algorithm over one kind of link. */
  function flat(v, perNode, nodes, formula) {
    return best(v, RING, perNode, nodes, function (inner, outer) {
      var link = nodes === 1 ? inner : outer;
      var bytes = f[formula](v.ranks, v.size, 0, link.bandwidth);
      var all = f[formula](v.ranks, v.size, link.alpha, link.bandwidth);
      return { alpha: all - bytes, link: nodes === 1 ? bytes : 0, net: nodes === 1 ? 0 : bytes };
    });
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

  /** What the bytes alone take at the full nominal rates, by the best of those algorithms. */
  function floorOf(v) {
    var bare = {};
    for (var key in v) {
      bare[key] = v[key];
    }
    bare.protocol = "own";
    bare.alpha = bare.alpha_out = 1e-6;
    bare.share = bare.share_out = bare.nvls_share = 1;
    var found = times(bare);
    var least = null;
    for (var i = 0; i < found.length; i++) {
      var cost = found[i].cost;
      var bytes = cost.summed ? cost.link + cost.net : Math.max(cost.link, cost.net);
      least = found[i].counts && (least === null || bytes < least) ? bytes : least;
    }
    return least;
  }

  function named(one) {
    var name = NAMES[one.name];
    var protocol = one.cost.protocol;
    return protocol ? { zh: name.zh + "，" + protocol, en: name.en + ", " + protocol } : name;
  }

  function fastest(found) {
    var first = null;
    for (var i = 0; i < found.length; i++) {
      if (found[i].counts && (!first || found[i].time < first.time)) {
        first = found[i];
      }
    }
    return first;
  }

  /** What most of the time goes to. */
  function bottleneck(v, first) {
    var fixed = v.launch * 1e-6 + first.cost.alpha;
    var bytes = first.time - fixed;
    return fixed > bytes ? { zh: "延迟（步数与启动）", en: "latency (steps and the call)" }
      : first.cost.net > first.cost.link ? { zh: "节点间网口", en: "the ports between nodes" }
        : { zh: "节点内互联", en: "the link in the node" };
  }

  /** What the calculator answers from. */
  calc.ncclParts = { times: times, floorOf: floorOf, named: named, fastest: fastest, bottleneck: bottleneck };
})(this);
