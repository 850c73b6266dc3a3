/**
 * Banks of shared memory: how many turns one access of a warp takes.
 *
 * Word w of 4 bytes lies in bank w mod 32; lanes that want one word share it, lanes that want
 * different words of one bank take turns (CUDA Programming Guide, section 2.3.4.2). Accesses of 8
 * and 16 bytes go in phases of 16 and 8 neighbouring lanes, as measured on an H200.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var WARP = 32;
  var BANKS = 32;

  /**
   * Turns that one access takes, given the first word of each lane and the words per lane.
   *
   * phases: [{first, last (lanes), turns, banks: for each bank [{word, lanes}]}]; wavefronts: the
   * turns of all phases; least: those without conflict; degree: the worst phase.
   */
  f.bankConflicts = function (starts, words) {
    var size = WARP / words;
    var phases = [];
    var wavefronts = 0;
    var degree = 1;
    for (var first = 0; first < WARP; first += size) {
      var banks = [];
      var turns = 1;
      for (var bank = 0; bank < BANKS; bank++) {
        banks.push([]);
      }
      for (var lane = first; lane < first + size; lane++) {
        for (var k = 0; k < words; k++) {
          var word = starts[lane] + k;
          var queue = banks[word % BANKS];
          var place = 0;
          while (place < queue.length && queue[place].word !== word) {
            place++;
          }
          if (place === queue.length) {
            queue.push({ word: word, lanes: [] });
          }
          queue[place].lanes.push(lane);
          turns = Math.max(turns, queue.length);
        }
      }
      phases.push({ first: first, last: first + size - 1, turns: turns, banks: banks });
      wavefronts += turns;
      degree = Math.max(degree, turns);
    }
    return { phases: phases, wavefronts: wavefronts, least: phases.length, degree: degree };
  };

  /**
   * The first word of each lane in a tile: rows of `row` words and `padding` more, read along a
   * row, down a column (a lane per row), or all in one place; `index` is the row or the column,
   * in vectors of `words` words. swizzle: unit u of row r is kept at u xor r, within the row.
   */
  f.tileWords = function (access, row, padding, swizzle, words, index) {
    var units = row / words;
    var starts = [];
    for (var lane = 0; lane < WARP; lane++) {
      var r = access === "column" ? lane : access === "row" ? index : 0;
      var u = access === "row" ? lane : index;
      r += Math.floor(u / units); // past the end of a row comes the next one
      u %= units;
      if (swizzle) {
        u ^= r % units;
      }
      starts.push(r * (row + padding) + u * words);
    }
    return starts;
  };

  function turns(count) {
    return count + (count === 1 ? " turn" : " turns");
  }

  function isPowerOfTwo(value) {
    return value > 0 && Math.pow(2, Math.round(Math.log(value) / Math.LN2)) === value;
  }

  function wordsOf(v) {
    return Number(v.width) / 4;
  }

  function answered(v) {
    return f.bankConflicts(f.tileWords(v.access, v.row, v.padding, v.swizzle, wordsOf(v), v.index), wordsOf(v));
  }

  calc.add({
    id: "bank-conflicts",
    title: { zh: "存储体冲突", en: "Bank conflicts" },
    about: {
      zh: "一个线程束读写共享内存要排几轮；填充与异或重排怎样消掉冲突。",
      en: "How many turns a warp's access to shared memory takes, and how padding or an XOR swizzle removes conflicts."
    },
    note: "hpc/cuda/09-shared-shuffle",
    inputs: [
      {
        key: "access", label: { zh: "怎样访问", en: "Access" }, kind: "choice", value: "column",
        choices: [
          { value: "column", label: { zh: "一列：每条通道一行", en: "a column: one row per lane" } },
          { value: "row", label: { zh: "一行：通道挨着", en: "a row: lanes side by side" } },
          { value: "same", label: { zh: "同一个地方", en: "one place for all" } }
        ]
      },
      {
        key: "width", label: { zh: "每条通道", en: "Each lane takes" }, kind: "choice", value: "4",
        choices: [{ value: "4", label: { zh: "4 B（float）", en: "4 B (float)" } }, { value: "8", label: { zh: "8 B（float2、double）", en: "8 B (float2, double)" } }, { value: "16", label: { zh: "16 B（float4）", en: "16 B (float4)" } }]
      },
      { key: "row", label: { zh: "行长（4 B 的字）", en: "Row length (words of 4 B)" }, kind: "integer", value: 32, min: 1, max: 4096 },
      { key: "padding", label: { zh: "每行填充（字）", en: "Padding per row (words)" }, kind: "integer", value: 0, min: 0, max: 1024 },
      { key: "index", label: { zh: "第几行或列", en: "Which row or column" }, kind: "integer", value: 0, min: 0, max: 4095 },
      { key: "swizzle", label: { zh: "异或重排（列 xor 行）", en: "XOR swizzle (column xor row)" }, kind: "flag", value: false }
    ],
    outputs: [
      { key: "wavefronts", label: { zh: "共几轮（wavefront）", en: "Turns (wavefronts)" }, kind: "count" },
      { key: "conflict", label: { zh: "冲突", en: "Conflict" } },
      { key: "least", label: { zh: "没有冲突时几轮", en: "Turns without conflict" }, kind: "count" },
      { key: "slower", label: { zh: "慢几倍", en: "Times as slow" } },
      { key: "spare", label: { zh: "填充占用", en: "Space for padding" }, kind: "ratio" }
    ],
    formula: [
      "\\text{bank}(w) = w \\bmod 32, \\qquad \\text{turns} = \\sum_{\\text{phases}} \\max_{\\text{bank}} \\left|\\{\\text{different words in it}\\}\\right|",
      "w = r\\,(R + P) + u\\,k, \\qquad \\text{swizzle: } u \\to u \\oplus (r \\bmod R/k)"
    ],
    assumptions: [
      { zh: "R：行长；P：填充；k：每条通道几个字；u 是行内第几个 k 字的单位，r 是行。32 个存储体，每个每周期 4 字节。", en: "R: row length; P: padding; k: words per lane; u counts units of k words in a row, r is the row. 32 banks of 4 bytes per cycle." },
      { zh: "要同一个字的通道一起得到它（广播），不算冲突。", en: "Lanes that want the same word get it together (broadcast): no conflict." },
      { zh: "8 字节分两段、16 字节分四段，每段是相邻的 16、8 条通道，只在段内冲突。NVIDIA 的指南没有写；这是一块 H200 上测得的。", en: "8 bytes go in two phases and 16 in four, of 16 and 8 neighbouring lanes; conflicts count inside a phase. NVIDIA's guides do not say so; it was measured on an H200." }
    ],
    example: { inputs: {}, says: { zh: "32 × 32 的 float，读一列：", en: "A 32 x 32 tile of floats, read down a column:" } },
    sources: [
      { title: "NVIDIA: CUDA Programming Guide, section 2.3.4.2", url: "https://docs.nvidia.com/cuda/cuda-programming-guide/02-basics/writing-cuda-kernels.html", read: "2026-11-23" },
      { title: { zh: "NVIDIA：Nsight Compute Profiling Guide，共享内存与 wavefront", en: "NVIDIA: Nsight Compute Profiling Guide, shared memory and wavefronts" }, url: "https://docs.nvidia.com/nsight-compute/ProfilingGuide/", read: "2026-11-23" }
    ],
    check: function (v) {
      var words = wordsOf(v);
      if (v.row % words) {
        return [{ key: "row", zh: "行长要是 " + words + " 个字的倍数。", en: "The row must be a multiple of " + words + " words." }];
      }
      if (v.padding % words) {
        return [{ key: "padding", zh: "填充要是 " + words + " 个字的倍数，否则 " + v.width + " 字节的访问不对齐。", en: "Padding must be a multiple of " + words + " words, or accesses of " + v.width + " bytes are misaligned." }];
      }
      if (v.swizzle && !isPowerOfTwo(v.row / words)) {
        return [{ key: "row", zh: "异或重排要求一行的单位数是 2 的幂。", en: "An XOR swizzle needs a power of two of units in a row." }];
      }
      return v.access !== "row" && v.index >= v.row / words
        ? [{ key: "index", zh: "一行只有 " + v.row / words + " 个单位。", en: "A row has " + v.row / words + " units." }]
        : [];
    },
    run: function (v) {
      var one = answered(v);
      return {
        wavefronts: one.wavefronts, least: one.least, slower: one.wavefronts / one.least, spare: v.padding / (v.row + v.padding),
        conflict: one.degree > 1 ? { zh: one.degree + " 路", en: one.degree + "-way" } : { zh: "没有", en: "none" }
      };
    },
    remarks: function (v) {
      var one = answered(v);
      if (one.degree === 1 || v.access !== "column") {
        return [];
      }
      var words = wordsOf(v);
      var padded = f.bankConflicts(f.tileWords(v.access, v.row, v.padding + words, v.swizzle, words, v.index), words);
      var said = [];
      if (padded.wavefronts < one.wavefronts) {
        said.push({ zh: "每行再填充 " + words + " 个字：" + padded.wavefronts + " 轮。", en: "With padding of " + (v.padding + words) + " per row: " + turns(padded.wavefronts) + "." });
      }
      if (!v.swizzle && isPowerOfTwo(v.row / words)) {
        var moved = f.bankConflicts(f.tileWords(v.access, v.row, v.padding, true, words, v.index), words);
        said.push({ zh: "改用异或重排：" + moved.wavefronts + " 轮。", en: "With the swizzle: " + turns(moved.wavefronts) + "." });
      }
      return said;
    },
    draw: function (v) {
      return f.bankScene(answered(v));
    }
  });

  function listed(lanes) {
    return lanes.length > 1 ? lanes[0] + "–" + lanes[lanes.length - 1] : String(lanes[0]);
  }

  /** The turns in which a bank of a half serves. Returns where they end. */
  function drawTurns(items, one, half, left, cell, y) {
    var turn = 0;
    for (var p = 0; p < one.phases.length; p++) {
      var phase = one.phases[p];
      for (var t = 0; t < phase.turns; t++) {
        turn++;
        var boxes = [];
        for (var b = half; b < half + BANKS / 2; b++) {
          var served = phase.banks[b][t];
          if (served) {
            boxes.push({
              kind: "box", x: left + (b - half) * cell, y: y, w: cell, h: 17, tone: ["a", "c", "e", "b"][p],
              text: served.lanes.length > 1 ? "x" + served.lanes.length : String(served.lanes[0]),
              title: {
                zh: "存储体 " + b + "，字 " + served.word + "：通道 " + listed(served.lanes),
                en: "bank " + b + ", word " + served.word + ": lanes " + listed(served.lanes)
              }
            });
          }
        }
        if (boxes.length || turn === 1) {
          items.push({ kind: "text", x: 4, y: y + 13, text: { zh: "第 " + turn + " 轮", en: "turn " + turn }, tone: "muted" });
          items.push({ kind: "box", x: left, y: y, w: BANKS / 2 * cell, h: 17, tone: "idle" });
          items.push.apply(items, boxes);
          y += 18;
        }
      }
      y += 6;
    }
    return y;
  }

  /** A column for each bank, in two halves of 16, a row for each turn: which lane is served there and then. */
  f.bankScene = function (one) {
    var cell = 22;
    var left = 56;
    var items = [];
    var y = 0;
    for (var half = 0; half < BANKS; half += BANKS / 2) {
      items.push({ kind: "text", x: 4, y: y + 16, text: { zh: "存储体", en: "bank" }, tone: "muted" });
      for (var b = half; b < half + BANKS / 2; b++) {
        items.push({ kind: "text", x: left + (b - half) * cell + cell / 2, y: y + 16, text: String(b), anchor: "middle", tone: "muted" });
      }
      y = drawTurns(items, one, half, left, cell, y + 24) + 6;
    }
    var many = one.phases.length > 1;
    var said = [{ zh: "格里的数字是通道；xn：n 条通道合要一个字", en: "The number is the lane; xn: n lanes share a word" }];
    if (many) {
      said.push({ zh: "一段一种颜色，段间留空", en: "A colour per phase, a gap between" });
    }
    for (var k = 0; k < said.length; k++) {
      y += 18;
      items.push({ kind: "text", x: 4, y: y - 4, tone: "muted", text: said[k] });
    }
    return {
      width: left + BANKS / 2 * cell + 4, height: y + 6, items: items,
      alt: {
        zh: "存储体图：一次访问分 " + one.phases.length + " 段，共 " + one.wavefronts + " 轮，最满的存储体在一段里有 " + one.degree + " 个不同的字。",
        en: "Map of the banks: " + one.phases.length + (many ? " phases" : " phase") + ", " + turns(one.wavefronts) + " in all; the fullest bank has " + one.degree + " different words in a phase."
      }
    };
  };
})(this);
