/**
 * Inference: the KV cache, lower bounds of prefill and decode, speculative decoding.
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
    { key: "layers", label: { zh: "层数", en: "Layers" }, kind: "integer", min: 1, max: 10000 },
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
    inputs: [calc.modelInput(["parameters", "attention", "layers", "heads", "kv_heads", "head_dim", "kv_rank", "rope_dim"])].concat(CACHE_INPUTS, [
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
      "\\text{batch}_{\\max} = \\left\\lfloor \\frac{u\\,M - W/g}{\\text{share} \\cdot \\text{tokens} \\cdot \\text{bytes/token}} \\right\\rfloor, \\qquad \\text{share} = \\frac{\\lceil n_{kv}/g\\rceil}{n_{kv}},\\ 1\\ \\text{(MLA)}"
    ],
    assumptions: [
      { zh: "张量并行按头切缓存；GPU 多于 KV 头时要重复存，MLA 则每卡都存全份。", en: "Tensor parallelism cuts the cache by heads; with more GPUs than KV heads copies are kept, and with MLA every GPU keeps it all." },
      { zh: "不含激活与 CUDA 图（从可用比例里扣）；分页缓存的碎片不到一页。", en: "No activations or CUDA graphs (lower the share in use for them); a paged cache wastes less than a page a sequence." },
      { zh: "滑动窗口与跨层共享会更省，这里不算。", en: "Sliding windows and sharing across layers save more and are not counted." }
    ],
    example: { inputs: { model: "", gpu: "", attention: "gqa", layers: 80, kv_heads: 8, head_dim: 128, context: 8192, batch: 16, parameters: "72.7B", capacity: 80, gpus: 4 }, says: { zh: "80 层、8 个 KV 头、头维度 128（Qwen2.5-72B 的形状；DeepSeek 的论文印作 327.680 KB）：", en: "80 layers, 8 KV heads of 128 (the shape of Qwen2.5-72B; DeepSeek's paper prints 327.680 KB):" } },
    sources: [{ title: "Zhao et al.: Insights into DeepSeek-V3, table 1 (arXiv 2505.09343)", url: "https://arxiv.org/abs/2505.09343", read: "2026-11-21" }],
    run: function (v) {
      var shape = shapeOf(v);
      var perToken = f.kvBytesPerToken(shape);
      var weights = v.parameters * Number(v.weight_bytes);
      var free = v.capacity * 1e9 * (v.usable / 100) - weights / v.gpus;
      var onOne = perToken * f.kvShare(shape, v.gpus);
      var tokens = Math.max(0, Math.floor(free / onOne));
      return {
        per_token: perToken, per_sequence: perToken * v.context, total: perToken * v.context * v.batch,
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

  /**
   * Share of the routed experts that a step of some tokens meets, for uniform routing.
   *
   * A token misses an expert with probability 1 - k/E, all tokens do with (1 - k/E)^tokens: the
   * expected number of distinct experts is E (1 - (1 - k/E)^tokens). Skewed routing meets fewer.
   */
  f.expertsHit = function (experts, chosen, tokens) {
    return 1 - Math.pow(1 - Math.min(1, chosen / experts), tokens);
  };

  /**
   * Parameters that the busiest GPU reads in a step of some tokens.
   *
   * model: {parameters, embedding, routed, experts, chosen, copied}. The input embedding is looked
   * up, not read; of routed experts a step reads those that it meets, of all else everything, once.
   * copied: what each GPU holds whole (data-parallel attention); the rest is cut evenly.
   */
  f.weightsRead = function (model, gpus, tokens) {
    var routed = model.routed ? model.routed * f.expertsHit(model.experts, model.chosen, tokens) : 0;
    var rest = Math.max(0, model.parameters - model.embedding - model.routed);
    var copied = Math.min(model.copied, rest);
    return copied + (rest - copied + routed) / gpus;
  };

  function bound(compute, memory) {
    return memory > compute ? { zh: "显存带宽", en: "memory bandwidth" } : { zh: "算力", en: "arithmetic" };
  }

  /** Size of the two products of attention over heads: for MLA keys and values differ. */
  function coreWidth(v) {
    return v.heads * (v.attention === "mla" ? (v.head_dim + v.rope_dim + v.value_dim) / 2 : v.head_dim);
  }

  var SPLITS = [
    { value: "tp", label: { zh: "张量并行（缓存按头切，不够切就重复）", en: "tensor parallel (cache cut by heads, else copied)" } },
    { value: "cp", label: { zh: "张量并行加解码上下文并行（缓存不重复）", en: "tensor and decode context parallel (no copies of the cache)" } },
    { value: "dp", label: { zh: "注意力数据并行，专家并行", en: "data-parallel attention, expert parallel" } }
  ];

  /** What the fleet's calculator asks for and uses too. */
  calc.inferenceParts = {
    bytes: BYTES, shape: SHAPE_INPUTS.concat(VALUE_DIM), splits: SPLITS, shapeOf: shapeOf, coreWidth: coreWidth
  };

  calc.add({
    id: "inference",
    title: { zh: "预填充与解码的下限", en: "Lower bounds of prefill and decode" },
    about: {
      zh: "首 token 时间（TTFT）与每 token 时间（TPOT）再怎么优化也低不过的值。",
      en: "What time to first token (TTFT) and time per output token (TPOT) cannot fall below."
    },
    note: "infer/kv-cache",
    inputs: [calc.modelInput(["parameters", "active", "structure", "routed", "experts", "chosen", "copied", "embedding", "attention", "layers", "heads", "kv_heads", "head_dim", "kv_rank", "rope_dim", "value_dim"])].concat(
      [
        calc.shapeInputs.parameters,
        { key: "active", label: { zh: "激活参数（稠密模型同上）", en: "Active parameters (dense: the same)" }, min: 1e3, max: 1e15 },
        calc.shapeInputs.structure, calc.shapeInputs.routed, calc.shapeInputs.experts, calc.shapeInputs.chosen,
        {
          key: "embedding", label: { zh: "输入嵌入的参数", en: "Parameters of the input embedding" }, value: 0, min: 0, max: 1e13,
          help: { zh: "只查表，不整读；与输出头共用时填 0。", en: "Looked up, not read whole; 0 where the output head shares it." }
        },
        { key: "weight_bytes", label: { zh: "权重每参数字节", en: "Bytes per weight" }, kind: "choice", value: "2", choices: BYTES }
      ],
      SHAPE_INPUTS,
      [VALUE_DIM],
      calc.gpuInputs({ bandwidth: "mem_bw" }),
      [
        { key: "bandwidth", label: { zh: "显存带宽，每卡", en: "Memory bandwidth of a GPU" }, unit: "GB/s", min: 0.1, max: 1e6 },
        { key: "gpus", label: { zh: "GPU 数", en: "GPUs" }, kind: "integer", value: 8, min: 1, max: 4096 },
        { key: "split", label: { zh: "怎样分到各卡", en: "How they share the model" }, kind: "choice", value: "tp", choices: SPLITS },
        {
          key: "copied", label: { zh: "每卡各存一份的参数", en: "Parameters that every GPU holds whole" }, min: 0, max: 1e15, when: { split: ["dp"] },
          help: { zh: "注意力与共享专家；其余均分。", en: "Attention and shared experts; the rest is cut evenly." }
        },
        { key: "prompt", label: { zh: "提示长度", en: "Prompt" }, unit: "token", kind: "integer", value: 2048, min: 1, max: 1e8 },
        { key: "output", label: { zh: "输出长度", en: "Output" }, unit: "token", kind: "integer", value: 512, min: 1, max: 1e8 },
        { key: "batch", label: { zh: "批量（全部 GPU）", en: "Batch (all GPUs)" }, kind: "integer", value: 16, min: 1, max: 1e6 }
      ]
    ),
    outputs: [
      { key: "ttft", label: { zh: "TTFT 不少于", en: "TTFT at least" }, kind: "seconds" },
      { key: "tpot", label: { zh: "TPOT 不少于", en: "TPOT at least" }, kind: "seconds" },
      { key: "prefill_bound", label: { zh: "预填充受限于", en: "Prefill bound by" } },
      { key: "decode_bound", label: { zh: "解码受限于", en: "Decode bound by" } },
      { key: "weights_time", label: { zh: "其中读权重", en: "of which reading weights" }, kind: "seconds" },
      { key: "cache_time", label: { zh: "其中读 KV Cache", en: "of which reading the KV cache" }, kind: "seconds" },
      { key: "hit", label: { zh: "一步读到的路由专家", en: "Routed experts a step reads" }, kind: "ratio", when: { structure: ["moe"] } },
      { key: "per_user", label: { zh: "每条序列至多", en: "A sequence at most" }, unit: "token/s" },
      { key: "rate", label: { zh: "解码总吞吐至多", en: "Decode throughput at most" }, unit: "token/s", kind: "count" },
      { key: "request", label: { zh: "一条请求不少于", en: "A request takes at least" }, kind: "seconds" },
      { key: "turning", label: { zh: "读权重不再是瓶颈的批量", en: "Batch from which weights no longer bind" }, kind: "count" },
      { key: "cache", label: { zh: "解码末尾的 KV Cache（不计重复）", en: "KV cache at the end of decode (without copies)" }, kind: "bytes" }
    ],
    formula: [
      "\\text{TTFT} \\ge \\max\\left(\\frac{b\\,(2N_a s + 2L\\,w\\,s^2)}{g\\,P},\\; \\frac{W(bs)}{B}\\right)",
      "\\text{TPOT} \\ge \\max\\left(\\frac{2N_a b}{g\\,P},\\; \\frac{W(b) + \\text{share}\\cdot b\\,(s + o/2)\\,k}{B}\\right)",
      "W(n) = \\beta\\left[C + \\frac{N - N_{emb} - N_r - C}{g} + \\frac{N_r}{g}\\left(1 - \\left(1 - \\tfrac{K}{E}\\right)^{n}\\right)\\right]",
      "\\text{share} = \\frac{\\lceil n_{kv}/g\\rceil}{n_{kv}}\\ \\text{(tp)},\\quad 1\\ \\text{(tp, MLA)},\\quad \\frac1g\\ \\text{(cp)},\\quad \\frac{\\lceil b/g\\rceil}{b}\\ \\text{(dp)}"
    ],
    assumptions: [
      { zh: "只有算力与显存两条屋顶；不计卡间通信、调度与核函数启动，真实值总在其上。", en: "Two roofs only, arithmetic and memory; no traffic between GPUs, scheduling or launches, so real figures lie above." },
      { zh: "k：每 token 的缓存字节；解码取输出过半时的长度。因果注意力按一半计；w：头数乘头维度（MLA 取键与值的平均）。", en: "k: cache bytes a token; decode is taken at half of the output. Causal attention counts half; w: heads times head size (of MLA the mean of key and value)." },
      { zh: "注意力、共享专家与输出头每步读一遍；路由专家（共 N_r，每层 E 选 K）只读这一批碰到的那些，按均匀路由取期望。路由偏斜时读得更少，但专家并行下最忙的卡更忙。", en: "Attention, shared experts and the output head are read once a step; of routed experts (N_r in all, K of E a layer) those that the batch meets, expected for uniform routing. Skewed routing reads fewer, though under expert parallelism the busiest GPU is busier." },
      { zh: "张量并行：权重均分；KV 头少于 GPU 时重复，MLA 每卡一份全的。数据并行：C 每卡全读，缓存按序列分。β：每参数字节，一律按所选精度；高于它的部分（如 BF16 的输出头）会更慢。", en: "Tensor parallel: weights are cut evenly; with fewer KV heads than GPUs copies are read, and with MLA all of it on each GPU. Data parallel: C is read whole by each GPU, the cache is cut by sequences. β: bytes per weight, the same for all; parts in more bits (an output head in BF16) are slower." },
      { zh: "没有投机解码：接受草稿后每 token 的时间可低于此值。", en: "No speculative decoding, which can take the time per token below this." },
      { zh: "“读权重不再是瓶颈的批量”只比权重与算力（稠密：全读；MoE：全部专家），不算缓存；缓存长时永远到不了。", en: "The batch from which weights no longer bind weighs all weights against arithmetic, without the cache; with a long cache it is never reached." }
    ],
    example: { inputs: { model: "", gpu: "h100-sxm", attention: "gqa", parameters: "70B", active: "70B", structure: "dense", layers: 80, heads: 64, kv_heads: 8, head_dim: 128, gpus: 8, prompt: 2048, output: 512, batch: 16 }, says: { zh: "700 亿参数的 GQA 模型，八张 H100，批量 16：", en: "A GQA model of 70 billion parameters on eight H100, batch 16:" } },
    sources: [
      { title: "DeepSeek-AI: DeepSeek-V3 Technical Report (arXiv 2412.19437)", url: "https://arxiv.org/abs/2412.19437", read: "2026-11-21" },
      { title: "SGLang: Decode Context Parallelism", url: "https://docs.sglang.io/docs/advanced_features/dcp.md", read: "2026-11-23" },
      { title: "vLLM: DeepSeek-V3 (R1) Usage Guide", url: "https://docs.vllm.ai/projects/recipes/en/latest/DeepSeek/DeepSeek-V3.html", read: "2026-11-23" }
    ],
    check: function (v) {
      if (v.active > v.parameters * 1.0001) {
        return [{ key: "active", zh: "激活参数不会多于总参数。", en: "Active parameters cannot exceed all parameters." }];
      }
      return calc.expertProblems(v);
    },
    run: function (v) {
      var peak = v.gpus * v.peak * 1e12;
      var bandwidth = v.bandwidth * 1e9;
      var bytes = Number(v.weight_bytes);
      var shape = shapeOf(v);
      var kv = f.kvBytesPerToken(shape);
      var isMoe = v.structure === "moe";
      var model = {
        parameters: v.parameters, embedding: v.embedding, routed: isMoe ? v.routed : 0,
        experts: v.experts, chosen: v.chosen, copied: v.split === "dp" ? v.copied : 0
      };
      var prefillCompute = (v.batch * (2 * v.active * v.prompt + 2 * v.layers * coreWidth(v) * v.prompt * v.prompt)) / peak;
      var prefillMemory = (f.weightsRead(model, v.gpus, v.batch * v.prompt) * bytes) / bandwidth;
      var decodeCompute = (2 * v.active * v.batch) / peak;
      var held = v.batch * (v.prompt + v.output / 2) * kv;
      var weightsTime = (f.weightsRead(model, v.gpus, v.batch) * bytes) / bandwidth;
      var cacheTime = (held * f.kvReadShare(shape, v.gpus, v.batch, v.split)) / bandwidth;
      var tpot = Math.max(decodeCompute, weightsTime + cacheTime);
      var ttft = Math.max(prefillCompute, prefillMemory);
      var all = f.weightsRead(model, v.gpus, Infinity);
      return {
        ttft: ttft, tpot: tpot, prefill_bound: bound(prefillCompute, prefillMemory),
        decode_bound: bound(decodeCompute, weightsTime + cacheTime), weights_time: weightsTime, cache_time: cacheTime,
        hit: isMoe ? f.expertsHit(v.experts, v.chosen, v.batch) : null,
        per_user: 1 / tpot, rate: v.batch / tpot, request: ttft + tpot * (v.output - 1),
        turning: Math.ceil((all * bytes * peak) / (2 * v.active * bandwidth)),
        cache: v.batch * (v.prompt + v.output) * kv
      };
    }
  });

  /** Tokens one round yields: the accepted drafts and one of the target's own. */
  f.expectedTokens = function (acceptance, drafts) {
    return acceptance >= 1 ? drafts + 1 : (1 - Math.pow(acceptance, drafts + 1)) / (1 - acceptance);
  };

  /** Speed-up over plain decoding (Leviathan et al., theorem 3.8). */
  f.speculativeSpeedup = function (acceptance, drafts, cost) {
    return f.expectedTokens(acceptance, drafts) / (drafts * cost + 1);
  };

  /** Operations over those of plain decoding (theorem 3.11); draft: the draft's share a token. */
  f.speculativeOperations = function (acceptance, drafts, draft) {
    return (drafts * draft + drafts + 1) / f.expectedTokens(acceptance, drafts);
  };

  calc.add({
    id: "speculative",
    title: { zh: "投机解码", en: "Speculative decoding" },
    about: {
      zh: "草稿模型每轮猜 γ 个 token，目标模型一次验完：快多少，多算多少。",
      en: "A draft guesses γ tokens a round and the target checks them at once: how much faster, and how much more work."
    },
    note: "infer/speculative",
    inputs: [
      { key: "acceptance", label: { zh: "接受率 α", en: "Acceptance rate α" }, value: 0.8, min: 0, max: 1, help: { zh: "每个草稿 token 被接受的概率，0 到 1。", en: "Probability that a draft token is accepted, 0 to 1." } },
      { key: "drafts", label: { zh: "每轮草稿数 γ", en: "Drafts a round γ" }, kind: "integer", value: 5, min: 1, max: 100 },
      { key: "cost", label: { zh: "草稿一步 ÷ 目标一步的时间 c", en: "Time of a draft step over a target step, c" }, value: 0.05, min: 0, max: 1 },
      { key: "operations", label: { zh: "草稿 ÷ 目标的运算量", en: "Operations of the draft over the target's" }, value: 0.05, min: 0, max: 1 }
    ],
    outputs: [
      { key: "speedup", label: { zh: "加速", en: "Speed-up" }, unit: "×" },
      { key: "tokens", label: { zh: "每轮产出", en: "Tokens a round" } },
      { key: "work", label: { zh: "运算量之比", en: "Operations, against plain decoding" }, unit: "×" },
      { key: "best", label: { zh: "最快的 γ（至 20）", en: "Fastest γ (up to 20)" }, kind: "count" },
      { key: "best_speedup", label: { zh: "那时的加速", en: "Speed-up there" }, unit: "×" }
    ],
    formula: [
      "E[\\text{tokens}] = \\frac{1-\\alpha^{\\gamma+1}}{1-\\alpha}, \\qquad \\text{speed-up} = \\frac{1-\\alpha^{\\gamma+1}}{(1-\\alpha)(\\gamma c + 1)}"
    ],
    assumptions: [
      { zh: "各 token 的接受相互独立；验证 γ+1 个 token 与解码一个一样快，即目标模型仍受带宽限制（小批量时成立）。", en: "Acceptances are independent; checking γ+1 tokens is as fast as decoding one, so the target must be bandwidth bound (small batches)." }
    ],
    example: { inputs: { acceptance: 0.8, drafts: 5, cost: 0 }, says: { zh: "接受率 0.8、每轮五个、草稿不花时间：", en: "Acceptance 0.8, five drafts a round, drafts for free:" } },
    sources: [{ title: "Leviathan, Kalman, Matias: Fast Inference from Transformers via Speculative Decoding (arXiv 2211.17192)", url: "https://arxiv.org/abs/2211.17192", read: "2026-11-21" }],
    run: function (v) {
      var best = 1;
      for (var drafts = 2; drafts <= 20; drafts++) {
        if (f.speculativeSpeedup(v.acceptance, drafts, v.cost) > f.speculativeSpeedup(v.acceptance, best, v.cost)) {
          best = drafts;
        }
      }
      return {
        speedup: f.speculativeSpeedup(v.acceptance, v.drafts, v.cost),
        tokens: f.expectedTokens(v.acceptance, v.drafts),
        work: f.speculativeOperations(v.acceptance, v.drafts, v.operations),
        best: best, best_speedup: f.speculativeSpeedup(v.acceptance, best, v.cost)
      };
    },
    remarks: function (v, out) {
      return out.speedup < 1 ? [{ zh: "比不投机还慢：草稿太贵，或接受率太低。", en: "Slower than plain decoding: the draft costs too much or is accepted too seldom." }] : [];
    }
  });
})(this);
