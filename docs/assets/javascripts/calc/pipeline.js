/**
 * Pipeline schedules: the bubble by formula, and the schedule itself, played and drawn.
 *
 * Each stage has a fixed order of work; playing it lets every piece start as soon as the stage is
 * free and what it needs has arrived. The formulas are those of Megatron-LM (arXiv 2104.04473)
 * and of Zero Bubble Pipeline Parallelism (arXiv 2401.10241); tests compare the two.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var MOST_PIECES = 60000;
  var MOST_DRAWN = 1600;

  /**
   * Idle time of a stage in one step.
   *
   * work: {forward, input, weight}: time of a micro-batch on a stage, the backward pass in its two
   * halves (gradient of the input, gradient of the weights).
   */
  f.pipelineBubble = function (schedule, stages, chunks, work) {
    var whole = work.forward + work.input + work.weight;
    if (schedule === "zb-h1") {
      return (stages - 1) * Math.max(0, work.forward + work.input - work.weight);
    }
    if (schedule === "zb-h2") {
      return (stages - 1) * Math.max(0, work.forward + work.input - 2 * work.weight);
    }
    return ((stages - 1) * whole) / (schedule === "interleaved" ? chunks : 1);
  };

  /** Micro-batches of activations that the first stage holds at most, in stages' worth. */
  f.pipelineHeld = function (schedule, stages, chunks, microBatches) {
    var held = stages;
    if (schedule === "gpipe") {
      held = microBatches;
    } else if (schedule === "interleaved") {
      held = stages * (1 + (stages - 1) / (stages * chunks));
    } else if (schedule === "zb-h2") {
      held = 2 * stages - 1;
    }
    return Math.min(held, microBatches);
  };

  function piece(kind, micro, chunk) {
    return { kind: kind, micro: micro, chunk: chunk || 0 };
  }

  function interleavedOrder(stage, stages, chunks, micro) {
    var total = micro * chunks;
    var group = stages * chunks;
    var warmup = Math.min(total, 2 * (stages - stage - 1) + (chunks - 1) * stages);
    var order = [];
    function forward(k) {
      order.push(piece("F", Math.floor(k / group) * stages + (k % stages), Math.floor((k % group) / stages)));
    }
    function backward(k) {
      order.push(piece("B", Math.floor(k / group) * stages + (k % stages), chunks - 1 - Math.floor((k % group) / stages)));
    }
    for (var k = 0; k < warmup; k++) {
      forward(k);
    }
    for (k = warmup; k < total; k++) {
      forward(k);
      backward(k - warmup);
    }
    for (k = total - warmup; k < total; k++) {
      backward(k);
    }
    return order;
  }

  /** The pieces of work of a stage, in order. F forward, B backward (or its input half), W. */
  f.pipelineOrder = function (schedule, stage, stages, chunks, micro) {
    var order = [];
    var i;
    if (schedule === "interleaved") {
      return interleavedOrder(stage, stages, chunks, micro);
    }
    if (schedule === "gpipe") {
      for (i = 0; i < micro; i++) {
        order.push(piece("F", i));
      }
      for (i = 0; i < micro; i++) {
        order.push(piece("B", i));
      }
      return order;
    }
    var isSplit = schedule === "zb-h1" || schedule === "zb-h2";
    var reach = schedule === "zb-h2" ? 2 : 1;
    var lagB = reach * (stages - 1 - stage);
    var lagW = isSplit ? reach * (stages - 1) : 0;
    for (i = 0; i < micro + Math.max(lagB, lagW); i++) {
      if (i < micro) {
        order.push(piece("F", i));
      }
      if (i >= lagB && i - lagB < micro) {
        order.push(piece("B", i - lagB));
      }
      if (isSplit && i >= lagW && i - lagW < micro) {
        order.push(piece("W", i - lagW));
      }
    }
    return order;
  };

  /**
   * Plays a schedule: {pieces [{kind, micro, chunk, stage, start, end}], end, idle}.
   *
   * idle is the longest idle time of a stage between its first and last piece, together with what
   * it waits for the step to end; with zb-h2 a stage does not wait for the others to end.
   */
  f.playPipeline = function (schedule, stages, chunks, micro, work) {
    var isSplit = schedule === "zb-h1" || schedule === "zb-h2";
    var share = schedule === "interleaved" ? chunks : 1;
    var lengths = {
      F: work.forward / share,
      B: (isSplit ? work.input : work.input + work.weight) / share,
      W: work.weight
    };
    var orders = [];
    var next = [];
    var free = [];
    var done = {};
    var pieces = [];
    var left = 0;
    for (var s = 0; s < stages; s++) {
      orders.push(f.pipelineOrder(schedule, s, stages, share, micro));
      next.push(0);
      free.push(0);
      left += orders[s].length;
    }
    function key(kind, job, stage, chunk) {
      return kind + job + "/" + stage + "/" + chunk;
    }
    function ready(job, stage) {
      if (job.kind === "W") {
        return done[key("B", job.micro, stage, job.chunk)];
      }
      var ahead = job.kind === "F" ? -1 : 1;
      var from = stage + ahead;
      var chunk = job.chunk;
      if (from < 0 || from >= stages) {
        chunk += ahead;
        from = (from + stages) % stages;
        if (chunk < 0) {
          return 0;
        }
        if (chunk >= share) {
          return done[key("F", job.micro, stage, job.chunk)];
        }
      }
      return done[key(job.kind, job.micro, from, chunk)];
    }
    while (left) {
      var before = left;
      for (s = 0; s < stages; s++) {
        while (next[s] < orders[s].length) {
          var job = orders[s][next[s]];
          var since = ready(job, s);
          if (since === undefined) {
            break;
          }
          var start = Math.max(free[s], since);
          free[s] = start + lengths[job.kind];
          done[key(job.kind, job.micro, s, job.chunk)] = free[s];
          pieces.push({ kind: job.kind, micro: job.micro, chunk: job.chunk, stage: s, start: start, end: free[s] });
          next[s]++;
          left--;
        }
      }
      if (left === before) {
        throw new Error("the schedule waits for itself");
      }
    }
    return { pieces: pieces, end: Math.max.apply(null, free), idle: idleOf(pieces, free, stages, micro, work, schedule) };
  };

  function idleOf(pieces, free, stages, micro, work, schedule) {
    var busy = micro * (work.forward + work.input + work.weight);
    var first = [];
    var worst = 0;
    for (var i = 0; i < pieces.length; i++) {
      var stage = pieces[i].stage;
      first[stage] = first[stage] === undefined ? pieces[i].start : Math.min(first[stage], pieces[i].start);
    }
    for (var s = 0; s < stages; s++) {
      var span = schedule === "zb-h2" ? free[s] - first[s] : Math.max.apply(null, free);
      worst = Math.max(worst, span - busy);
    }
    return worst;
  }

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
      "\\frac{t_{\\text{bubble}}}{t_{\\text{ideal}}} = \\frac{p-1}{m}\\ \\text{(GPipe, 1F1B)}, \\qquad \\frac{p-1}{v\\,m}\\ \\text{(interleaved)}",
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
      rows: rows, pieces: pieces, legend: legend, left: 60, step: 128, end: game.end,
      width: Math.min(2400, Math.max(540, (game.end / shortest) * 9.5)),
      alt: {
        zh: "时间线：" + v.stages + " 段、" + v.micro + " 个微批，一步 " + calc.number(game.end) + " ms，每段至多空转 " + calc.number(game.idle) + " ms。",
        en: "Timeline: " + v.stages + " stages, " + v.micro + " micro-batches, " + calc.number(game.end) + " ms a step, a stage idles " + calc.number(game.idle) + " ms at most."
      }
    });
  };
})(this);
