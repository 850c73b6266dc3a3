/**
 * Streams: copies in, kernels and copies out of several chunks, played on the engines of a GPU.
 *
 * Within a stream work runs in order; an engine does one thing at a time and takes what became
 * ready first, of equals what was issued first. One engine runs kernels, one or two copy (Best
 * Practices Guide, section 10.1.2). With pageable memory nothing overlaps.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /**
   * Plays chunks over streams: {pieces [{kind, chunk, stream, engine, start, end}], end, sum,
   * busiest, overlap}.
   *
   * times: [in, kernel, out] of a chunk; kinds likewise 0, 1, 2. Engines: 0 copies, 1 kernels, 2
   * copies out where there are two to copy. sum: all pieces one after another; busiest: the work
   * of the fullest engine; overlap: time in which two engines or more are at work.
   */
  f.streamTimeline = function (chunks, times, streams, engines, isPinned) {
    var engineOf = [0, 1, engines > 1 ? 2 : 0];
    var free = [0, 0, 0];
    var work = [0, 0, 0];
    var queues = [];
    var ready = [];
    var pieces = [];
    var s, i, kind;
    for (s = 0; s < streams; s++) {
      queues.push([]);
      ready.push(0);
    }
    for (i = 0; i < chunks; i++) {
      for (kind = 0; kind < 3; kind++) {
        if (times[kind] > 0) {
          queues[i % streams].push({ kind: kind, chunk: i, stream: i % streams, engine: engineOf[kind] });
        }
      }
    }
    function start(piece) {
      return Math.max(ready[piece.stream], free[piece.engine]);
    }
    function isBefore(one, other) {
      if (!isPinned) {
        return one.chunk < other.chunk;
      }
      var apart = start(one) - start(other) || ready[one.stream] - ready[other.stream];
      return apart < 0 || (apart === 0 && one.chunk < other.chunk);
    }
    for (;;) {
      var next = null;
      for (s = 0; s < streams; s++) {
        if (queues[s].length && (!next || isBefore(queues[s][0], next))) {
          next = queues[s][0];
        }
      }
      if (!next) {
        break;
      }
      queues[next.stream].shift();
      next.start = start(next);
      next.end = next.start + times[next.kind];
      work[next.engine] += times[next.kind];
      pieces.push(next);
      ready[next.stream] = free[next.engine] = next.end;
      for (s = 0; !isPinned && s < 3; s++) {
        free[s] = next.end;
      }
    }
    return {
      pieces: pieces, end: Math.max.apply(null, ready), sum: chunks * (times[0] + times[1] + times[2]),
      busiest: Math.max.apply(null, work), overlap: overlapOf(pieces)
    };
  };

  /** Time in which at least two pieces run. */
  function overlapOf(pieces) {
    var marks = [];
    for (var i = 0; i < pieces.length; i++) {
      marks.push([pieces[i].start, 1], [pieces[i].end, -1]);
    }
    marks.sort(function (a, b) {
      return a[0] - b[0] || a[1] - b[1];
    });
    var running = 0;
    var found = 0;
    for (i = 0; i < marks.length; i++) {
      if (running > 1) {
        found += marks[i][0] - marks[i - 1][0];
      }
      running += marks[i][1];
    }
    return found;
  }

  function timesOf(v) {
    var each = v.overhead / 1000;
    var whole = [v.copy_in, v.kernel, v.copy_out];
    var times = [];
    for (var i = 0; i < 3; i++) {
      times.push(whole[i] > 0 ? whole[i] / v.chunks + each : 0);
    }
    return times;
  }

  function played(v) {
    return f.streamTimeline(v.chunks, timesOf(v), v.streams, Number(v.engines), v.memory === "pinned");
  }

  calc.add({
    id: "stream-timeline",
    title: { zh: "流的时间线", en: "Timeline of streams" },
    about: {
      zh: "数据切成几块、放进几个流，拷贝与核函数能重叠多少；时间线逐件推演画出。",
      en: "How far copies and kernels overlap when data are cut into chunks over streams; the timeline is played piece by piece."
    },
    note: "hpc/cuda/11-streams",
    inputs: [
      { key: "copy_in", label: { zh: "拷入，全部数据", en: "Copy in, all data" }, unit: "ms", value: 8, min: 0, max: 1e6 },
      { key: "kernel", label: { zh: "核函数，全部数据", en: "Kernel, all data" }, unit: "ms", value: 12, min: 0.001, max: 1e6 },
      { key: "copy_out", label: { zh: "拷出，全部数据", en: "Copy out, all data" }, unit: "ms", value: 8, min: 0, max: 1e6 },
      { key: "chunks", label: { zh: "切成几块", en: "Chunks" }, kind: "integer", value: 4, min: 1, max: 64 },
      { key: "streams", label: { zh: "流", en: "Streams" }, kind: "integer", value: 4, min: 1, max: 64 },
      {
        key: "engines", label: { zh: "拷贝引擎", en: "Copy engines" }, kind: "choice", value: "2",
        choices: [{ value: "1", label: { zh: "一个", en: "one" } }, { value: "2", label: { zh: "两个，一个方向一个", en: "two, one per direction" } }]
      },
      {
        key: "memory", label: { zh: "主机内存", en: "Host memory" }, kind: "choice", value: "pinned",
        choices: [{ value: "pinned", label: { zh: "锁页", en: "pinned" } }, { value: "pageable", label: { zh: "可分页", en: "pageable" } }]
      },
      { key: "overhead", label: { zh: "每次拷贝或启动另加", en: "Added per copy or launch" }, unit: "µs", value: 0, min: 0, max: 1e6 }
    ],
    outputs: [
      { key: "makespan", label: { zh: "总用时", en: "Time in all" }, unit: "ms" },
      { key: "sum", label: { zh: "依次做", en: "One after another" }, unit: "ms" },
      { key: "speedup", label: { zh: "快几倍", en: "Times as fast" } },
      { key: "overlap", label: { zh: "至少两个引擎同时在做", en: "Two engines or more at work" }, kind: "ratio" },
      { key: "busiest", label: { zh: "下限：最忙的引擎", en: "Bound: the busiest engine" }, unit: "ms" }
    ],
    formula: [
      "\\max_{\\text{engine}} W_e \\;\\le\\; T \\;\\le\\; \\sum_e W_e, \\qquad T = n \\max(t_{in}, t_k, t_{out}) + (t_{in} + t_k + t_{out}) - \\max(t_{in}, t_k, t_{out})"
    ],
    assumptions: [
      { zh: "右式：三个引擎、流够多、n 块同样大；t 是一块的时间，W 是一个引擎的工作量。", en: "On the right: three engines, enough streams, n equal chunks; t is the time of a chunk, W the work of an engine." },
      { zh: "第 i 块放进第 i mod s 个流（s 个流）；一个流里按次序，一个引擎一次做一件，先就绪的先做。", en: "Chunk i goes to stream i mod s of s; a stream keeps its order, an engine does one thing at a time, first ready first." },
      { zh: "核函数占满 GPU，彼此不重叠；两个方向的拷贝互不拖慢。", en: "A kernel fills the GPU, so kernels do not overlap; copies in both directions do not slow each other." },
      { zh: "可分页内存的 cudaMemcpyAsync 变回同步：什么都不重叠。它的拷贝本身也更慢，要另填。", en: "With pageable memory cudaMemcpyAsync is synchronous again: nothing overlaps. The copies are slower too; enter that yourself." }
    ],
    example: { inputs: {}, says: { zh: "四块、四个流、两个拷贝引擎、锁页内存：", en: "Four chunks, four streams, two copy engines, pinned memory:" } },
    sources: [
      { title: "NVIDIA: CUDA C++ Best Practices Guide, section 10.1.2", url: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/", read: "2026-11-23" },
      { title: "NVIDIA: CUDA Programming Guide, section 2.5", url: "https://docs.nvidia.com/cuda/cuda-programming-guide/02-basics/asynchronous-execution.html", read: "2026-11-23" }
    ],
    run: function (v) {
      var game = played(v);
      return { makespan: game.end, sum: game.sum, speedup: game.sum / game.end, overlap: game.overlap / game.end, busiest: game.busiest };
    },
    remarks: function (v, out) {
      var said = [];
      if (v.memory === "pageable") {
        said.push({ zh: "可分页内存：流再多也依次做。", en: "Pageable memory: one after another, however many streams." });
      } else if (v.streams === 1) {
        said.push({ zh: "一个流：按次序，不重叠。", en: "One stream: in order, no overlap." });
      } else if (v.chunks === 1) {
        said.push({ zh: "只有一块：没有可以重叠的。", en: "One chunk: nothing to overlap." });
      } else if (out.makespan < out.busiest * 1.1) {
        said.push({ zh: "离最忙的引擎不到一成：再多的流也快不了多少。", en: "Within a tenth of the busiest engine: more streams gain little." });
      }
      return said;
    },
    draw: function (v) {
      return f.streamScene(v, played(v));
    }
  });

  /** The timeline: a row for each engine, a box for each piece, numbered by chunk. */
  f.streamScene = function (v, game) {
    var isTwo = v.engines === "2";
    var rows = [isTwo ? { zh: "拷入引擎", en: "copy in" } : { zh: "拷贝引擎", en: "copies" }, { zh: "核函数", en: "kernels" }];
    var names = [{ zh: "拷入", en: "copy in" }, { zh: "核函数", en: "kernel" }, { zh: "拷出", en: "copy out" }];
    var pieces = [];
    var shortest = game.end;
    if (isTwo) {
      rows.push({ zh: "拷出引擎", en: "copy out" });
    }
    for (var i = 0; i < game.pieces.length; i++) {
      var one = game.pieces[i];
      var when = calc.number(one.start) + "–" + calc.number(one.end) + " ms";
      shortest = Math.min(shortest, one.end - one.start);
      pieces.push({
        row: one.engine, start: one.start, end: one.end, tone: ["a", "e", "c"][one.kind], text: String(one.chunk + 1),
        title: {
          zh: names[one.kind].zh + " " + (one.chunk + 1) + "，流 " + (one.stream + 1) + "：" + when,
          en: names[one.kind].en + " " + (one.chunk + 1) + ", stream " + (one.stream + 1) + ": " + when
        }
      });
    }
    return calc.timeline({
      rows: rows, pieces: pieces, left: 62, step: 98, end: game.end,
      legend: [["a", names[0]], ["e", names[1]], ["c", names[2]], ["idle", { zh: "空闲", en: "idle" }]],
      width: Math.min(2400, Math.max(340, (game.end / shortest) * 13)),
      alt: {
        zh: "时间线：" + v.chunks + " 块、" + v.streams + " 个流，" + calc.number(game.end) + " ms；依次做要 " + calc.number(game.sum) + " ms。",
        en: "Timeline: " + v.chunks + " chunks, " + v.streams + " streams, " + calc.number(game.end) + " ms; one after another " + calc.number(game.sum) + " ms."
      }
    });
  };
})(this);
