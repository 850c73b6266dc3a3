/**
 * Memory of a training step: weights, gradients, optimiser state, activations.
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

  /**
   * Bytes of activations kept for one layer and one micro-batch (Korthikanti et al., table 2).
   *
   * shape: {s, b, h, a, t, c}: sequence, micro-batch, hidden size, heads, tensor and context
   * parallel degree. recompute: none, selective (attention scores; so too with FlashAttention),
   * full (a layer's input only). With context parallelism a rank holds s/c of the sequence.
   */
  f.layerActivations = function (shape, isSequenceParallel, recompute) {
    var local = (shape.s / shape.c) * shape.b * shape.h;
    if (recompute === "full") {
      return 2 * local;
    }
    var scores = recompute === "none" ? (5 * shape.a * shape.s) / (shape.h * shape.t) : 0;
    var spread = isSequenceParallel ? 10 / shape.t : 10;
    return local * (spread + 24 / shape.t + scores);
  };

  /** Layers whose activations the first stage holds at once, under 1F1B or interleaving. */
  f.layersHeld = function (layers, stages, chunks, microBatches) {
    if (stages === 1) {
      return layers;
    }
    var inFlight = Math.min(stages, microBatches);
    var interleaved = chunks > 1 ? 1 + (stages - 1) / (stages * chunks) : 1;
    return Math.min((layers / stages) * inFlight * interleaved, (layers / stages) * microBatches);
  };

  /** Embedding dropout, last norm, output projection's input, FP32 logits (section 4.3). */
  f.outerActivations = function (shape, stages, vocabulary) {
    var local = ((shape.s / shape.c) * shape.b * shape.h) / shape.t;
    return local * (stages + (stages === 1 ? 4 * (1 + vocabulary / shape.h) : 0));
  };

  function shapeOf(v) {
    return { s: v.sequence, b: v.micro_batch, h: v.hidden, a: v.heads, t: v.tp, c: v.cp };
  }

  function parts(v, stage) {
    var states = f.modelStates(v.parameters / (v.tp * v.pp), RECIPES[v.recipe].bytes, stage, v.dp * v.cp);
    var shape = shapeOf(v);
    states.activations = f.layerActivations(shape, v.sp, v.recompute) *
      f.layersHeld(v.layers, v.pp, v.chunks, v.micro_batches);
    states.outer = f.outerActivations(shape, v.pp, v.vocabulary);
    states.total = states.weights + states.gradients + states.optimizer + states.activations + states.outer;
    return states;
  }

  function recipes() {
    var choices = [];
    for (var key in RECIPES) {
      choices.push({ value: key, label: RECIPES[key].label });
    }
    return choices;
  }

  function degree(key, value, zh, en) {
    return { key: key, label: { zh: zh, en: en }, kind: "integer", value: value, min: 1, max: 65536 };
  }

  calc.add({
    id: "training-memory",
    title: { zh: "训练显存", en: "Training memory" },
    about: {
      zh: "权重、梯度、优化器状态与激活各占多少，ZeRO 与各种并行各省哪一块。",
      en: "What weights, gradients, optimiser state and activations take, and which part each kind of parallelism saves."
    },
    note: "train/memory",
    inputs: [
      calc.modelInput(["parameters", "layers", "hidden", "heads", "vocabulary"]),
      calc.shapeInputs.parameters, calc.shapeInputs.layers, calc.shapeInputs.hidden, calc.shapeInputs.heads,
      calc.shapeInputs.vocabulary,
      { key: "sequence", label: { zh: "序列长度", en: "Sequence length" }, kind: "integer", value: 8192, min: 1, max: 1e8 },
      { key: "micro_batch", label: { zh: "微批大小", en: "Micro-batch" }, kind: "integer", value: 1, min: 1, max: 65536 },
      { key: "micro_batches", label: { zh: "每步微批数", en: "Micro-batches a step" }, kind: "integer", value: 16, min: 1, max: 1e6 },
      { key: "recipe", label: { zh: "数据类型与优化器", en: "Data types and optimiser" }, kind: "choice", value: "mixed", choices: recipes() },
      {
        key: "stage", label: { zh: "ZeRO / FSDP", en: "ZeRO / FSDP" }, kind: "choice", value: "1",
        choices: [
          { value: "0", label: { zh: "不切分（DDP）", en: "none (DDP)" } },
          { value: "1", label: { zh: "1：优化器状态", en: "1: optimiser state" } },
          { value: "2", label: { zh: "2：加梯度", en: "2: and gradients" } },
          { value: "3", label: { zh: "3：加权重（FSDP 全切分）", en: "3: and weights (FSDP full shard)" } }
        ]
      },
      degree("dp", 8, "数据并行 DP", "Data parallel, DP"),
      degree("tp", 8, "张量并行 TP", "Tensor parallel, TP"),
      degree("pp", 4, "流水线并行 PP", "Pipeline parallel, PP"),
      degree("cp", 1, "上下文并行 CP", "Context parallel, CP"),
      { key: "sp", label: { zh: "序列并行（随 TP）", en: "Sequence parallel (with TP)" }, kind: "flag", value: true },
      { key: "chunks", label: { zh: "交错段数 v", en: "Interleaved chunks, v" }, kind: "integer", value: 1, min: 1, max: 64 },
      {
        key: "recompute", label: { zh: "重计算", en: "Recomputation" }, kind: "choice", value: "selective",
        choices: [
          { value: "none", label: { zh: "不重算", en: "none" } },
          { value: "selective", label: { zh: "选择性（或 FlashAttention）", en: "selective (or FlashAttention)" } },
          { value: "full", label: { zh: "整层", en: "full" } }
        ]
      },
      { key: "gpu", label: { zh: "加速器", en: "Accelerator" }, kind: "preset", family: "accelerators", value: "h100-sxm", fills: { capacity: "mem_gb" } },
      { key: "capacity", label: { zh: "每卡显存", en: "Memory of a GPU" }, unit: "GB", min: 0.1, max: 100000 }
    ],
    outputs: [
      { key: "total", label: { zh: "每卡合计", en: "Total on a GPU" }, kind: "bytes" },
      { key: "weights", label: { zh: "权重", en: "Weights" }, kind: "bytes" },
      { key: "gradients", label: { zh: "梯度", en: "Gradients" }, kind: "bytes" },
      { key: "optimizer", label: { zh: "优化器状态", en: "Optimiser state" }, kind: "bytes" },
      { key: "activations", label: { zh: "各层激活", en: "Activations of layers" }, kind: "bytes" },
      { key: "outer", label: { zh: "嵌入与输出层激活", en: "Activations of embedding and output" }, kind: "bytes" },
      { key: "layer", label: { zh: "其中每层每微批", en: "of which a layer and micro-batch" }, kind: "bytes" },
      { key: "gpus", label: { zh: "共用 GPU", en: "GPUs in all" }, kind: "count" },
      { key: "share", label: { zh: "占每卡显存", en: "Share of a GPU's memory" }, kind: "ratio" }
    ],
    formula: [
      "M_{\\text{states}} = \\frac{\\Psi}{t\\,p}\\left(\\frac{k_w}{N_{[3]}} + \\frac{k_g}{N_{[2,3]}} + \\frac{k_o}{N_{[1,2,3]}}\\right), \\quad N = d \\cdot c",
      "M_{\\text{layer}} = \\frac{s}{c}bh\\left(\\frac{10}{t_{[SP]}} + \\frac{24}{t} + \\frac{5as}{ht}\\right) \\text{ (none)}, \\quad \\frac{s}{c}bh\\left(\\frac{10}{t_{[SP]}} + \\frac{24}{t}\\right) \\text{ (selective)}, \\quad 2\\frac{s}{c}bh \\text{ (full)}"
    ],
    assumptions: [
      { zh: "方括号：只有启用该 ZeRO 阶段（或序列并行）时才除。", en: "Brackets: divided only in those ZeRO stages (or with sequence parallelism)." },
      { zh: "激活系数 34 = 10 + 24 属于 GPT 式层（GELU、4h 前馈、dropout、16 位）；SwiGLU 与 GQA 的系数不同。", en: "The 34 = 10 + 24 belongs to a GPT layer (GELU, 4h feed-forward, dropout, 16 bits); with SwiGLU and GQA it differs." },
      { zh: "流水线第一段最满：1F1B 下同时压着 min(p, m) 个微批。", en: "The first pipeline stage is fullest: under 1F1B it holds min(p, m) micro-batches." },
      { zh: "参数在 TP、PP 间均分；不含碎片、通信缓冲与 CUDA 上下文，实际还要另加。", en: "Parameters split evenly over TP and PP; fragments, communication buffers and the CUDA context come on top." }
    ],
    example: {
      inputs: { model: "", gpu: "", parameters: "7.5B", layers: 32, hidden: 4096, heads: 32, vocabulary: 50257, sequence: 2048, recipe: "mixed", stage: "1", dp: 64, tp: 1, pp: 1, sp: false, capacity: 80 },
      says: { zh: "75 亿参数、64 路数据并行、ZeRO-1（ZeRO 论文图 1 的例子：模型状态 31.4 GB）：", en: "7.5 billion parameters, 64-way data parallel, ZeRO-1 (the example of the ZeRO paper's figure 1: 31.4 GB of model states):" }
    },
    sources: [
      { title: "Rajbhandari et al.: ZeRO (arXiv 1910.02054)", url: "https://arxiv.org/abs/1910.02054", read: "2026-11-21" },
      { title: "Korthikanti et al.: Reducing Activation Recomputation in Large Transformer Models (arXiv 2205.05198)", url: "https://arxiv.org/abs/2205.05198", read: "2026-11-21" }
    ],
    check: function (v) {
      var wrong = [];
      if (v.heads % v.tp && v.tp <= v.heads) {
        wrong.push({ key: "tp", zh: "张量并行数应整除注意力头数 " + v.heads + "。", en: "The tensor parallel degree must divide the " + v.heads + " heads." });
      }
      if (v.tp > v.heads) {
        wrong.push({ key: "tp", zh: "张量并行不会超过注意力头数 " + v.heads + "。", en: "Tensor parallelism cannot exceed the " + v.heads + " heads." });
      }
      if (v.pp * v.chunks > v.layers) {
        wrong.push({ key: "pp", zh: "流水线段数乘交错段数不会超过层数 " + v.layers + "。", en: "Stages times chunks cannot exceed the " + v.layers + " layers." });
      }
      return wrong;
    },
    run: function (v) {
      var found = parts(v, Number(v.stage));
      found.layer = f.layerActivations(shapeOf(v), v.sp, v.recompute);
      found.gpus = v.dp * v.tp * v.pp * v.cp;
      found.share = found.total / (v.capacity * 1e9);
      return found;
    },
    remarks: function (v, out) {
      return out.share > 1
        ? [{ zh: "放不下：超出 " + calc.format(out.total - v.capacity * 1e9, { kind: "bytes" }, "zh") + "。", en: "Does not fit: " + calc.format(out.total - v.capacity * 1e9, { kind: "bytes" }, "en") + " too much." }]
        : [];
    },
    tables: function (v) {
      var rows = [];
      for (var stage = 0; stage <= 3; stage++) {
        var found = parts(v, stage);
        rows.push({
          cells: [{ zh: stage ? "ZeRO-" + stage : "DDP", en: stage ? "ZeRO-" + stage : "DDP" }, found.weights / 1e9, found.gradients / 1e9, found.optimizer / 1e9, (found.activations + found.outer) / 1e9, found.total / 1e9],
          chosen: stage === Number(v.stage)
        });
      }
      return [{
        caption: { zh: "各 ZeRO 阶段，每卡（GB，10⁹ 字节）", en: "ZeRO stages, on a GPU (GB, 10⁹ bytes)" },
        head: [
          { label: { zh: "阶段", en: "Stage" } }, { label: { zh: "权重", en: "Weights" } }, { label: { zh: "梯度", en: "Gradients" } },
          { label: { zh: "优化器", en: "Optimiser" } }, { label: { zh: "激活", en: "Activations" } }, { label: { zh: "合计", en: "Total" } }
        ],
        rows: rows
      }];
    },
    draw: function (v, out) {
      return f.memoryScene(v, out);
    }
  });

  /** One bar: the parts of a GPU's memory against what it has. */
  f.memoryScene = function (v, out) {
    var capacity = v.capacity * 1e9;
    var scale = 380 / Math.max(out.total, capacity);
    var names = [
      ["weights", "a", { zh: "权重", en: "weights" }], ["gradients", "b", { zh: "梯度", en: "gradients" }],
      ["optimizer", "c", { zh: "优化器", en: "optimiser" }], ["activations", "d", { zh: "激活", en: "activations" }],
      ["outer", "e", { zh: "嵌入与输出", en: "ends" }]
    ];
    var items = [];
    var at = 10;
    for (var i = 0; i < names.length; i++) {
      var width = out[names[i][0]] * scale;
      items.push({ kind: "box", x: at, y: 8, w: width, h: 34, tone: names[i][1], text: names[i][2], title: { zh: names[i][2].zh + " " + calc.format(out[names[i][0]], { kind: "bytes" }, "zh"), en: names[i][2].en + " " + calc.format(out[names[i][0]], { kind: "bytes" }, "en") } });
      at += width;
    }
    var limit = 10 + capacity * scale;
    items.push({ kind: "line", tone: "limit", points: [[limit, 2], [limit, 50]] });
    items.push({
      kind: "text", x: Math.min(limit, 390), y: 64, anchor: "end", tone: "muted",
      text: { zh: "每卡 " + calc.number(v.capacity) + " GB", en: calc.number(v.capacity) + " GB a GPU" }
    });
    return {
      width: 400, height: 72, items: items, fluid: true,
      alt: {
        zh: "每卡显存的构成：合计 " + calc.format(out.total, { kind: "bytes" }, "zh") + "，占 " + calc.format(out.share, { kind: "ratio" }, "zh") + "。",
        en: "What fills a GPU's memory: " + calc.format(out.total, { kind: "bytes" }, "en") + " in all, " + calc.format(out.share, { kind: "ratio" }, "en") + " of it."
      }
    };
  };
})(this);
