/**
 * The calculator of pipelines, and the timeline of a schedule (pipeline-schedules.js plays it).
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  var MOST_PIECES = 60000;
  var MOST_DRAWN = 1600;


  function workOf(v) {
    return { forward: v.forward, input: v.input, weight: v.weight };
  }

  function chunksOf(v) {
    return v.schedule === "interleaved" ? v.chunks : 1;
  }

  function played(v) {
    var count = v.stages * v.micro * chunksOf(v) * 3;
    return count <= MOST_PIECES ? f.playPipeline(v.schedule, v.stages, chunksOf(v), v.micro, workOf(v)) : null;
  }

  var SCHEDULES = [
    { value: "gpipe", label: "GPipe" },
    { value: "1f1b", label: { zh: "1F1B", en: "1F1B" } },
    { value: "interleaved", label: { zh: "交错 1F1B", en: "interleaved 1F1B" } },
    { value: "zb-h1", label: { zh: "零气泡 ZB-H1", en: "zero bubble, ZB-H1" } },
    { value: "zb-h2", label: { zh: "零气泡 ZB-H2", en: "zero bubble, ZB-H2" } }
  ];

  calc.add({
    id: "pipeline",
    title: { zh: "流水线气泡", en: "Pipeline bubble" },
    about: {
      zh: "各种调度空转多少、压住多少激活；时间线由调度本身逐件推演画出。",
      en: "How long each schedule idles and how many activations it holds; the timeline is played from the schedule itself."
    },
    note: "train/pipeline-parallel",
    inputs: [
      { key: "schedule", label: { zh: "调度", en: "Schedule" }, kind: "choice", value: "1f1b", choices: SCHEDULES },
      { key: "stages", label: { zh: "段数 p", en: "Stages p" }, kind: "integer", value: 4, min: 1, max: 256 },
      { key: "micro", label: { zh: "微批数 m", en: "Micro-batches m" }, kind: "integer", value: 8, min: 1, max: 10000 },
      { key: "chunks", label: { zh: "每段切成 v 块", en: "Chunks per stage v" }, kind: "integer", value: 2, min: 2, max: 32, when: { schedule: ["interleaved"] } },
      { key: "forward", label: { zh: "前向，每段每微批", en: "Forward, a stage and micro-batch" }, unit: "ms", value: 1, min: 0.001, max: 1e6 },
      { key: "input", label: { zh: "反向：对输入的梯度", en: "Backward: gradient of the input" }, unit: "ms", value: 1, min: 0.001, max: 1e6 },
      { key: "weight", label: { zh: "反向：对权重的梯度", en: "Backward: gradient of the weights" }, unit: "ms", value: 1, min: 0.001, max: 1e6 }
    ],
    outputs: [
      { key: "of_ideal", label: { zh: "气泡 ÷ 理想时间", en: "Bubble over ideal time" }, kind: "ratio" },
      { key: "of_total", label: { zh: "气泡占一步", en: "Bubble's share of a step" }, kind: "ratio" },
      { key: "bubble", label: { zh: "每段空转", en: "Idle time of a stage" }, unit: "ms" },
      { key: "step", label: { zh: "一步用时", en: "Time of a step" }, unit: "ms" },
      { key: "held", label: { zh: "首段同时压住的微批", en: "Micro-batches held by the first stage" } }
    ],
    formula: [
      "\\frac{t_{\\text{bubble}}}{t_{\\text{ideal}}} = \\frac{p-1}{m}\\ \\text{(GPipe, 1F1B)}, \\allowbreak\\quad \\frac{p-1}{v\\,m}\\ \\text{(interleaved)}",
      "t_{\\text{bubble}} = (p-1)(T_F + T_B - T_W)\\ \\text{(ZB-H1)}, \\qquad (p-1)(T_F + T_B - 2T_W)\\ \\text{(ZB-H2)}"
    ],
    assumptions: [
      { zh: "T_B 只是对输入的梯度，T_W 是对权重的梯度；反向的全长是两者之和。", en: "T_B is the gradient of the input only, T_W that of the weights; a whole backward pass is both." },
      { zh: "各段耗时相同，段间传输不占时间。", en: "Stages take the same time; moving data between them takes none." },
      { zh: "ZB-H2 去掉了优化器步前的全局同步，各段错开起止；空转按各段自己的起止算。", en: "ZB-H2 drops the global synchronisation before the optimiser step; a stage idles between its own first and last piece." },
      { zh: "交错调度要求 m 是 p 的倍数。", en: "Interleaving needs m to be a multiple of p." }
    ],
    example: { inputs: { schedule: "1f1b", stages: 4, micro: 8 }, says: { zh: "四段、八个微批、1F1B：", en: "Four stages, eight micro-batches, 1F1B:" } },
    sources: [
      { title: "Narayanan et al.: Megatron-LM at scale, section 2.2 (arXiv 2104.04473)", url: "https://arxiv.org/abs/2104.04473", read: "2026-11-21" },
      { title: "Qi et al.: Zero Bubble Pipeline Parallelism (arXiv 2401.10241)", url: "https://arxiv.org/abs/2401.10241", read: "2026-11-21" }
    ],
    check: function (v) {
      return v.schedule === "interleaved" && v.micro % v.stages
        ? [{ key: "micro", zh: "交错调度的微批数应是段数 " + v.stages + " 的倍数。", en: "With interleaving, micro-batches must be a multiple of the " + v.stages + " stages." }]
        : [];
    },
    run: function (v) {
      var bubble = f.pipelineBubble(v.schedule, v.stages, chunksOf(v), workOf(v));
      var ideal = v.micro * (v.forward + v.input + v.weight);
      return {
        bubble: bubble, of_ideal: bubble / ideal, of_total: bubble / (ideal + bubble), step: ideal + bubble,
        held: f.pipelineHeld(v.schedule, v.stages, chunksOf(v), v.micro)
      };
    },
    remarks: function (v, out) {
      var game = played(v);
      var said = [];
      if (game && Math.abs(game.idle - out.bubble) > 1e-6 * (out.step + game.end)) {
        said.push({
          zh: "照这个次序逐件推演，空转 " + calc.number(game.idle) + " ms：公式假定微批足够多、三段时间相近。",
          en: "Played piece by piece in this order a stage idles " + calc.number(game.idle) + " ms: the formula assumes enough micro-batches and three parts of similar length."
        });
      }
      if (v.micro * v.stages * chunksOf(v) > MOST_DRAWN / 2) {
        said.push({ zh: "格子太多，不画时间线。", en: "Too many pieces to draw the timeline." });
      }
      return said;
    },
    draw: function (v) {
      var game = v.micro * v.stages * chunksOf(v) <= MOST_DRAWN / 2 ? played(v) : null;
      return game ? f.pipelineScene(v, game) : null;
    }
  });

  /** The timeline: a row a stage, a box a piece, numbered by micro-batch. */
  f.pipelineScene = function (v, game) {
    var chunks = chunksOf(v);
    var shortest = Math.min(v.forward, v.input, v.weight) / chunks;
    var rows = [];
    var pieces = [];
    for (var s = 0; s < v.stages; s++) {
      rows.push({ zh: "段 " + (s + 1), en: "stage " + (s + 1) });
    }
    for (var i = 0; i < game.pieces.length; i++) {
      var one = game.pieces[i];
      pieces.push({
        row: one.stage, start: one.start, end: one.end, text: String(one.micro + 1),
        tone: { F: one.chunk % 2 ? "b" : "a", B: one.chunk % 2 ? "d" : "c", W: "e" }[one.kind],
        title: one.kind + (one.micro + 1) + (chunks > 1 ? "." + (one.chunk + 1) : "") + ": " + calc.number(one.start) + "–" + calc.number(one.end) + " ms"
      });
    }
    var isSplit = v.schedule.indexOf("zb") === 0;
    var legend = [["a", { zh: "前向", en: "forward" }], ["c", isSplit ? { zh: "反向（输入）", en: "backward (input)" } : { zh: "反向", en: "backward" }]];
    if (isSplit) {
      legend.push(["e", { zh: "反向（权重）", en: "backward (weights)" }]);
    }
    legend.push(["idle", { zh: "空转", en: "idle" }]);
    return calc.timeline({
      rows: rows, pieces: pieces, legend: legend, left: 56, step: isSplit ? 190 : 134, end: game.end,
      width: Math.min(2400, Math.max(344, (game.end / shortest) * 9.5)),
      alt: {
        zh: "时间线：" + v.stages + " 段、" + v.micro + " 个微批，一步 " + calc.number(game.end) + " ms，每段至多空转 " + calc.number(game.idle) + " ms。",
        en: "Timeline: " + v.stages + " stages, " + v.micro + " micro-batches, " + calc.number(game.end) + " ms a step, a stage idles " + calc.number(game.idle) + " ms at most."
      }
    });
  };
})(this);
