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
})(this);
