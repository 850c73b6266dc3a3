/**
 * What several calculators ask for: the accelerator, the model, and which columns of the data
 * families fill them in (of several names, the first that a row has).
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** Payload share of a line code such as "128b/130b"; 1 where the rate is already data. */
  f.lineCodeShare = function (code) {
    var match = /^(\d+)[bB]?\/(\d+)[bB]?$/.exec(code);
    return match ? Number(match[1]) / Number(match[2]) : 1;
  };

  /** Bytes a second, one direction: GT/s x lanes x code share / 8. */
  f.pcieRate = function (gtPerSecond, lanes, share) {
    return (gtPerSecond * 1e9 * lanes * share) / 8;
  };

  /** How a PCIe generation is coded, as its row says; its choices, and the widths of a link. */
  calc.pcieCode = function (cells) {
    return /^1b\/1b/.test(cells.code[0]) ? "flit" : cells.code[0];
  };
  calc.pcieCodes = [
    { value: "8b/10b", label: "8b/10b" },
    { value: "64b/66b", label: "64b/66b" },
    { value: "128b/130b", label: "128b/130b" },
    { value: "flit", label: { zh: "FLIT（PCIe 6 起）", en: "FLIT (PCIe 6 on)" } }
  ];
  calc.pcieWidths = [1, 2, 4, 8, 16, 32].map(function (n) {
    return { value: String(n), label: "x" + n };
  });

  calc.dtypes = [
    { value: "fp16", label: "BF16 / FP16" },
    { value: "fp8", label: "FP8" },
    { value: "fp4", label: "FP4" },
    { value: "int8", label: "INT8" },
    { value: "tf32", label: "TF32" },
    { value: "fp32", label: { zh: "FP32（向量）", en: "FP32 (vector)" } },
    { value: "fp64_tc", label: { zh: "FP64（张量）", en: "FP64 (tensor)" } }
  ];

  /** The usual three inputs: accelerator, data type, peak. */
  calc.gpuInputs = function (more) {
    return [
      {
        key: "gpu", label: { zh: "加速器", en: "Accelerator" }, kind: "preset", family: "accelerators", value: "h100-sxm",
        fills: function (v) {
          var filled = { peak: v.dtype };
          for (var key in more || {}) {
            filled[key] = more[key];
          }
          return filled;
        }
      },
      { key: "dtype", label: { zh: "数据类型", en: "Data type" }, kind: "choice", value: "fp16", choices: calc.dtypes },
      { key: "peak", label: { zh: "峰值算力（稠密）", en: "Peak (dense)" }, unit: "TFLOPS", min: 0.001, max: 1e6 }
    ];
  };

  /** Capacity: what the driver reports, where the data have it; else the label, which is less. */
  calc.capacityColumns = ["mem_driver", "mem_gb"];

  calc.capacityInput = {
    key: "capacity", label: { zh: "每卡显存（驱动报告）", en: "Memory of a GPU, by its driver" }, unit: "GB", min: 0.1, max: 100000,
    help: {
      zh: "10⁹ 字节：标称 80 GB 的 H100 有 85.02。没有驱动数字的型号填的是标称值。",
      en: "In 10⁹ bytes: an H100 labelled 80 GB has 85.02. Parts without a figure of the driver are filled in by their label."
    }
  };

  /** Parameters that a step looks up instead of reading: none where the output head shares them. */
  function embeddingOf(cells) {
    if (cells.embeddings && cells.embeddings[0] === 1) {
      return 0;
    }
    return cells.vocab && cells.hidden ? cells.vocab[0] * cells.hidden[0] : undefined;
  }

  function attentionOf(cells) {
    if (cells.kv_lora) {
      return "mla";
    }
    if (!cells.kv_heads || !cells.heads) {
      return undefined;
    }
    return cells.kv_heads[0] === cells.heads[0] ? "mha" : cells.kv_heads[0] === 1 ? "mqa" : "gqa";
  }

  function cell(cells, name) {
    return cells[name] ? cells[name][0] : 0;
  }

  function isMoe(cells) {
    return Boolean(cells.experts);
  }

  /** Whether layers differ in their attention, so that the shape of one does not hold for all. */
  function isHybrid(cells) {
    return Boolean(cells.kv_layers);
  }

  /** Parameters of the routed experts of all layers: three matrices each (gate, up, down). */
  function routedOf(cells) {
    if (isMoe(cells) && !cells.expert_ffn) {
      return undefined;
    }
    return isMoe(cells)
      ? (cell(cells, "layers") - cell(cells, "dense_layers")) * cell(cells, "experts") * 3 * cell(cells, "hidden") * cell(cells, "expert_ffn")
      : 0;
  }

  /** Parameters of a layer's attention, by the shapes of its projections (train/transformer-math). */
  function attentionParameters(cells) {
    var h = cell(cells, "hidden");
    var a = cell(cells, "heads");
    var d = cell(cells, "head_dim");
    if (!cells.kv_lora) {
      return h * d * 2 * (a + cell(cells, "kv_heads"));
    }
    var rope = cell(cells, "rope_dim");
    var rank = cell(cells, "q_lora");
    var r = cell(cells, "kv_lora");
    var value = cell(cells, "v_head_dim");
    var query = rank ? h * rank + rank * a * (d + rope) : h * a * (d + rope);
    return query + h * (r + rope) + r * a * (d + value) + a * value * h;
  }

  /**
   * Heads times head size in the two products of attention: Q K^T and scores times V.
   *
   * MLA multiplies keys of head_dim + rope_dim and values of v_head_dim: their mean counts, 128 x
   * 160 for DeepSeek-V3 (train/transformer-math; shapes of arXiv 2412.19437).
   */
  function coreWidth(cells) {
    var size = cell(cells, "head_dim");
    if (cells.kv_lora) {
      size = (size + cell(cells, "rope_dim") + cell(cells, "v_head_dim")) / 2;
    }
    return cells.heads && size ? cells.heads[0] * size : undefined;
  }

  /** Whether a layer is GPT's: dense, all heads keep keys, and the feed-forward block is 4h wide. */
  function isGpt(cells) {
    return !isMoe(cells) && !cells.kv_lora && cell(cells, "ffn") === 4 * cell(cells, "hidden") && cell(cells, "kv_heads") === cell(cells, "heads");
  }

  /**
   * Activations of a layer with SwiGLU and RMSNorm and without dropout, in units of s b h bytes.
   *
   * Each tensor once, in 16 bits (train/memory, "The numbers"): inputs of both norms and of what
   * follows them 8; queries, the attention's output, keys and values 4 + 4 kv/heads, of MLA its
   * latents besides; gate, up, SiLU's output and their product 8 f/h. Of routed experts each chosen
   * one keeps its dispatched input, 2, and the same 8 f/h. The mean over the layers.
   */
  function layerUnits(cells) {
    if (isHybrid(cells)) {
      return undefined;
    }
    var h = cell(cells, "hidden");
    var a = cell(cells, "heads");
    var d = cell(cells, "head_dim");
    var rope = cell(cells, "rope_dim");
    var value = cell(cells, "v_head_dim");
    var attention = cells.kv_lora
      ? (4 * cell(cells, "q_lora") + 4 * cell(cells, "kv_lora") + 2 * rope + 4 * a * (d + rope) + 4 * a * value) / h
      : (4 * a * d + 4 * cell(cells, "kv_heads") * d) / h;
    var layers = cell(cells, "layers");
    var dense = isMoe(cells) ? cell(cells, "dense_layers") : layers;
    var expert = (8 * cell(cells, "expert_ffn")) / h;
    var sparse = cell(cells, "experts_active") * (2 + expert) + cell(cells, "experts_shared") * expert;
    return 8 + attention + (dense * ((8 * cell(cells, "ffn")) / h) + (layers - dense) * sparse) / layers;
  }

  /** What every GPU holds with data-parallel attention: attention and shared experts. */
  function copiedOf(cells) {
    if (isHybrid(cells)) {
      return undefined;
    }
    return cell(cells, "layers") * attentionParameters(cells) +
      (cell(cells, "layers") - cell(cells, "dense_layers")) * cell(cells, "experts_shared") * 3 * cell(cells, "hidden") * cell(cells, "expert_ffn");
  }

  calc.modelColumns = {
    parameters: "params",
    structure: function (cells) {
      return isMoe(cells) ? "moe" : "dense";
    },
    routed: routedOf,
    experts: "experts",
    chosen: "experts_active",
    copied: copiedOf,
    layer: function (cells) {
      return isGpt(cells) ? "gpt" : "gated";
    },
    units: layerUnits,
    embedding: embeddingOf,
    value_dim: "v_head_dim",
    active: ["params_active", "params"],
    /** Of a hybrid the layers with full attention: only they keep every token, and compare all. */
    layers: ["kv_layers", "layers"],
    fixed: "fixed_bytes",
    window: "window",
    hidden: "hidden",
    heads: "heads",
    width: coreWidth,
    attention: attentionOf,
    kv_heads: "kv_heads",
    head_dim: "head_dim",
    vocabulary: "vocab",
    kv_rank: "kv_lora",
    rope_dim: "rope_dim"
  };

  /** What cannot be of a mixture of experts. */
  calc.expertProblems = function (v) {
    if (v.structure !== "moe") {
      return [];
    }
    if (v.chosen > v.experts) {
      return [{ key: "chosen", zh: "选中的专家不会多于每层的 " + v.experts + " 个。", en: "No more can be chosen than the " + v.experts + " experts of a layer." }];
    }
    return v.routed > v.parameters
      ? [{ key: "routed", zh: "路由专家的参数不会多于总参数。", en: "Routed experts cannot have more parameters than the model." }]
      : [];
  };

  /** A preset of model shapes that fills these inputs; `others` names columns in place of ours. */
  calc.modelInput = function (keys, others) {
    var fills = {};
    for (var i = 0; i < keys.length; i++) {
      fills[keys[i]] = (others || {})[keys[i]] || calc.modelColumns[keys[i]];
    }
    return { key: "model", label: { zh: "模型", en: "Model" }, kind: "preset", family: "models", value: "llama31-70b", fills: fills };
  };

  calc.shapeInputs = {
    parameters: { key: "parameters", label: { zh: "参数量", en: "Parameters" }, min: 1e3, max: 1e15, help: { zh: "可写 70B、1.5T；70 亿写作 7B。", en: "70B or 1.5T will do." } },
    layers: { key: "layers", label: { zh: "层数", en: "Layers" }, kind: "integer", min: 1, max: 10000 },
    hidden: { key: "hidden", label: { zh: "隐藏维度", en: "Hidden size" }, kind: "integer", min: 1, max: 1e6 },
    heads: { key: "heads", label: { zh: "注意力头", en: "Attention heads" }, kind: "integer", min: 1, max: 4096 },
    structure: {
      key: "structure", label: { zh: "前馈层", en: "Feed-forward" }, kind: "choice", value: "dense",
      choices: [{ value: "dense", label: { zh: "稠密", en: "dense" } }, { value: "moe", label: { zh: "混合专家（MoE）", en: "mixture of experts" } }]
    },
    routed: {
      key: "routed", label: { zh: "路由专家的参数（全部层）", en: "Parameters of routed experts (all layers)" }, min: 1e3, max: 1e15,
      when: { structure: ["moe"] }, help: { zh: "层数 × 专家数 × 3 × 隐藏维 × 专家 FFN 维。", en: "Layers × experts × 3 × hidden size × FFN size of an expert." }
    },
    experts: { key: "experts", label: { zh: "每层路由专家", en: "Routed experts a layer" }, kind: "integer", min: 2, max: 65536, when: { structure: ["moe"] } },
    chosen: { key: "chosen", label: { zh: "每 token 选中的专家", en: "Experts chosen per token" }, kind: "integer", min: 1, max: 65536, when: { structure: ["moe"] } },
    vocabulary: { key: "vocabulary", label: { zh: "词表", en: "Vocabulary" }, kind: "integer", min: 1, max: 1e7 }
  };
})(this);
