/**
 * What several calculators ask for: the accelerator, the model, and which columns of the data
 * families fill them in (of several names, the first that a row has).
 */
(function (root) {
  "use strict";

  var calc = root.calc;

  calc.dtypes = [
    { value: "bf16", label: "BF16 / FP16" },
    { value: "fp8", label: "FP8" },
    { value: "fp4", label: "FP4" },
    { value: "tf32", label: "TF32" },
    { value: "fp32", label: { zh: "FP32（向量）", en: "FP32 (vector)" } },
    { value: "fp64", label: { zh: "FP64（张量）", en: "FP64 (tensor)" } }
  ];

  /** Columns of the accelerators that hold the dense peak of a data type, likeliest first. */
  calc.peakColumns = function (dtype) {
    return [dtype + "_dense", dtype, dtype + "_tensor", "bf16_fp16_dense", dtype + "_tc"].slice(0, 3)
      .concat(dtype === "bf16" ? ["fp16_dense", "fp16", "bf16_fp16"] : [])
      .concat(dtype === "fp32" ? ["fp32_vector"] : []);
  };
  calc.bandwidthColumns = ["memory_bandwidth", "hbm_bandwidth", "bandwidth", "mem_bw"];
  calc.capacityColumns = ["memory_capacity", "memory", "hbm_capacity", "capacity"];
  calc.unitColumns = ["sm_count", "cu_count", "sms"];

  /** The usual three inputs: accelerator, data type, peak. */
  calc.gpuInputs = function (more) {
    return [
      {
        key: "gpu", label: { zh: "加速器", en: "Accelerator" }, kind: "preset", family: "accelerators", value: "h100-sxm",
        fills: function (v) {
          var filled = { peak: calc.peakColumns(v.dtype || "bf16") };
          for (var key in more || {}) {
            filled[key] = more[key];
          }
          return filled;
        }
      },
      { key: "dtype", label: { zh: "数据类型", en: "Data type" }, kind: "choice", value: "bf16", choices: calc.dtypes },
      { key: "peak", label: { zh: "峰值算力（稠密）", en: "Peak (dense)" }, unit: "TFLOPS", min: 0.001, max: 1e6 }
    ];
  };

  calc.modelColumns = {
    parameters: ["parameters", "params", "total_parameters"],
    active: ["active_parameters", "active_params", "active", "parameters", "params"],
    layers: ["layers", "layer_count", "num_layers"],
    hidden: ["hidden", "hidden_size"],
    heads: ["heads", "attention_heads", "head_count"],
    kv_heads: ["kv_heads", "key_value_heads", "kv_head_count"],
    head_dim: ["head_dim", "head_size"],
    vocabulary: ["vocabulary", "vocab", "vocab_size"],
    kv_rank: ["kv_rank", "kv_lora_rank", "mla_kv_rank"],
    rope_dim: ["rope_dim", "qk_rope_head_dim", "mla_rope_dim"]
  };

  /** A preset of model shapes that fills these inputs. */
  calc.modelInput = function (keys, first) {
    var fills = {};
    for (var i = 0; i < keys.length; i++) {
      fills[keys[i]] = calc.modelColumns[keys[i]];
    }
    return { key: "model", label: { zh: "模型", en: "Model" }, kind: "preset", family: "models", value: first, fills: fills };
  };

  calc.shapeInputs = {
    parameters: { key: "parameters", label: { zh: "参数量", en: "Parameters" }, min: 1e3, max: 1e15, help: { zh: "可写 70B、1.5T、70 亿写作 7B。", en: "70B or 1.5T will do." } },
    layers: { key: "layers", label: { zh: "层数", en: "Layers" }, kind: "integer", min: 1, max: 10000 },
    hidden: { key: "hidden", label: { zh: "隐藏维度", en: "Hidden size" }, kind: "integer", min: 1, max: 1e6 },
    heads: { key: "heads", label: { zh: "注意力头", en: "Attention heads" }, kind: "integer", min: 1, max: 4096 },
    vocabulary: { key: "vocabulary", label: { zh: "词表", en: "Vocabulary" }, kind: "integer", min: 1, max: 1e7 }
  };
})(this);
