/**
 * What a training step holds: weights, gradients, optimiser state, activations.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** Bytes a parameter: weights, gradients, optimiser state (master copy and Adam's two). */
  var RECIPES = {
    mixed: { bytes: [2, 2, 12], label: { zh: "BF16 权重与梯度，FP32 主权重与 Adam（16 字节）", en: "BF16 weights and gradients, FP32 master and Adam (16 bytes)" } },
    mixed32: { bytes: [2, 4, 12], label: { zh: "同上，但梯度累加用 FP32（18 字节）", en: "the same with gradients in FP32 (18 bytes)" } },
    fp32: { bytes: [4, 4, 8], label: { zh: "全 FP32（16 字节）", en: "all FP32 (16 bytes)" } },
    adam8: { bytes: [2, 2, 6], label: { zh: "8 位 Adam，FP32 主权重（10 字节）", en: "8-bit Adam with FP32 master (10 bytes)" } },
    bf16: { bytes: [2, 2, 4], label: { zh: "全 BF16，无主权重（8 字节）", en: "all BF16, no master copy (8 bytes)" } }
  };

  /**
   * Bytes of model states on one rank (ZeRO, section 5).
   *
   * Stage 1 spreads the optimiser state over the ranks, 2 the gradients too, 3 the weights too.
   */
  f.modelStates = function (parameters, bytes, stage, ranks) {
    return {
      weights: (parameters * bytes[0]) / (stage >= 3 ? ranks : 1),
      gradients: (parameters * bytes[1]) / (stage >= 2 ? ranks : 1),
      optimizer: (parameters * bytes[2]) / (stage >= 1 ? ranks : 1)
    };
  };

  /** A layer in units of s b h bytes: what stands whole on each rank, all of it, scores over a s/h. */
  var LAYERS = {
    gpt: { whole: 10, all: 34, scores: 5 },
    gated: { whole: 8, all: 0, scores: 2 }
  };

  /**
   * Bytes of activations kept for one layer and one micro-batch (Korthikanti et al., table 2).
   *
   * shape: {s, b, h, a, t, c}: sequence, micro-batch, hidden size, heads, tensor and context
   * parallel degree; and {whole, all, scores} in units of s b h, GPT's 10, 34 and 5 (a s/h) if not
   * given. recompute: none, selective (attention scores; so too with FlashAttention), full (a
   * layer's input only). With context parallelism a rank holds s/c of the sequence. Sequence
   * parallelism spreads what stood whole, and so the input that full recomputation keeps: it is a
   * rank's slice already (Megatron-LM distributes saved activations itself only without it); the
   * table's 2sbh is for tensor parallelism alone.
   */
  f.layerActivations = function (shape, isSequenceParallel, recompute) {
    var units = shape.all ? shape : LAYERS.gpt;
    var local = (shape.s / shape.c) * shape.b * shape.h;
    var spread = isSequenceParallel ? shape.t : 1;
    if (recompute === "full") {
      return (2 * local) / spread;
    }
    var scores = recompute === "none" ? (units.scores * shape.a * shape.s) / (shape.h * shape.t) : 0;
    return local * (units.whole / spread + (units.all - units.whole) / shape.t + scores);
  };

  /** Layers of the fullest pipeline stage: each of its chunks rounded up. */
  f.stageLayers = function (layers, stages, chunks) {
    return Math.ceil(layers / (stages * chunks)) * chunks;
  };

  /** Layers whose activations the first stage holds at once, under 1F1B or interleaving. */
  f.layersHeld = function (layers, stages, chunks, microBatches) {
    if (stages === 1) {
      return layers;
    }
    var own = f.stageLayers(layers, stages, chunks);
    var inFlight = Math.min(stages, microBatches);
    var interleaved = chunks > 1 ? 1 + (stages - 1) / (stages * chunks) : 1;
    return Math.min(own * inFlight * interleaved, own * microBatches);
  };

  /**
   * Embedding dropout (where there is any), last norm, output projection's input, FP32 logits
   * (section 4.3).
   */
  f.outerActivations = function (shape, stages, vocabulary, hasNoDropout) {
    var local = ((shape.s / shape.c) * shape.b * shape.h) / shape.t;
    return local * ((hasNoDropout ? 0 : stages) + (stages === 1 ? 4 * (1 + vocabulary / shape.h) : 0));
  };

  /**
   * Model states of a mixture of experts on one rank of the fullest stage.
   *
   * Attention, shared experts and the rest go by t and are sharded over d c ranks; routed experts go
   * by e (they are not cut by t) and are sharded over the d c t / e ranks that hold the same ones
   * (Megatron-Bridge pull request 3744: divisors TP and ETP x EP, the optimiser by the experts' own
   * data-parallel group).
   */
  f.expertStates = function (rest, routed, bytes, stage, v) {
    var dense = f.modelStates(rest / v.tp, bytes, stage, v.dp * v.cp);
    var expert = f.modelStates(routed / v.ep, bytes, stage, (v.dp * v.cp * v.tp) / v.ep);
    return {
      weights: dense.weights + expert.weights, gradients: dense.gradients + expert.gradients,
      optimizer: dense.optimizer + expert.optimizer
    };
  };

  /** Recipes and kinds of layers to choose from. */
  calc.memoryKinds = { recipes: RECIPES, layers: LAYERS };
})(this);
