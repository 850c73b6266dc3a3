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
  f.steps = steps;

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

  /** Each rank sends to the next in one ring that leaves a node through one port. */
  f.singleRing = function (perNode, nodes, size, inner, outer, passes) {
    var cost = f.railRing(perNode, nodes, size, inner, outer, passes);
    var moved = (passes * size * (perNode * nodes - 1)) / (perNode * nodes);
    return { alpha: cost.alpha, link: perNode > 1 ? moved / inner.bandwidth : 0, net: moved / outer.bandwidth };
  };

  /**
   * All-reduce in the switches: in the node each GPU sends its buffer once and a g-th of the result,
   * and takes in as much. Between nodes two binary trees (NVLSTree), or a SHARP network, which each
   * port sends its g-th once.
   */
  f.switchAllReduce = function (perNode, nodes, size, inner, outer, isSharp) {
    var buffers = isSharp && nodes > 1 ? 1 : f.treeBuffers(nodes);
    return {
      alpha: inner.alpha + (nodes === 1 ? 0 : isSharp ? outer.alpha : 2 * steps(nodes) * outer.alpha),
      link: (size * (perNode + 1)) / perNode / inner.bandwidth,
      net: (buffers * size) / perNode / outer.bandwidth
    };
  };

  /** What is left of a tree's bandwidth for 64 B, 128 B ... 256 MiB, by LL, LL128, Simple (NCCL, tuning.cc). */
  var TREE_SHARE = [
    [1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1, 1],
    [1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1, 1],
    [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9]
  ];

  /** Share of a tree's bandwidth that NCCL counts on for this size; protocol by its place. */
  f.treeShare = function (protocol, size) {
    var place = Math.floor(Math.log(Math.floor(size / 64)) / Math.LN2 + 1e-9);
    return place >= 0 && place < 23 ? TREE_SHARE[protocol][place] : 1;
  };
})(this);
