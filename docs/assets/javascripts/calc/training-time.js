/**
 * Work and time of training: FLOP, utilisation, days, cost.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var DAY = 86400;

  /**
   * FLOP a token of a forward and a backward pass: 6 N + 12 L h s (PaLM, appendix B).
   *
   * shape: {layers, width (heads x head size, of MLA the mean of key and value), sequence}, or null
   * to leave attention out.
   */
  f.modelFlops = function (parameters, shape) {
    return 6 * parameters + (shape ? 12 * shape.layers * shape.width * shape.sequence : 0);
  };

  /** FLOP a token that the hardware does: full repeats the forward pass, selective its scores. */
  f.hardwareFlops = function (parameters, shape, recompute) {
    var model = f.modelFlops(parameters, shape);
    if (recompute === "full") {
      return (model * 4) / 3;
    }
    return model + (recompute === "selective" && shape ? 4 * shape.layers * shape.width * shape.sequence : 0);
  };

  function shapeOf(v) {
    return v.attention ? { layers: v.layers, width: v.width, sequence: v.sequence } : null;
  }

  calc.add({
    id: "training-time",
    title: { zh: "训练算力、MFU、天数与费用", en: "Training FLOP, MFU, days and cost" },
    about: {
      zh: "从参数量与数据量到天数；或从实测吞吐反算 MFU 与 HFU。",
      en: "From parameters and tokens to days; or from measured throughput back to MFU and HFU."
    },
    note: "train/mfu",
    inputs: [
      {
        key: "mode", label: { zh: "已知", en: "Known" }, kind: "choice", value: "utilisation",
        choices: [
          { value: "utilisation", label: { zh: "利用率，求天数", en: "utilisation; find the days" } },
          { value: "throughput", label: { zh: "吞吐，求利用率", en: "throughput; find the utilisation" } }
        ]
      },
      calc.modelInput(["active", "layers", "width"]),
      { key: "active", label: { zh: "参数量（MoE 取激活参数）", en: "Parameters (of MoE, the active ones)" }, min: 1e3, max: 1e15 },
      { key: "tokens", label: { zh: "训练 token 数", en: "Training tokens" }, value: "15T", min: 1, max: 1e18 }
    ].concat(calc.gpuInputs(), [
      { key: "gpus", label: { zh: "加速器数", en: "Accelerators" }, kind: "integer", value: 1024, min: 1, max: 1e7 },
      { key: "utilisation", label: { zh: "利用率", en: "Utilisation" }, unit: "%", value: 40, min: 0.1, max: 100, when: { mode: ["utilisation"] } },
      {
        key: "counts", label: { zh: "这个利用率是", en: "That utilisation is" }, kind: "choice", value: "mfu",
        choices: [{ value: "mfu", label: { zh: "MFU（不含重算）", en: "MFU (without recomputation)" } }, { value: "hfu", label: { zh: "HFU（含重算）", en: "HFU (with recomputation)" } }],
        when: { mode: ["utilisation"] }
      },
      { key: "throughput", label: { zh: "整个集群每秒 token", en: "Tokens a second, whole cluster" }, value: "1M", min: 1e-3, max: 1e15, when: { mode: ["throughput"] } },
      { key: "attention", label: { zh: "计入注意力的平方项", en: "Count attention's quadratic term" }, kind: "flag", value: false },
      { key: "layers", label: { zh: "层数", en: "Layers" }, kind: "integer", min: 1, max: 10000, when: { attention: [true] } },
      { key: "width", label: { zh: "头数 × 头维度", en: "Heads times head size" }, kind: "integer", min: 1, max: 1e6, when: { attention: [true] }, help: { zh: "MLA 取键与值的平均：DeepSeek-V3 为 128 ×（192 + 128）÷ 2 = 20480。", en: "Of MLA the mean of key and value: 128 × (192 + 128) ÷ 2 = 20480 for DeepSeek-V3." } },
      { key: "sequence", label: { zh: "序列长度", en: "Sequence length" }, kind: "integer", value: 8192, min: 1, max: 1e8, when: { attention: [true] } },
      {
        key: "recompute", label: { zh: "重计算", en: "Recomputation" }, kind: "choice", value: "none",
        choices: [
          { value: "none", label: { zh: "不重算", en: "none" } }, { value: "selective", label: { zh: "选择性（注意力得分）", en: "selective (attention scores)" } },
          { value: "full", label: { zh: "整层", en: "full" } }
        ]
      },
      { key: "price", label: { zh: "每卡每小时价格（任意货币）", en: "Price of a GPU hour (any currency)" }, value: 2, min: 0, max: 1e6 }
    ]),
    outputs: [
      { key: "time", label: { zh: "训练时间", en: "Training time" }, kind: "seconds" },
      { key: "flop", label: { zh: "模型总运算量", en: "Model FLOP in all" }, kind: "flop" },
      { key: "mfu", label: "MFU", kind: "ratio" },
      { key: "hfu", label: "HFU", kind: "ratio" },
      { key: "throughput", label: { zh: "每秒 token（全集群）", en: "Tokens a second (cluster)" }, kind: "count" },
      { key: "per_gpu", label: { zh: "每卡模型算力", en: "Model FLOP/s of a GPU" }, kind: "flops" },
      { key: "gpu_hours", label: { zh: "GPU 小时", en: "GPU hours" }, kind: "count" },
      { key: "cost", label: { zh: "费用（同一货币）", en: "Cost (the same currency)" }, kind: "count" },
      { key: "per_token", label: { zh: "每 token 模型运算", en: "Model FLOP a token" }, kind: "flop" }
    ],
    formula: [
      "C = (6N + 12\\,L\\,h\\,s)\\,D, \\qquad \\text{MFU} = \\frac{\\text{tokens/s} \\times (6N + 12\\,L\\,h\\,s)}{n\\,P_{\\text{peak}}}, \\qquad t = \\frac{C}{n\\,P_{\\text{peak}}\\,\\text{MFU}}",
      "C_{\\text{hardware}} = C + 4\\,L\\,h\\,s\\,D \\text{ (selective)}, \\qquad \\tfrac{4}{3}C \\text{ (full)}"
    ],
    assumptions: [
      { zh: "注意力项按全矩阵（PaLM 与 Megatron 的口径），不因因果掩码减半；默认不计。", en: "Attention counts the full matrix, as PaLM and Megatron do, not half for the causal mask; left out unless ticked." },
      { zh: "选择性重算多做一次注意力前向，即每 token 4Lhs；Korthikanti 等人的式 (8) 印作 12Lhs，他们的 HFU 因此比这里高一点。", en: "Selective recomputation repeats the scores' forward pass, 4Lhs a token; equation (8) of Korthikanti et al. counts 12Lhs, so the HFU they print is a little higher." },
      { zh: "不含停机、评测与检查点；峰值是稠密值。", en: "No downtime, evaluation or checkpoints; the peak is the dense one." }
    ],
    example: { inputs: { model: "", gpu: "h100-sxm", active: "70B", tokens: "15T", gpus: 1024, utilisation: 40 }, says: { zh: "700 亿参数、15 万亿 token、1024 张 H100、MFU 40 %：", en: "70 billion parameters, 15 trillion tokens, 1024 H100 at 40 % MFU:" } },
    sources: [
      { title: "Chowdhery et al.: PaLM, section 4.1 and appendix B (arXiv 2204.02311)", url: "https://arxiv.org/abs/2204.02311", read: "2026-11-21" },
      { title: "Narayanan et al.: Megatron-LM at scale (arXiv 2104.04473)", url: "https://arxiv.org/abs/2104.04473", read: "2026-11-21" }
    ],
    run: function (v) {
      var shape = shapeOf(v);
      var perToken = f.modelFlops(v.active, shape);
      var ratio = f.hardwareFlops(v.active, shape, v.recompute) / perToken;
      var peak = v.gpus * v.peak * 1e12;
      var mfu = v.mode === "throughput"
        ? (v.throughput * perToken) / peak
        : v.utilisation / 100 / (v.counts === "hfu" ? ratio : 1);
      var time = (perToken * v.tokens) / (peak * mfu);
      var hours = (time * v.gpus) / 3600;
      return {
        time: time, flop: perToken * v.tokens, mfu: mfu, hfu: mfu * ratio, throughput: v.tokens / time,
        per_gpu: v.peak * 1e12 * mfu, gpu_hours: hours, cost: hours * v.price, per_token: perToken
      };
    },
    remarks: function (v, out) {
      if (out.hfu > 1) {
        return [{ zh: "利用率超过 100 %：吞吐、峰值或参数量至少有一个口径不对。", en: "Utilisation above 100 %: throughput, peak or parameters are not on one footing." }];
      }
      return out.time > 3 * 365 * DAY ? [{ zh: "超过三年：加卡，或减数据。", en: "More than three years: more GPUs, or fewer tokens." }] : [];
    }
  });
})(this);
