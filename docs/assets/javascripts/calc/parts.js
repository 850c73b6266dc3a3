/**
 * What several calculators ask for: the accelerator, the model, and which columns of the data
 * families fill them in (of several names, the first that a row has).
 */
(function (root) {
  "use strict";

  var calc = root.calc;

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

  function product(first, second) {
    return function (cells) {
      return cells[first] && cells[second] ? cells[first][0] * cells[second][0] : undefined;
    };
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

  calc.modelColumns = {
    parameters: "params",
    active: ["params_active", "params"],
    layers: "layers",
    hidden: "hidden",
    heads: "heads",
    width: product("heads", "head_dim"),
    attention: attentionOf,
    kv_heads: "kv_heads",
    head_dim: "head_dim",
    vocabulary: "vocab",
    kv_rank: "kv_lora",
    rope_dim: "rope_dim"
  };

  /** A preset of model shapes that fills these inputs. */
  calc.modelInput = function (keys) {
    var fills = {};
    for (var i = 0; i < keys.length; i++) {
      fills[keys[i]] = calc.modelColumns[keys[i]];
    }
    return { key: "model", label: { zh: "模型", en: "Model" }, kind: "preset", family: "models", value: "llama31-70b", fills: fills };
  };

  calc.shapeInputs = {
    parameters: { key: "parameters", label: { zh: "参数量", en: "Parameters" }, min: 1e3, max: 1e15, help: { zh: "可写 70B、1.5T；70 亿写作 7B。", en: "70B or 1.5T will do." } },
    layers: { key: "layers", label: { zh: "层数", en: "Layers" }, kind: "integer", min: 1, max: 10000 },
    hidden: { key: "hidden", label: { zh: "隐藏维度", en: "Hidden size" }, kind: "integer", min: 1, max: 1e6 },
    heads: { key: "heads", label: { zh: "注意力头", en: "Attention heads" }, kind: "integer", min: 1, max: 4096 },
    vocabulary: { key: "vocabulary", label: { zh: "词表", en: "Vocabulary" }, kind: "integer", min: 1, max: 1e7 }
  };
})(this);
