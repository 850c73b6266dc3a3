/**
 * A fleet of replicas that serve one model: GPUs, tokens a second and cost for a load and an SLO.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var parts = calc.inferenceParts;

  /**
   * The time of a step that gives one token to each of `batch` sequences, without any prefill.
   *
   * The roofs are lowered to the shares of them that kernels reach; `fixed` is what no roof knows:
   * launches, scheduling, messages.
   */
  f.decodeStep = function (replica, batch) {
    var tokens = Math.max(1, batch);
    var cache = tokens * replica.context * replica.kv * f.kvReadShare(replica.shape, replica.gpus, tokens, replica.split);
    var moved = (f.weightsRead(replica.model, replica.gpus, tokens) * replica.bytes + cache) / replica.memoryRate;
    return Math.max((2 * replica.active * tokens) / replica.computeRate, moved) + replica.fixed;
  };

  /** The prompt's operations at the rate reached; what the prefix cache has is not computed. */
  f.prefillTime = function (replica) {
    var computed = 2 * replica.active * replica.prompt * (1 - replica.hit);
    var pairs = replica.prompt * replica.prompt * (1 - replica.hit * replica.hit);
    return (computed + 2 * replica.layers * replica.width * pairs) / replica.computeRate;
  };

  /**
   * Mean time per output token at some batch: the step, and the prefills that keep the batch full.
   *
   * Of `batch` sequences batch / output end in a step, so as many prompts are computed in it. Work
   * of both adds up: measured steps with a chunk of 512 or more take 82 to 98 % of the sum (infer/basics).
   */
  f.servedStep = function (replica, batch) {
    return f.decodeStep(replica, batch) + (batch / replica.output) * f.prefillTime(replica);
  };

  /** The batch and mean step of a replica that requests reach at some rate, below its limit. */
  f.servedAt = function (replica, rate) {
    var prefill = f.prefillTime(replica);
    var batch = 0;
    for (var i = 0; i < 200; i++) {
      batch = (rate * replica.output * f.decodeStep(replica, batch)) / (1 - rate * prefill);
    }
    return { batch: batch, step: f.decodeStep(replica, batch) / (1 - rate * prefill) };
  };

  /**
   * The 99th percentile of the time to first token: own prefill, a step, and the queue for prefill.
   *
   * The queue is M/M/1 with prefill first: the wait exceeds t with probability
   * load x exp(-(1 - load) t / prefill).
   */
  f.firstToken99 = function (prefill, step, load) {
    var wait = load > 0.01 ? (prefill / (1 - load)) * Math.log(100 * load) : 0;
    return prefill + step + wait;
  };

  /** The largest load, of prefill alone, at which that percentile keeps a limit; -1 if none does. */
  f.prefillLoad = function (prefill, step, limit) {
    if (prefill + step > limit) {
      return -1;
    }
    var low = 0;
    var high = 1;
    for (var i = 0; i < 60; i++) {
      var middle = (low + high) / 2;
      if (f.firstToken99(prefill, step, middle) <= limit) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  };

  /** The largest batch up to `most` whose mean step keeps a limit; 0 if none does. */
  f.batchWithin = function (replica, limit, most) {
    var low = 0;
    var high = most;
    while (low < high) {
      var middle = Math.ceil((low + high) / 2);
      if (f.servedStep(replica, middle) <= limit) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  };

  /** Sequences, each at its full length, whose cache fits beside the weights. */
  f.batchThatFits = function (replica, room) {
    var full = (replica.prompt + replica.output) * replica.kv;
    if (room < full * f.kvReadShare(replica.shape, replica.gpus, 1, replica.split)) {
      return 0;
    }
    return replica.split === "dp"
      ? Math.floor(room / full) * replica.gpus
      : Math.floor(room / (full * f.kvReadShare(replica.shape, replica.gpus, 1, replica.split)));
  };

  var LIMITS = {
    memory: { zh: "显存放不下更多缓存", en: "memory for the cache" },
    cap: { zh: "并发上限", en: "the cap on sequences" },
    tpot: { zh: "TPOT 的上限", en: "the limit of TPOT" },
    ttft: { zh: "TTFT 的上限", en: "the limit of TTFT" }
  };
  var NONE = {
    weights: { zh: "做不到：权重加一条请求放不进一个副本", en: "none: weights and one request do not fit a replica" },
    tpot: { zh: "做不到：只服务一条也超过 TPOT 的上限", en: "none: one sequence alone misses the limit of TPOT" },
    ttft: { zh: "做不到：一个提示单独预填充也超过 TTFT 的上限", en: "none: one prompt alone misses the limit of TTFT" }
  };

  function replicaOf(v) {
    var isMoe = v.structure === "moe";
    return {
      shape: parts.shapeOf(v), kv: f.kvBytesPerToken(parts.shapeOf(v)), gpus: v.gpus, split: v.split, active: v.active,
      bytes: Number(v.weight_bytes), layers: v.layers, width: parts.coreWidth(v), prompt: v.prompt, output: v.output,
      context: v.prompt + v.output / 2, hit: v.hit / 100, fixed: v.fixed / 1000,
      computeRate: v.gpus * v.peak * 1e12 * (v.compute / 100), memoryRate: v.bandwidth * 1e9 * (v.memory / 100),
      model: {
        parameters: v.parameters, embedding: v.embedding, routed: isMoe ? v.routed : 0, experts: v.experts, chosen: v.chosen,
        copied: v.split === "dp" ? v.copied : 0
      }
    };
  }

  function failed(reason) {
    return { gpus: NONE[reason], replicas: null, bound: null, rate: null, batch: null, tpot: null, ttft: null, tokens: null, per_gpu: null, cost: null, cost_all: null };
  }

  calc.add({
    id: "fleet",
    title: { zh: "推理机群：GPU、吞吐与每百万 token 成本", en: "An inference fleet: GPUs, throughput and cost per million tokens" },
    about: {
      zh: "从每秒请求、长度与 SLO 到副本数、GPU 数、吞吐与成本；每一步都说被什么限制。",
      en: "From requests per second, lengths and an SLO to replicas, GPUs, throughput and cost, and what limits them."
    },
    note: "infer/sizing",
    inputs: [
      { key: "requests", label: { zh: "高峰每秒请求", en: "Requests per second at peak" }, value: 2, min: 1e-6, max: 1e7 },
      { key: "prompt", label: { zh: "提示长度（平均）", en: "Prompt (mean)" }, unit: "token", kind: "integer", value: 2000, min: 1, max: 1e7 },
      { key: "output", label: { zh: "输出长度（平均）", en: "Output (mean)" }, unit: "token", kind: "integer", value: 400, min: 1, max: 1e7 },
      { key: "hit", label: { zh: "提示命中前缀缓存", en: "Of the prompt found in the prefix cache" }, unit: "%", value: 0, min: 0, max: 99.9 },
      { key: "ttft_limit", label: { zh: "TTFT 上限（p99）", en: "Limit of TTFT (p99)" }, unit: "s", value: 2, min: 0.001, max: 1e6 },
      { key: "tpot_limit", label: { zh: "TPOT 上限（平均）", en: "Limit of TPOT (mean)" }, unit: "ms", value: 50, min: 0.01, max: 1e6 },
      calc.modelInput(["parameters", "active", "structure", "routed", "experts", "chosen", "copied", "embedding", "attention", "layers", "heads", "kv_heads", "head_dim", "kv_rank", "rope_dim", "value_dim"]),
      calc.shapeInputs.parameters,
      { key: "active", label: { zh: "激活参数（稠密模型同上）", en: "Active parameters (dense: the same)" }, min: 1e3, max: 1e15 },
      calc.shapeInputs.structure, calc.shapeInputs.routed, calc.shapeInputs.experts, calc.shapeInputs.chosen,
      { key: "embedding", label: { zh: "输入嵌入的参数", en: "Parameters of the input embedding" }, value: 0, min: 0, max: 1e13 },
      { key: "weight_bytes", label: { zh: "权重每参数字节", en: "Bytes per weight" }, kind: "choice", value: "1", choices: parts.bytes }
    ].concat(parts.shape, calc.gpuInputs({ bandwidth: "mem_bw", capacity: calc.capacityColumns }).map(function (input) {
      return input.key !== "dtype" ? input : { key: "dtype", label: input.label, kind: "choice", value: "fp8", choices: calc.dtypes };
    }), [
      { key: "bandwidth", label: { zh: "显存带宽，每卡", en: "Memory bandwidth of a GPU" }, unit: "GB/s", min: 0.1, max: 1e6 },
      calc.capacityInput,
      { key: "usable", label: { zh: "可用显存比例", en: "Share of memory in use" }, unit: "%", value: 90, min: 1, max: 100 },
      { key: "gpus", label: { zh: "每个副本的 GPU", en: "GPUs of a replica" }, kind: "integer", value: 4, min: 1, max: 4096 },
      { key: "split", label: { zh: "副本内怎样分", en: "How a replica shares the model" }, kind: "choice", value: "tp", choices: parts.splits },
      { key: "copied", label: { zh: "每卡各存一份的参数", en: "Parameters that every GPU holds whole" }, min: 0, max: 1e15, when: { split: ["dp"] } },
      { key: "compute", label: { zh: "预填充达到峰值的", en: "Of the peak, prefill reaches" }, unit: "%", value: 50, min: 0.1, max: 100 },
      { key: "memory", label: { zh: "解码达到带宽的", en: "Of the bandwidth, decode reaches" }, unit: "%", value: 75, min: 0.1, max: 100 },
      { key: "fixed", label: { zh: "每步固定开销（启动、调度、通信）", en: "Fixed time of a step (launches, scheduling, messages)" }, unit: "ms", value: 3, min: 0, max: 1e5 },
      { key: "cap", label: { zh: "每副本最多并发", en: "Sequences of a replica at most" }, kind: "integer", value: 1024, min: 1, max: 1e7, help: { zh: "在 vLLM 里是 max_num_seqs；数据并行时是各卡之和。", en: "In vLLM, max_num_seqs; with data parallelism the sum over GPUs." } },
      { key: "load", label: { zh: "高峰时副本用到上限的", en: "At peak, of a replica's limit" }, unit: "%", value: 80, min: 1, max: 100 },
      { key: "mean", label: { zh: "全天平均负载占高峰", en: "Mean load, of the peak" }, unit: "%", value: 50, min: 0.1, max: 100 },
      { key: "price", label: { zh: "每卡每小时价格（任意货币）", en: "Price of a GPU hour (any currency)" }, value: 2, min: 0, max: 1e6 }
    ]),
    outputs: [
      { key: "gpus", label: { zh: "GPU 数", en: "GPUs" }, kind: "count" },
      { key: "replicas", label: { zh: "副本数", en: "Replicas" }, kind: "count" },
      { key: "bound", label: { zh: "一个副本受限于", en: "A replica is bound by" } },
      { key: "rate", label: { zh: "一个副本至多每秒请求", en: "Requests per second of a replica at most" }, digits: 3 },
      { key: "batch", label: { zh: "那时的并发", en: "Sequences at once there" }, kind: "count" },
      { key: "per_gpu", label: { zh: "那时每卡每秒输出 token", en: "Output tokens per second and GPU there" }, kind: "count" },
      { key: "tpot", label: { zh: "高峰时的 TPOT（平均）", en: "TPOT at peak (mean)" }, kind: "seconds" },
      { key: "ttft", label: { zh: "高峰时的 TTFT（p99）", en: "TTFT at peak (p99)" }, kind: "seconds" },
      { key: "tokens", label: { zh: "高峰时全机群每秒输出 token", en: "Output tokens per second, whole fleet, at peak" }, kind: "count" },
      { key: "cost", label: { zh: "每百万输出 token 成本（输入不另计）", en: "Cost per million output tokens (input included)" }, digits: 3 },
      { key: "cost_all", label: { zh: "每百万 token 成本（输入加输出）", en: "Cost per million tokens (input and output)" }, digits: 3 }
    ],
    formula: [
      "p = \\frac{2N_a s(1-h) + 2L\\,w\\,s^2(1-h^2)}{g\\,P\\,e_c}, \\allowbreak\\quad t(b) = \\max\\Bigl(\\frac{2N_a b}{g\\,P\\,e_c},\\; \\frac{W(b) + \\text{share}\\cdot b\\,(s+o/2)\\,k}{B\\,e_m}\\Bigr) + t_0",
      "\\text{TPOT}(b) = t(b) + \\frac{b}{o}\\,p, \\qquad \\text{rate} = \\frac{b}{o\\,\\text{TPOT}(b)}",
      "\\text{TTFT}_{99} = p + t(b) + \\frac{p}{1-\\rho}\\ln(100\\rho),\\ \\ \\rho = \\text{rate}\\cdot p",
      "\\text{GPUs} = g\\left\\lceil \\frac{\\lambda}{u\\,\\text{rate}} \\right\\rceil, \\qquad \\text{cost} = \\frac{\\text{GPUs}\\cdot \\text{price}\\cdot 10^6}{3600\\,\\lambda\\,m\\,o}"
    ],
    assumptions: [
      { zh: "一个副本同时做预填充与解码，两者的时间相加：每步有 b/o 条结束，就要补上 b/o 个提示。分离部署与投机解码不在内。", en: "A replica does prefill and decode, and their times add up: b/o sequences end in a step, so b/o prompts are computed in it. No disaggregation, no speculative decoding." },
      { zh: "缓存按每条的全长 s + o 预留，读取按输出过半的长度；b 取显存、并发上限与 TPOT 三者允许的最小。", en: "Cache is reserved for each sequence's full length s + o and read at half of the output; b is what memory, the cap and TPOT all allow." },
      { zh: "W、k、w、share 与“预填充与解码的下限”相同；屋顶乘以达到的比例 e_c、e_m，卡间通信只在固定开销 t_0 里。跨节点专家并行时这样算偏乐观。", en: "W, k, w and share are those of the lower bounds of prefill and decode; the roofs are lowered to the shares e_c and e_m, traffic between GPUs is only in the fixed time t_0. For expert parallelism across nodes this is optimistic." },
      { zh: "TTFT 的排队是 M/M/1、预填充优先；ρ 不到 1 % 时不计；自己的提示取平均长度。到达按泊松；突发、长提示的长尾要靠模拟。", en: "The queue for TTFT is M/M/1 with prefill first, left out where ρ is below 1 %; one's own prompt is the mean one. Arrivals are Poisson; bursts and a tail of long prompts need a simulation." },
      { zh: "默认的 50 %、75 % 是经验值的取整，不是测得的常数：用自己一次压测校准。", en: "The preset 50 % and 75 % are rounded experience, not constants: calibrate them with one load test of your own." }
    ],
    example: {
      inputs: { model: "", gpu: "h200-sxm", attention: "gqa", parameters: "70.6B", active: "70.6B", structure: "dense", layers: 80, heads: 64, kv_heads: 8, head_dim: 128, gpus: 2, requests: 10, prompt: 1000, output: 1000 },
      says: { zh: "700 亿参数、FP8 权重、每副本两张 H200，每秒十个请求，各 1000 token 进、1000 token 出：", en: "70 billion parameters in FP8, two H200 a replica, ten requests per second of 1000 tokens in and 1000 out:" }
    },
    sources: [
      { title: "NVIDIA: TensorRT-LLM, Performance overview (03e27c7)", url: "https://github.com/NVIDIA/TensorRT-LLM/blob/03e27c7d5ff0c6e89f8328838c0a8e64f1b34f9d/docs/source/developer-guide/perf-overview.md", read: "2026-11-23" },
      { title: "DeepSeek-AI: DeepSeek-V3/R1 Inference System Overview (56d8685)", url: "https://github.com/deepseek-ai/open-infra-index/blob/56d86855fcf6e08fdfd45ce6280bd24322c93351/202502OpenSourceWeek/day_6_one_more_thing_deepseekV3R1_inference_system_overview.md", read: "2026-11-23" }
    ],
    check: function (v) {
      if (v.active > v.parameters * 1.0001) {
        return [{ key: "active", zh: "激活参数不会多于总参数。", en: "Active parameters cannot exceed all parameters." }];
      }
      return calc.expertProblems(v);
    },
    run: function (v) {
      var replica = replicaOf(v);
      var held = Math.min(replica.model.copied, v.parameters);
      var room = v.capacity * 1e9 * (v.usable / 100) - (held + (v.parameters - held) / v.gpus) * replica.bytes;
      var fits = f.batchThatFits(replica, room);
      if (!fits) {
        return failed("weights");
      }
      var most = Math.min(fits, v.cap);
      var batch = f.batchWithin(replica, v.tpot_limit / 1000, most);
      if (!batch) {
        return failed("tpot");
      }
      var bound = batch < most ? "tpot" : fits <= v.cap ? "memory" : "cap";
      var rate = batch / (v.output * f.servedStep(replica, batch));
      var prefill = f.prefillTime(replica);
      var load = f.prefillLoad(prefill, f.decodeStep(replica, batch), v.ttft_limit);
      if (load * v.gpus <= 0) {
        return failed("ttft");
      }
      if (rate * prefill > load) {
        bound = "ttft";
        rate = load / prefill;
        batch = f.servedAt(replica, rate).batch;
      }
      var replicas = Math.ceil(v.requests / (rate * (v.load / 100)) - 1e-9);
      var at = f.servedAt(replica, v.requests / replicas);
      var hour = replicas * v.gpus * v.price / 3600 / (v.requests * (v.mean / 100));
      return {
        gpus: replicas * v.gpus, replicas: replicas, bound: LIMITS[bound], rate: rate, batch: batch, tpot: at.step,
        ttft: f.firstToken99(prefill, f.decodeStep(replica, at.batch), (v.requests / replicas) * prefill),
        tokens: v.requests * v.output, per_gpu: (rate * v.output) / v.gpus,
        cost: (hour * 1e6) / v.output, cost_all: (hour * 1e6) / (v.prompt + v.output)
      };
    },
    remarks: function (v, out) {
      return out.replicas === 1
        ? [{ zh: "只有一个副本：它停了就没有服务，至少再加一个。", en: "One replica only: when it stops so does the service; add at least another." }]
        : [];
    }
  });
})(this);
