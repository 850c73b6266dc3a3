/**
 * Arithmetic: peak FLOP/s, roofline, tiles of a matrix product.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** FLOP/s: a fused multiply-add counts two. */
  f.peakFlops = function (units, fmaPerClock, hertz) {
    return units * fmaPerClock * 2 * hertz;
  };

  /** FLOP per byte at which compute and memory take the same time. */
  f.ridge = function (peak, bandwidth) {
    return peak / bandwidth;
  };

  /** FLOP/s that a kernel of this intensity can reach at most. */
  f.attainable = function (peak, bandwidth, intensity) {
    return Math.min(peak, bandwidth * intensity);
  };

  calc.add({
    id: "peak-flops",
    title: { zh: "峰值算力", en: "Peak FLOP/s" },
    about: {
      zh: "SM 数 × 每 SM 的张量核 × 每拍乘加 × 2 × 频率：规格表上的数字由此而来。",
      en: "SMs times tensor cores times multiply-adds a clock times two times clock: where the data sheet's figure comes from."
    },
    note: "chip/gpu-generations",
    inputs: [
      {
        key: "gpu", label: { zh: "加速器", en: "Accelerator" }, kind: "preset", family: "accelerators", value: "h100-sxm",
        needs: ["sm_count"], fills: { sms: "sm_count", clock: "clock" }
      },
      { key: "sms", label: { zh: "SM（或 CU）数", en: "SMs (or CUs)" }, kind: "integer", value: 132, min: 1, max: 2000 },
      { key: "cores", label: { zh: "每 SM 的张量核（或向量核）", en: "Tensor (or vector) cores per SM" }, kind: "integer", value: 4, min: 1, max: 1024, help: { zh: "向量 FP32：这里填每 SM 的核数，下一项填 1。", en: "For vector FP32 put the cores per SM here and 1 below." } },
      { key: "fma", label: { zh: "每核每拍乘加数（稠密）", en: "Multiply-adds per core and clock (dense)" }, kind: "integer", value: 512, min: 1, max: 65536 },
      { key: "clock", label: { zh: "频率", en: "Clock" }, unit: "MHz", value: 1830, min: 1, max: 10000 },
      { key: "sparse", label: { zh: "2:4 稀疏（宣传值乘 2）", en: "2:4 sparsity (doubles the claim)" }, kind: "flag", value: false }
    ],
    outputs: [
      { key: "peak", label: { zh: "峰值", en: "Peak" }, kind: "flops" },
      { key: "per_sm", label: { zh: "每 SM 每拍", en: "Per SM and clock" }, unit: "FLOP", kind: "count" }
    ],
    formula: ["P = \\text{SM} \\times \\text{cores/SM} \\times \\text{FMA/clk} \\times 2 \\times f"],
    assumptions: [
      { zh: "频率取规格表算峰值时所用的加速频率；功耗受限时持续频率更低。", en: "The clock is the boost clock behind the data sheet; under a power limit the sustained clock is lower." },
      { zh: "一次乘加记两次运算。", en: "A multiply-add counts as two operations." }
    ],
    example: { inputs: { gpu: "", sms: 132, cores: 4, fma: 512, clock: 1830 }, says: { zh: "132 个 SM、每 SM 四个张量核、每核每拍 512 次 FP16 乘加、1830 MHz：", en: "132 SMs with four tensor cores of 512 FP16 multiply-adds a clock at 1830 MHz:" } },
    sources: [],
    run: function (v) {
      var peak = f.peakFlops(v.sms * v.cores, v.fma, v.clock * 1e6) * (v.sparse ? 2 : 1);
      return { peak: peak, per_sm: v.cores * v.fma * 2 * (v.sparse ? 2 : 1) };
    }
  });

  calc.add({
    id: "roofline",
    title: { zh: "Roofline", en: "Roofline" },
    about: {
      zh: "算术强度低于拐点，性能由带宽决定；高于拐点，由算力决定。",
      en: "Below the ridge point bandwidth decides; above it, arithmetic does."
    },
    note: "chip/roofline",
    inputs: calc.gpuInputs({ bandwidth: "mem_bw" }).concat([
      { key: "bandwidth", label: { zh: "显存带宽", en: "Memory bandwidth" }, unit: "GB/s", min: 0.1, max: 1e6 },
      { key: "intensity", label: { zh: "算术强度", en: "Arithmetic intensity" }, unit: "FLOP/B", value: 60, min: 1e-4, max: 1e7, help: { zh: "运算数 ÷ 与显存往来的字节数。", en: "Operations divided by bytes moved to and from memory." } },
      { key: "measured", label: { zh: "实测（可不填）", en: "Measured (optional)" }, unit: "TFLOPS", value: 0, min: 0, max: 1e6, optional: true }
    ]),
    outputs: [
      { key: "attainable", label: { zh: "可达上限", en: "Attainable at most" }, kind: "flops" },
      { key: "ridge", label: { zh: "拐点", en: "Ridge point" }, unit: "FLOP/B" },
      { key: "share", label: { zh: "占峰值", en: "Share of the peak" }, kind: "ratio" },
      { key: "bound", label: { zh: "受限于", en: "Bound by" } },
      { key: "reached", label: { zh: "实测达到上限的", en: "Measured against the limit" }, kind: "ratio" }
    ],
    formula: ["P(I) = \\min(P_{\\text{peak}},\\; B \\cdot I), \\qquad I_{\\text{ridge}} = \\frac{P_{\\text{peak}}}{B}"],
    assumptions: [
      { zh: "计算与访存完全重叠；只算显存，不算缓存。", en: "Compute and memory overlap fully; memory only, no caches." },
      { zh: "两条屋顶都用规格值；换成实测带宽与实测 GEMM 更接近现实。", en: "Both roofs are specifications; measured bandwidth and GEMM rates come closer to life." }
    ],
    example: { inputs: { gpu: "h100-sxm", dtype: "fp16", intensity: 60 }, says: { zh: "H100 SXM，BF16，每字节 60 次运算：", en: "H100 SXM, BF16, 60 operations a byte:" } },
    sources: [{ title: "Williams, Waterman, Patterson: Roofline (CACM 2009)", url: "https://doi.org/10.1145/1498765.1498785" }],
    run: function (v) {
      var peak = v.peak * 1e12;
      var bandwidth = v.bandwidth * 1e9;
      var ridge = f.ridge(peak, bandwidth);
      var limit = f.attainable(peak, bandwidth, v.intensity);
      return {
        attainable: limit,
        ridge: ridge,
        share: limit / peak,
        bound: v.intensity < ridge ? { zh: "显存带宽", en: "memory bandwidth" } : { zh: "算力", en: "arithmetic" },
        reached: v.measured > 0 ? (v.measured * 1e12) / limit : null
      };
    },
    draw: function (v, out) {
      return f.rooflineScene(v, out);
    }
  });

  function log10(value) {
    return Math.log(value) / Math.LN10;
  }

  /** The roof over intensity, both axes logarithmic, with the kernel's point on it. */
  f.rooflineScene = function (v, out) {
    var peak = v.peak * 1e12;
    var bandwidth = v.bandwidth * 1e9;
    var left = Math.floor(Math.min(log10(v.intensity), log10(out.ridge)) - 0.6);
    var right = Math.ceil(Math.max(log10(v.intensity), log10(out.ridge)) + 0.6);
    var top = Math.ceil(log10(peak) + 0.1);
    var low = Math.min(log10(f.attainable(peak, bandwidth, Math.pow(10, left))), v.measured > 0 ? log10(v.measured * 1e12) : 99);
    var bottom = Math.floor(low);
    var box = { x: 52, y: 14, w: 324, h: 190 };
    function x(intensity) {
      return box.x + ((log10(intensity) - left) / (right - left)) * box.w;
    }
    function y(flops) {
      return box.y + box.h - ((log10(flops) - bottom) / (top - bottom)) * box.h;
    }
    var items = [];
    var i;
    for (i = left; i <= right; i++) {
      items.push({ kind: "line", tone: "grid", points: [[x(Math.pow(10, i)), box.y], [x(Math.pow(10, i)), box.y + box.h]] });
      items.push({ kind: "text", x: x(Math.pow(10, i)), y: box.y + box.h + 16, text: calc.number(Math.pow(10, i)), anchor: "middle", tone: "muted" });
    }
    for (i = bottom; i <= top; i++) {
      items.push({ kind: "line", tone: "grid", points: [[box.x, y(Math.pow(10, i))], [box.x + box.w, y(Math.pow(10, i))]] });
      items.push({ kind: "text", x: box.x - 6, y: y(Math.pow(10, i)) + 4, text: calc.number(Math.pow(10, i - 12)), anchor: "end", tone: "muted" });
    }
    var start = Math.pow(10, left);
    items.push({ kind: "line", tone: "roof", points: [[x(start), y(bandwidth * start)], [x(out.ridge), y(peak)], [box.x + box.w, y(peak)]] });
    items.push({ kind: "line", tone: "guide", points: [[x(v.intensity), box.y + box.h], [x(v.intensity), y(out.attainable)]] });
    items.push({ kind: "box", x: x(v.intensity) - 5, y: y(out.attainable) - 5, w: 10, h: 10, tone: "point", title: calc.format(out.attainable, { kind: "flops" }) });
    if (v.measured > 0) {
      items.push({ kind: "box", x: x(v.intensity) - 4, y: y(v.measured * 1e12) - 4, w: 8, h: 8, tone: "measured", title: calc.number(v.measured) + " TFLOP/s" });
    }
    items.push({ kind: "text", x: box.x + box.w, y: box.y + box.h + 34, text: { zh: "算术强度（FLOP/B）", en: "arithmetic intensity (FLOP/B)" }, anchor: "end", tone: "muted" });
    items.push({ kind: "text", x: box.x + 4, y: box.y + 12, text: "TFLOP/s", tone: "muted" });
    return {
      width: 400, height: 246, items: items, fluid: true,
      alt: {
        zh: "Roofline：拐点在每字节 " + calc.number(out.ridge) + " 次运算；强度 " + calc.number(v.intensity) + " 处上限 " + calc.format(out.attainable, { kind: "flops" }, "zh") + "，受限于" + out.bound.zh + "。",
        en: "Roofline: ridge at " + calc.number(out.ridge) + " operations a byte; at intensity " + calc.number(v.intensity) + " the limit is " + calc.format(out.attainable, { kind: "flops" }, "en") + ", bound by " + out.bound.en + "."
      }
    };
  };

  /** Tiles, waves and what padding and a short last wave cost a matrix product. */
  f.gemmTiles = function (m, n, tileM, tileN, units) {
    var across = Math.ceil(m / tileM);
    var down = Math.ceil(n / tileN);
    var tiles = across * down;
    var waves = Math.ceil(tiles / units);
    return {
      tiles: tiles,
      waves: waves,
      exact_waves: tiles / units,
      wave_share: tiles / (waves * units),
      tile_share: (m * n) / (tiles * tileM * tileN)
    };
  };

  calc.add({
    id: "gemm",
    title: { zh: "GEMM 分块与波次", en: "GEMM tiles and waves" },
    about: {
      zh: "输出矩阵切成块、一波波分给 SM；补边与不满的最后一波都是浪费。",
      en: "The output is cut into tiles that fill the SMs wave by wave; padding and a short last wave are waste."
    },
    note: "hpc/cuda/gemm",
    inputs: calc.gpuInputs({ sms: "sm_count", bandwidth: "mem_bw" }).concat([
      { key: "bandwidth", label: { zh: "显存带宽", en: "Memory bandwidth" }, unit: "GB/s", min: 0.1, max: 1e6 },
      { key: "sms", label: { zh: "SM 数", en: "SMs" }, kind: "integer", min: 1, max: 2000 },
      { key: "m", label: "M", kind: "integer", value: 4096, min: 1, max: 1e7 },
      { key: "n", label: "N", kind: "integer", value: 4096, min: 1, max: 1e7 },
      { key: "k", label: "K", kind: "integer", value: 4096, min: 1, max: 1e7 },
      { key: "tile_m", label: { zh: "块高", en: "Tile rows" }, kind: "integer", value: 128, min: 1, max: 1024 },
      { key: "tile_n", label: { zh: "块宽", en: "Tile columns" }, kind: "integer", value: 256, min: 1, max: 1024 },
      { key: "per_sm", label: { zh: "每 SM 同时的块", en: "Tiles at once per SM" }, kind: "integer", value: 1, min: 1, max: 32 },
      { key: "bytes", label: { zh: "每元素字节（输入与输出）", en: "Bytes per element (in and out)" }, value: 2, min: 0.5, max: 16 }
    ]),
    outputs: [
      { key: "efficiency", label: { zh: "分块与波次的效率", en: "Efficiency of tiles and waves" }, kind: "ratio" },
      { key: "tiles", label: { zh: "块数", en: "Tiles" }, kind: "count" },
      { key: "waves", label: { zh: "波数", en: "Waves" }, kind: "count" },
      { key: "wave_share", label: { zh: "波次占满", en: "Waves filled" }, kind: "ratio" },
      { key: "tile_share", label: { zh: "块内有效", en: "Tiles filled" }, kind: "ratio" },
      { key: "flop", label: { zh: "运算量", en: "Operations" }, kind: "flop" },
      { key: "intensity", label: { zh: "算术强度（读写各一次）", en: "Intensity (each matrix once)" }, unit: "FLOP/B" },
      { key: "time", label: { zh: "时间下限", en: "Least time" }, kind: "seconds" },
      { key: "rate", label: { zh: "算力上限", en: "Rate at most" }, kind: "flops" },
      { key: "bound", label: { zh: "受限于", en: "Bound by" } }
    ],
    formula: [
      "\\text{tiles} = \\left\\lceil\\tfrac{M}{T_m}\\right\\rceil \\left\\lceil\\tfrac{N}{T_n}\\right\\rceil, \\qquad \\text{waves} = \\left\\lceil\\tfrac{\\text{tiles}}{\\text{SM} \\times \\text{tiles/SM}}\\right\\rceil",
      "\\eta = \\frac{MN}{\\text{tiles}\\,T_m T_n} \\cdot \\frac{\\text{tiles}}{\\text{waves} \\times \\text{SM} \\times \\text{tiles/SM}}, \\qquad t \\ge \\max\\!\\left(\\frac{2MNK}{\\eta\\,P},\\; \\frac{\\text{bytes}}{B}\\right)"
    ],
    assumptions: [
      { zh: "不用 split-K 与 stream-K；它们正是为补最后一波而设。", en: "No split-K or stream-K, which exist to fill the last wave." },
      { zh: "每个矩阵与显存只往来一次（缓存理想）。", en: "Each matrix crosses the memory bus once (ideal caches)." }
    ],
    example: { inputs: { gpu: "h100-sxm", m: 4096, n: 4096, k: 4096, tile_m: 128, tile_n: 256 }, says: { zh: "4096 的方阵在 132 个 SM 上：", en: "A 4096 cube on 132 SMs:" } },
    sources: [],
    run: function (v) {
      var tiles = f.gemmTiles(v.m, v.n, v.tile_m, v.tile_n, v.sms * v.per_sm);
      var flop = 2 * v.m * v.n * v.k;
      var bytes = v.bytes * (v.m * v.k + v.k * v.n + v.m * v.n);
      var efficiency = tiles.wave_share * tiles.tile_share;
      var compute = flop / (v.peak * 1e12 * efficiency);
      var memory = bytes / (v.bandwidth * 1e9);
      var time = Math.max(compute, memory);
      return {
        efficiency: efficiency, tiles: tiles.tiles, waves: tiles.waves, wave_share: tiles.wave_share,
        tile_share: tiles.tile_share, flop: flop, intensity: flop / bytes, time: time, rate: flop / time,
        bound: memory > compute ? { zh: "显存带宽", en: "memory bandwidth" } : { zh: "算力", en: "arithmetic" }
      };
    }
  });
})(this);
