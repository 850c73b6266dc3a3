/**
 * Quantisation of weights: bits per weight, size, and what decoding gains at most.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** Bits per weight: an element's, and what a group stores besides (scales, zero points, minima). */
  f.bitsPerWeight = function (bits, extra, group) {
    return bits + extra / group;
  };

  var KEPT = [
    { value: "ends", label: { zh: "输入嵌入与输出头", en: "input embedding and output head" } },
    { value: "head", label: { zh: "输出头", en: "output head" } },
    { value: "none", label: { zh: "没有", en: "none" } },
    { value: "own", label: { zh: "自己填", en: "a number of my own" } }
  ];

  calc.add({
    id: "quantization",
    title: { zh: "量化后的大小与解码下限", en: "Size and decode bound after quantisation" },
    about: {
      zh: "每权重几位（含缩放因子）、权重多大、放几张卡、解码最多快几倍、批量到多少就不再快。",
      en: "Bits per weight with scales, size of the weights, GPUs to hold them, the most that decode gains, and the batch that ends it."
    },
    note: "infer/quantization",
    inputs: [
      calc.modelInput(["parameters", "active", "embedding"]),
      calc.shapeInputs.parameters,
      { key: "active", label: { zh: "每 token 激活（稠密模型同上）", en: "Active per token (dense: the same)" }, min: 1e3, max: 1e15 },
      { key: "embedding", label: { zh: "输入嵌入（输出头同样大）", en: "Input embedding (the head is as large)" }, value: 0, min: 0, max: 1e13 },
      {
        key: "format", label: { zh: "格式", en: "Format" }, kind: "preset", family: "quant-formats", value: "int4-g128",
        fills: { bits: "bits", group: "group", extra: "extra" }
      },
      { key: "bits", label: { zh: "元素位数", en: "Bits of an element" }, unit: "bit", min: 0.5, max: 32 },
      { key: "group", label: { zh: "一组几个权重", en: "Weights of a group" }, kind: "integer", min: 1, max: 1e7 },
      { key: "extra", label: { zh: "每组附加位（缩放、零点）", en: "Extra bits of a group (scale, zero point)" }, unit: "bit", min: 0, max: 100000 },
      { key: "kept", label: { zh: "哪些用别的精度", en: "What stays in other bits" }, kind: "choice", value: "ends", choices: KEPT },
      { key: "kept_parameters", label: { zh: "其参数量", en: "Its parameters" }, value: 0, min: 0, max: 1e15, when: { kept: ["own"] } },
      { key: "kept_bits", label: { zh: "其每权重位数", en: "Its bits per weight" }, unit: "bit", value: 16, min: 0.5, max: 32, when: { kept: ["ends", "head", "own"] } },
      { key: "compute", label: { zh: "按几位做乘法", en: "Bits that are multiplied" }, kind: "choice", value: "fp16", choices: calc.dtypes, help: { zh: "只量化权重时仍是 BF16；权重与激活都量化时选 FP8、INT8 或 FP4。", en: "BF16 where only weights are quantised; FP8, INT8 or FP4 where activations are too." } },
      { key: "gpu", label: { zh: "加速器", en: "Accelerator" }, kind: "preset", family: "accelerators", value: "h100-sxm", fills: function (v) { return { peak: v.compute, bandwidth: "mem_bw", capacity: calc.capacityColumns }; } },
      { key: "peak", label: { zh: "峰值算力（稠密）", en: "Peak (dense)" }, unit: "TFLOPS", min: 0.001, max: 1e6 },
      { key: "bandwidth", label: { zh: "显存带宽，每卡", en: "Memory bandwidth of a GPU" }, unit: "GB/s", min: 0.1, max: 1e6 },
      calc.capacityInput,
      { key: "usable", label: { zh: "权重可用的显存比例", en: "Share of memory for weights" }, unit: "%", value: 75, min: 1, max: 100, help: { zh: "其余留给 KV Cache、激活与运行时。", en: "The rest is for the KV cache, activations and the runtime." } }
    ],
    outputs: [
      { key: "per_weight", label: { zh: "量化部分每权重", en: "Per quantised weight" }, unit: "bit", digits: 5 },
      { key: "mean", label: { zh: "整个模型每权重", en: "Per weight of the whole model" }, unit: "bit", digits: 5 },
      { key: "size", label: { zh: "权重", en: "Weights" }, kind: "bytes", digits: 4 },
      { key: "ratio", label: { zh: "是 BF16 的", en: "Of BF16's size" }, kind: "ratio" },
      { key: "gpus", label: { zh: "放下权重要几张卡", en: "GPUs that hold the weights" }, kind: "count" },
      { key: "step", label: { zh: "解码一步读权重，一张卡，不少于", en: "Reading the weights of a decode step on one GPU, at least" }, kind: "seconds" },
      { key: "gain", label: { zh: "比 BF16 至多快", en: "Faster than BF16 by at most" }, unit: "×" },
      { key: "turning", label: { zh: "算力成为瓶颈的批量", en: "Batch from which arithmetic binds" }, kind: "count" }
    ],
    formula: [
      "b = b_e + \\frac{\\text{extra}}{\\text{group}}, \\qquad S = \\frac{(N - N_k)\\,b + N_k\\,b_k}{8}",
      "t \\ge \\frac{S - S_{emb}}{B}, \\qquad \\text{gain} = \\frac{2\\,(N - N_{emb})}{S - S_{emb}}, \\qquad \\text{batch} = \\frac{(S - S_{emb})\\,P}{2\\,(N_a - N_{emb})\\,B}"
    ],
    assumptions: [
      { zh: "只算权重：KV Cache 与激活不因此变小，所以整步的加速低于这里的上限。", en: "Weights alone: the KV cache and activations do not shrink with them, so a whole step gains less than this bound." },
      { zh: "输入嵌入只查表，解码时不整读；MoE 按全部专家都读到算（大批量）。", en: "The input embedding is looked up and not read whole; of a mixture of experts all are read (large batches)." },
      { zh: "反量化不花时间：真实的核函数在批量 8 到 128 之间就可能比 BF16 慢（见实测）。", en: "Dequantising is free: a real kernel may fall behind BF16 between batches of 8 and 128 (measured)." },
      { zh: "GGUF 的混合（如 Q4_K_M）有一部分张量位数更多：在“哪些用别的精度”里填它们的参数量。", en: "GGUF mixtures such as Q4_K_M hold some tensors in more bits: enter their parameters under what stays in other bits." }
    ],
    example: { inputs: { model: "", format: "int4-g128", parameters: "70.55B", active: "70.55B", embedding: "1.05B", gpu: "h100-sxm" }, says: { zh: "Llama 3.1 70B，INT4 每组 128，嵌入与输出头留在 BF16：", en: "Llama 3.1 70B in INT4 with groups of 128, embedding and head left in BF16:" } },
    sources: [
      { title: "ggml, src/ggml-common.h", url: "https://github.com/ggml-org/ggml/blob/d99724f2b141fed9e1a9f402213506c081433465/src/ggml-common.h", read: "2026-11-23" },
      { title: "llama.cpp, tools/quantize/README.md", url: "https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md", read: "2026-11-23" }
    ],
    check: function (v) {
      if (v.active > v.parameters * 1.0001) {
        return [{ key: "active", zh: "激活参数不会多于总参数。", en: "Active parameters cannot exceed all parameters." }];
      }
      if (v.kept === "own" && v.kept_parameters > v.parameters) {
        return [{ key: "kept_parameters", zh: "不会多于总参数。", en: "It cannot exceed all parameters." }];
      }
      return 2 * v.embedding > v.active
        ? [{ key: "embedding", zh: "嵌入与输出头合起来不会多于激活参数。", en: "Embedding and head together cannot exceed active parameters." }]
        : [];
    },
    run: function (v) {
      var bits = f.bitsPerWeight(v.bits, v.extra, v.group);
      var kept = v.kept === "none" ? 0 : v.kept === "own" ? v.kept_parameters : v.kept === "head" ? v.embedding : 2 * v.embedding;
      var keptBits = v.kept === "none" ? 0 : v.kept_bits;
      var size = ((v.parameters - kept) * bits + kept * keptBits) / 8;
      var read = size - (v.embedding * (v.kept === "ends" ? keptBits : bits)) / 8;
      return {
        per_weight: bits, mean: (8 * size) / v.parameters, size: size, ratio: size / (2 * v.parameters),
        gpus: Math.ceil(size / (v.capacity * 1e9 * (v.usable / 100))),
        step: read / (v.bandwidth * 1e9), gain: (2 * (v.parameters - v.embedding)) / read,
        turning: Math.ceil((read * v.peak * 1e12) / (2 * (v.active - v.embedding) * v.bandwidth * 1e9))
      };
    }
  });
})(this);
