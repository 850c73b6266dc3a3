/**
 * The calculator of the memory of a training step (training-states.js has the formulas).
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var kinds = calc.memoryKinds;

  function shapeOf(v) {
    var kind = kinds.layers[v.layer];
    return {
      s: v.sequence, b: v.micro_batch, h: v.hidden, a: v.heads, t: v.tp, c: v.cp,
      whole: kind.whole, all: v.layer === "gpt" ? kind.all : v.units, scores: kind.scores
    };
  }

  function parts(v, stage) {
    var share = f.stageLayers(v.layers, v.pp, v.chunks) / v.layers;
    var routed = v.structure === "moe" ? v.routed : 0;
    var states = routed
      ? f.expertStates((v.parameters - routed) * share, routed * share, kinds.recipes[v.recipe].bytes, stage, v)
      : f.modelStates((v.parameters * share) / v.tp, kinds.recipes[v.recipe].bytes, stage, v.dp * v.cp);
    var shape = shapeOf(v);
    states.activations = f.layerActivations(shape, v.sp, v.recompute) *
      f.layersHeld(v.layers, v.pp, v.chunks, v.micro_batches);
    states.outer = f.outerActivations(shape, v.pp, v.vocabulary, v.layer !== "gpt");
    states.total = states.weights + states.gradients + states.optimizer + states.activations + states.outer;
    return states;
  }

  function recipes() {
    var choices = [];
    for (var key in kinds.recipes) {
      choices.push({ value: key, label: kinds.recipes[key].label });
    }
    return choices;
  }

  function expertProblems(v) {
    if (v.structure !== "moe") {
      return [];
    }
    var wrong = v.routed > v.parameters
      ? [{ key: "routed", zh: "路由专家的参数不会多于总参数。", en: "Routed experts cannot have more parameters than the model." }]
      : [];
    if (v.experts % v.ep) {
      wrong.push({ key: "ep", zh: "专家并行数应整除每层的 " + v.experts + " 个专家。", en: "Expert parallelism must divide the " + v.experts + " experts of a layer." });
    } else if ((v.dp * v.cp * v.tp) % v.ep) {
      wrong.push({ key: "ep", zh: "专家并行数应整除 DP × CP × TP = " + v.dp * v.cp * v.tp + "。", en: "Expert parallelism must divide DP × CP × TP = " + v.dp * v.cp * v.tp + "." });
    }
    if (v.tp > 1 && !v.sp) {
      wrong.push({ key: "sp", zh: "混合专家与张量并行同用时要开序列并行。", en: "Experts with tensor parallelism need sequence parallelism." });
    }
    return wrong;
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
      calc.modelInput(["parameters", "layers", "hidden", "heads", "vocabulary", "structure", "routed", "experts", "layer", "units"], { layers: "layers" }),
      calc.shapeInputs.parameters, calc.shapeInputs.layers, calc.shapeInputs.hidden, calc.shapeInputs.heads,
      calc.shapeInputs.vocabulary, calc.shapeInputs.structure, calc.shapeInputs.routed, calc.shapeInputs.experts,
      {
        key: "layer", label: { zh: "层的种类", en: "Kind of layer" }, kind: "choice", value: "gpt",
        choices: [
          { value: "gpt", label: { zh: "GPT：GELU、LayerNorm、dropout（34 sbh）", en: "GPT: GELU, LayerNorm, dropout (34 sbh)" } },
          { value: "gated", label: { zh: "Llama 一类：SwiGLU、RMSNorm、无 dropout", en: "as Llama: SwiGLU, RMSNorm, no dropout" } }
        ]
      },
      {
        key: "units", label: { zh: "每层激活，以 sbh 字节为单位", en: "Activations of a layer, in units of sbh bytes" }, min: 8, max: 10000, when: { layer: ["gated"] },
        help: { zh: "稠密：12 + 4 × KV 头 ÷ 头 + 8 × FFN 维 ÷ 隐藏维；Llama 3.1 70B 为 40.5。", en: "Dense: 12 + 4 × KV heads ÷ heads + 8 × FFN size ÷ hidden size; 40.5 for Llama 3.1 70B." }
      },
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
      {
        key: "ep", label: { zh: "专家并行 EP", en: "Expert parallel, EP" }, kind: "integer", min: 1, max: 65536, when: { structure: ["moe"] },
        ask: { zh: "混合专家模型占多少取决于专家并行数。", en: "What a mixture of experts takes depends on expert parallelism. " },
        help: { zh: "路由专家分到多少块 GPU；整除 DP × CP × TP。专家不再按 TP 切。", en: "GPUs that share the routed experts; divides DP × CP × TP. TP does not cut experts." }
      },
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
      { key: "gpu", label: { zh: "加速器", en: "Accelerator" }, kind: "preset", family: "accelerators", value: "h100-sxm", fills: { capacity: calc.capacityColumns } },
      calc.capacityInput
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
      "\\text{MoE: } \\Psi - \\Psi_r \\text{ by } t \\text{ and } N = dc, \\quad \\Psi_r \\text{ by } e \\text{ and } N = dct/e",
      "M_{\\text{layer}} = \\frac{s}{c}bh\\left(\\frac{w}{t_{[SP]}} + \\frac{u - w}{t} + \\frac{x\\,as}{ht}\\right) \\text{ (none)}, \\allowbreak\\quad \\frac{s}{c}bh\\left(\\frac{w}{t_{[SP]}} + \\frac{u - w}{t}\\right) \\text{ (selective)}, \\allowbreak\\quad \\frac{2}{t_{[SP]}}\\frac{s}{c}bh \\text{ (full)}",
      "\\text{GPT: } u = 34,\\ w = 10,\\ x = 5; \\qquad \\text{SwiGLU: } u = 12 + 4\\frac{a_{kv}}{a} + 8\\frac{f}{h},\\ w = 8,\\ x = 2"
    ],
    assumptions: [
      { zh: "方括号：只有启用该 ZeRO 阶段（或序列并行）时才除。", en: "Brackets: divided only in those ZeRO stages (or with sequence parallelism)." },
      { zh: "激活系数 34 = 10 + 24 属于 GPT 式层（GELU、4h 前馈、dropout、16 位）；选 Llama、Qwen 等模型时按各自的 SwiGLU、RMSNorm 与 GQA 逐张量计，每个张量只存一份。", en: "The 34 = 10 + 24 belongs to a GPT layer (GELU, 4h feed-forward, dropout, 16 bits); for Llama, Qwen and others the tensors of their SwiGLU, RMSNorm and GQA are counted, each kept once." },
      { zh: "MoE 层：每 token 选中的专家各存派发来的输入与 8f/h，路由均匀；各层取平均。MLA 的键、值按展开后存。", en: "MoE layers: each chosen expert keeps its dispatched input and 8f/h a token, with even routing; averaged over the layers. MLA keeps keys and values expanded." },
      { zh: "流水线第一段最满：1F1B 下同时压着 min(p, m) 个微批。层数除不尽时按层最多的一段算。", en: "The first pipeline stage is fullest: under 1F1B it holds min(p, m) micro-batches. Where layers do not divide, the stage with most of them counts." },
      { zh: "每段的参数按层数分、在 TP 内均分；不含碎片、通信缓冲与 CUDA 上下文，实际还要另加。", en: "A stage's parameters go by its layers, evenly over TP; fragments, communication buffers and the CUDA context come on top." }
    ],
    example: {
      inputs: { model: "", gpu: "", parameters: "7.5B", layers: 32, hidden: 4096, heads: 32, vocabulary: 50257, sequence: 2048, recipe: "mixed", stage: "1", dp: 64, tp: 1, pp: 1, sp: false, capacity: 80, structure: "dense", layer: "gpt" },
      says: { zh: "75 亿参数、64 路数据并行、ZeRO-1（ZeRO 论文图 1 的例子：模型状态 31.4 GB）：", en: "7.5 billion parameters, 64-way data parallel, ZeRO-1 (the example of the ZeRO paper's figure 1: 31.4 GB of model states):" }
    },
    sources: [
      { title: "Rajbhandari et al.: ZeRO (arXiv 1910.02054)", url: "https://arxiv.org/abs/1910.02054", read: "2026-11-21" },
      { title: "Megatron-Bridge, pull request 3744: MoE memory estimator", url: "https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/3744", read: "2026-11-23" },
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
      var cut = v.cp * (v.sp ? v.tp : 1);
      if (v.sequence % cut) {
        wrong.push({
          key: "sequence", zh: "序列长度应能被上下文并行" + (v.sp ? "乘张量并行（序列并行）" : "") + "的 " + cut + " 整除。",
          en: "The sequence must be divisible by the " + cut + " of context parallelism" + (v.sp ? " times tensor (sequence) parallelism." : ".")
        });
      }
      return wrong.concat(expertProblems(v));
    },
    run: function (v) {
      var found = parts(v, Number(v.stage));
      found.layer = f.layerActivations(shapeOf(v), v.sp, v.recompute);
      found.gpus = v.dp * v.tp * v.pp * v.cp;
      found.share = found.total / (v.capacity * 1e9);
      return found;
    },
    remarks: function (v, out) {
      var said = [];
      if (v.layers % (v.pp * v.chunks)) {
        var own = f.stageLayers(v.layers, v.pp, v.chunks);
        said.push({
          zh: v.layers + " 层分不匀 " + v.pp * v.chunks + " 份：按最满的一段 " + own + " 层算。",
          en: v.layers + " layers do not divide by " + v.pp * v.chunks + ": this is the fullest stage, with " + own + " of them."
        });
      }
      return said.concat(out.share > 1
        ? [{ zh: "放不下：超出 " + calc.format(out.total - v.capacity * 1e9, { kind: "bytes" }, "zh") + "。", en: "Does not fit: " + calc.format(out.total - v.capacity * 1e9, { kind: "bytes" }, "en") + " too much." }]
        : []);
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
