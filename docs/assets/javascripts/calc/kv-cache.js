/**
 * The KV cache of inference: its size, and how GPUs share it.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** KV cache of a token in bytes. MLA keeps one latent and the rotary key for all heads. */
  f.kvBytesPerToken = function (shape) {
    if (shape.attention === "mla") {
      return shape.layers * (shape.kv_rank + shape.rope_dim) * shape.bytes;
    }
    return 2 * shape.layers * f.kvHeads(shape) * shape.head_dim * shape.bytes;
  };

  /** Key-value heads: all of them (MHA), groups (GQA), or one (MQA). */
  f.kvHeads = function (shape) {
    if (shape.attention === "mha") {
      return shape.heads;
    }
    return shape.attention === "mqa" ? 1 : shape.kv_heads;
  };

  /**
   * Share of the cache that one GPU of a tensor parallel group holds and reads.
   *
   * Heads cannot be cut: the fullest GPU has its heads rounded up, and with more GPUs than heads
   * copies are kept (vLLM's num_kv_heads per rank is at least 1); a latent (MLA) has no heads and is
   * whole on each GPU (SGLang, "Decode Context Parallelism": that is what it spreads).
   */
  f.kvShare = function (shape, gpus) {
    return shape.attention === "mla" ? 1 : Math.ceil(f.kvHeads(shape) / gpus) / f.kvHeads(shape);
  };

  /**
   * The same in a decode step of some batch, by how the model is spread over the GPUs.
   *
   * tp: by heads. cp: by heads and, where they do not suffice, by tokens (decode context
   * parallelism), so that nothing is held twice. dp: by sequences; the fullest GPU has the batch
   * rounded up.
   */
  f.kvReadShare = function (shape, gpus, batch, split) {
    if (split === "dp") {
      return Math.ceil(batch / gpus) / batch;
    }
    return split === "cp" ? 1 / gpus : f.kvShare(shape, gpus);
  };

  var ATTENTION = [
    { value: "gqa", label: { zh: "GQA（分组）", en: "GQA (grouped)" } },
    { value: "mha", label: { zh: "MHA（每头各一份）", en: "MHA (one per head)" } },
    { value: "mqa", label: { zh: "MQA（全体共一份）", en: "MQA (one for all)" } },
    { value: "mla", label: { zh: "MLA（潜向量）", en: "MLA (latent)" } }
  ];
  var BYTES = [
    { value: "2", label: { zh: "2（BF16、FP16）", en: "2 (BF16, FP16)" } },
    { value: "1", label: { zh: "1（FP8、INT8）", en: "1 (FP8, INT8)" } },
    { value: "0.5", label: { zh: "0.5（FP4、INT4，不含缩放因子）", en: "0.5 (FP4, INT4, without scales)" } },
    { value: "4", label: "4 (FP32)" }
  ];

  var CACHE_INPUTS = [
    { key: "attention", label: { zh: "注意力", en: "Attention" }, kind: "choice", value: "gqa", choices: ATTENTION },
    { key: "layers", label: { zh: "层数（混合模型：全注意力层）", en: "Layers (of a hybrid: with full attention)" }, kind: "integer", min: 1, max: 10000 },
    { key: "heads", label: { zh: "查询头数", en: "Query heads" }, kind: "integer", min: 1, max: 4096, value: 32, when: { attention: ["mha"] } },
    { key: "kv_heads", label: { zh: "KV 头数", en: "KV heads" }, kind: "integer", min: 1, max: 4096, value: 8, when: { attention: ["gqa"] } },
    { key: "head_dim", label: { zh: "头维度", en: "Head size" }, kind: "integer", min: 1, max: 4096, value: 128, when: { attention: ["mha", "gqa", "mqa"] } },
    { key: "kv_rank", label: { zh: "KV 潜向量维度", en: "Size of the KV latent" }, kind: "integer", min: 1, max: 65536, value: 512, when: { attention: ["mla"] } },
    { key: "rope_dim", label: { zh: "解耦 RoPE 键维度", en: "Size of the rotary key" }, kind: "integer", min: 0, max: 4096, value: 64, when: { attention: ["mla"] } },
    { key: "kv_bytes", label: { zh: "缓存每元素字节", en: "Bytes per cached element" }, kind: "choice", value: "2", choices: BYTES }
  ];

  /** The same, with the query heads always in play: attention's arithmetic needs them. */
  var SHAPE_INPUTS = CACHE_INPUTS.map(function (input) {
    return input.key !== "heads" ? input : {
      key: "heads", label: input.label, kind: "integer", min: 1, max: 4096, value: 32
    };
  });

  var VALUE_DIM = { key: "value_dim", label: { zh: "值头维度", en: "Size of a value head" }, kind: "integer", value: 128, min: 1, max: 4096, when: { attention: ["mla"] } };

  function shapeOf(v) {
    return {
      attention: v.attention, layers: v.layers, heads: v.heads, kv_heads: v.kv_heads, head_dim: v.head_dim,
      kv_rank: v.kv_rank, rope_dim: v.rope_dim, bytes: Number(v.kv_bytes)
    };
  }

  /** Bytes of a sequence that do not grow: a state; or a window, once it is full. */
  f.fixedBytes = function (v) {
    var filled = v.window ? Math.min(1, v.context / v.window) * (Number(v.kv_bytes) / 2) : 1;
    return v.fixed * 1e6 * filled;
  };

  /** What is said in place of a negative room for the cache. */
  function shortOf(bytes) {
    return {
      zh: "无：权重放不下" + (bytes ? "，每卡差 " + calc.format(bytes, { kind: "bytes" }, "zh") : ""),
      en: "none: the weights do not fit" + (bytes ? ", " + calc.format(bytes, { kind: "bytes" }, "en") + " short" : "")
    };
  }

  calc.add({
    id: "kv-cache",
    title: { zh: "KV Cache 与最大批量", en: "KV cache and the largest batch" },
    about: {
      zh: "每 token 占多少字节，放下权重之后还能同时服务几条序列。",
      en: "Bytes a token, and how many sequences fit beside the weights."
    },
    note: "infer/kv-cache",
    inputs: [calc.modelInput(["parameters", "attention", "layers", "heads", "kv_heads", "head_dim", "kv_rank", "rope_dim", "fixed", "window"])].concat(CACHE_INPUTS, [
      {
        key: "fixed", label: { zh: "每条序列的固定部分（状态、窗口）", en: "Fixed part of a sequence (states, windows)" }, unit: "MB", value: 0, min: 0, max: 1e6,
        help: { zh: "不随长度增长；引擎为前缀缓存多留的份数另乘。", en: "It does not grow with the length. Multiply by the copies that an engine reserves for its prefix cache." }
      },
      {
        key: "window", label: { zh: "窗口（0：固定部分是状态）", en: "Window (0: the fixed part is a state)" }, unit: "token", kind: "integer", value: 0, min: 0, max: 1e9,
        help: { zh: "比窗口短的序列只占一部分。固定部分填 BF16 的字节，缓存精度同样作用于窗口。", en: "A sequence shorter than the window keeps a part. Enter the fixed part in BF16: the bytes per cached element change windows, too." }
      },
      { key: "context", label: { zh: "每条序列 token（提示加输出）", en: "Tokens a sequence (prompt and output)" }, kind: "integer", value: 8192, min: 1, max: 1e9 },
      { key: "batch", label: { zh: "同时的序列", en: "Sequences at once" }, kind: "integer", value: 16, min: 1, max: 1e7 },
      calc.shapeInputs.parameters,
      { key: "weight_bytes", label: { zh: "权重每参数字节", en: "Bytes per weight" }, kind: "choice", value: "2", choices: BYTES },
      { key: "gpu", label: { zh: "加速器", en: "Accelerator" }, kind: "preset", family: "accelerators", value: "h100-sxm", fills: { capacity: calc.capacityColumns } },
      calc.capacityInput,
      { key: "gpus", label: { zh: "GPU 数（张量并行）", en: "GPUs (tensor parallel)" }, kind: "integer", value: 4, min: 1, max: 4096 },
      { key: "usable", label: { zh: "可用显存比例", en: "Share of memory in use" }, unit: "%", value: 90, min: 1, max: 100, help: { zh: "在 vLLM 里是 gpu_memory_utilization。", en: "In vLLM, gpu_memory_utilization." } }
    ]),
    outputs: [
      { key: "per_token", label: { zh: "每 token", en: "Per token" }, kind: "bytes", digits: 6 },
      { key: "per_sequence", label: { zh: "每条序列", en: "Per sequence" }, kind: "bytes" },
      { key: "total", label: { zh: "全部序列", en: "All sequences" }, kind: "bytes" },
      { key: "weights", label: { zh: "权重（全部 GPU）", en: "Weights (all GPUs)" }, kind: "bytes" },
      { key: "free", label: { zh: "每卡留给缓存", en: "Left for the cache on a GPU" }, kind: "bytes" },
      { key: "largest", label: { zh: "放得下的最大批量", en: "Largest batch that fits" }, kind: "count" },
      { key: "tokens", label: { zh: "放得下的 token 总数", en: "Tokens that fit in all" }, kind: "count" }
    ],
    formula: [
      "\\text{bytes/token} = 2 \\cdot L \\cdot n_{kv} \\cdot d_{head} \\cdot b\\ \\text{(MHA, GQA, MQA)}, \\qquad L\\,(d_{c} + d_{rope})\\,b\\ \\text{(MLA)}",
      "\\text{batch}_{\\max} = \\left\\lfloor \\frac{u\\,M - W/g}{\\text{share} \\cdot \\text{tokens} \\cdot \\text{bytes/token} + F/g} \\right\\rfloor, \\qquad \\text{share} = \\frac{\\lceil n_{kv}/g\\rceil}{n_{kv}},\\ 1\\ \\text{(MLA)}"
    ],
    assumptions: [
      { zh: "张量并行按头切缓存；GPU 多于 KV 头时要重复存，MLA 则每卡都存全份。", en: "Tensor parallelism cuts the cache by heads; with more GPUs than KV heads copies are kept, and with MLA every GPU keeps it all." },
      { zh: "不含激活与 CUDA 图（从可用比例里扣）；分页缓存的碎片不到一页。", en: "No activations or CUDA graphs (lower the share in use for them); a paged cache wastes less than a page a sequence." },
      { zh: "混合模型：只有全注意力层按 token 计；线性层的状态与窗口层是每条序列的固定部分 F，按卡均分。跨层共享与稀疏注意力的索引键不算。", en: "Hybrid models: only layers with full attention count per token. States of linear layers and windows are the fixed part F of a sequence, cut evenly over the GPUs. Sharing across layers and the index keys of sparse attention are not counted." }
    ],
    example: { inputs: { model: "", gpu: "", attention: "gqa", layers: 80, kv_heads: 8, head_dim: 128, context: 8192, batch: 16, parameters: "72.7B", capacity: 80, gpus: 4 }, says: { zh: "80 层、8 个 KV 头、头维度 128（Qwen2.5-72B 的形状；DeepSeek 的论文印作 327.680 KB）：", en: "80 layers, 8 KV heads of 128 (the shape of Qwen2.5-72B; DeepSeek's paper prints 327.680 KB):" } },
    sources: [{ title: "Zhao et al.: Insights into DeepSeek-V3, table 1 (arXiv 2505.09343)", url: "https://arxiv.org/abs/2505.09343", read: "2026-11-21" }],
    run: function (v) {
      var shape = shapeOf(v);
      var perToken = f.kvBytesPerToken(shape);
      var weights = v.parameters * Number(v.weight_bytes);
      var free = v.capacity * 1e9 * (v.usable / 100) - weights / v.gpus;
      var onOne = perToken * f.kvShare(shape, v.gpus);
      var fixed = f.fixedBytes(v);
      var tokens = Math.max(0, Math.floor(free / (onOne + fixed / v.gpus / v.context)));
      var sequence = perToken * v.context + fixed;
      return {
        per_token: perToken, per_sequence: sequence, total: sequence * v.batch,
        weights: weights, free: free > 0 ? free : shortOf(-free), largest: Math.floor(tokens / v.context), tokens: tokens
      };
    },
    remarks: function (v, out) {
      if (typeof out.free !== "number") {
        return [{ zh: "权重就放不下：加卡，或降低精度。", en: "The weights alone do not fit: more GPUs or fewer bits." }];
      }
      return out.largest < v.batch
        ? [{ zh: "同时 " + v.batch + " 条放不下，至多 " + out.largest + " 条。", en: v.batch + " sequences do not fit; " + out.largest + " do." }]
        : [];
    }
  });


  /** What other calculators of inference ask for and use too. */
  calc.cacheParts = { bytes: BYTES, shape: SHAPE_INPUTS.concat(VALUE_DIM), shapeOf: shapeOf };
})(this);
