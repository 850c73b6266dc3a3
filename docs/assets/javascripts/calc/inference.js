/**
 * Inference: lower bounds of prefill and decode.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var cache = calc.cacheParts;

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

  /** What the fleet's calculator uses too. */
  calc.inferenceParts = {
    bytes: cache.bytes, shape: cache.shape, splits: SPLITS, shapeOf: cache.shapeOf, coreWidth: coreWidth
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
        { key: "weight_bytes", label: { zh: "权重每参数字节", en: "Bytes per weight" }, kind: "choice", value: "2", choices: cache.bytes }
      ],
      cache.shape,
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
      "W(n) = \\beta\\Bigl[C + \\frac{N - N_{emb} - N_r - C}{g} + \\frac{N_r}{g}\\left(1 - \\left(1 - \\tfrac{K}{E}\\right)^{n}\\right)\\Bigr]",
      "\\text{share} = \\frac{\\lceil n_{kv}/g\\rceil}{n_{kv}}\\ \\text{(tp)},\\allowbreak\\quad 1\\ \\text{(tp, MLA)},\\allowbreak\\quad \\frac1g\\ \\text{(cp)},\\allowbreak\\quad \\frac{\\lceil b/g\\rceil}{b}\\ \\text{(dp)}"
    ],
    assumptions: [
      { zh: "只有算力与显存两条屋顶；不计卡间通信、调度与核函数启动，真实值总在其上。", en: "Two roofs only, arithmetic and memory; no traffic between GPUs, scheduling or launches, so real figures lie above." },
      { zh: "k：每 token 的缓存字节；解码取输出过半时的长度。因果注意力按一半计；w：头数乘头维度（MLA 取键与值的平均）。", en: "k: cache bytes a token; decode is taken at half of the output. Causal attention counts half; w: heads times head size (of MLA the mean of key and value)." },
      { zh: "注意力、共享专家与输出头每步读一遍；路由专家（共 N_r，每层 E 选 K）只读这一批碰到的那些，按均匀路由取期望。路由偏斜时读得更少，但专家并行下最忙的卡更忙。", en: "Attention, shared experts and the output head are read once a step; of routed experts (N_r in all, K of E a layer) those that the batch meets, expected for uniform routing. Skewed routing reads fewer, though under expert parallelism the busiest GPU is busier." },
      { zh: "张量并行：权重均分；KV 头少于 GPU 时重复，MLA 每卡一份全的。数据并行：C 每卡全读，缓存按序列分。β：每参数字节，一律按所选精度；高于它的部分（如 BF16 的输出头）会更慢。", en: "Tensor parallel: weights are cut evenly; with fewer KV heads than GPUs copies are read, and with MLA all of it on each GPU. Data parallel: C is read whole by each GPU, the cache is cut by sequences. β: bytes per weight, the same for all; parts in more bits (an output head in BF16) are slower." },
      { zh: "每层都看全部上文。混合模型只填全注意力层，线性层与窗口层的读写和运算不计；稀疏注意力（DSA）读得和算得更少，可低于此值。", en: "Every layer attends to the whole context. For a hybrid enter the layers with full attention; what linear and window layers read and compute is left out. Sparse attention (DSA) reads and computes less, and can go below this." },
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
      var shape = cache.shapeOf(v);
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
})(this);
