/**
 * The drawing of a launch: the blocks of a grid, and the threads of one of them by warp.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var triple = calc.threadParts.triple;
  var written = calc.threadParts.written;

  var WARP = 32;
  var MOST_LINES = 32;
  var WIDE = 340;
  var MOST_ROWS = 6;

  /** The first of at most `most` indices that are drawn, so that `chosen` is among them. */
  function windowFrom(count, chosen, most) {
    return Math.max(0, Math.min(chosen - Math.floor(most / 2), count - most));
  }

  /** The blocks of one layer of the grid; those with idle threads are marked. Returns the height. */
  function drawBlocks(items, v, top) {
    var grid = triple(v, "grid");
    var block = triple(v, "block");
    var at = triple(v, "at");
    var size = triple(v, "size");
    var wide = v.dims === "1" ? 56 : 42;
    var columns = Math.min(Math.floor(WIDE / wide), grid[0]);
    var left = windowFrom(grid[0], at[0], columns);
    var first = windowFrom(grid[1], at[1], MOST_ROWS);
    var rows = Math.min(MOST_ROWS, grid[1]);
    for (var r = 0; r < rows; r++) {
      for (var c = 0; c < columns; c++) {
        var here = [left + c, first + r, at[2]];
        var inside = 1;
        for (var i = 0; i < 3; i++) {
          inside *= Math.max(0, Math.min(block[i], size[i] - here[i] * block[i]));
        }
        var whole = block[0] * block[1] * block[2];
        var name = here.slice(0, v.dims === "1" ? 1 : 2).join(",");
        var box = { kind: "box", x: 70 + c * wide, y: top + r * 24, w: wide - 2, h: 22 };
        box.tone = inside === whole ? "a" : inside ? "c" : "idle";
        box.text = inside === whole ? name : "(" + name + ")";
        box.title = {
          zh: "块 " + name + "：" + whole + " 个线程中 " + inside + " 个有元素",
          en: "block " + name + ": " + inside + " of " + whole + " threads have an element"
        };
        items.push(box);
        if (here[0] === at[0] && here[1] === at[1]) {
          frame(items, box);
        }
      }
    }
    return rows * 24;
  }

  /** Dark on light boxes, with a light edge for where it lies on a dark page. */
  function frame(items, box) {
    var right = box.x + box.w;
    var bottom = box.y + box.h;
    var points = [[box.x, box.y], [right, box.y], [right, bottom], [box.x, bottom], [box.x, box.y]];
    items.push({ kind: "line", points: points, tone: "halo" }, { kind: "line", points: points, tone: "frame" });
  }

  /** The stretches of a line that are of one warp and work, or do not; the chosen thread alone. */
  function stretches(v, line) {
    var runs = [];
    var run = null;
    for (var x = line.from; x < line.to; x++) {
      var one = f.cudaThread(triple(v, "grid"), triple(v, "block"), triple(v, "at"), [x, line.y, line.z], triple(v, "size"));
      var isChosen = x === line.chosen;
      if (!run || run.warp !== one.warp || run.works !== one.works || run.isChosen || isChosen) {
        run = { warp: one.warp, works: one.works, lane: one.lane, x: x, count: 0, isChosen: isChosen };
        runs.push(run);
      }
      run.count++;
    }
    return runs;
  }

  /** A line of threads, x from `from`: a box for each stretch, with its warp or the chosen lane. */
  function drawLine(items, v, line, y, cell) {
    var runs = stretches(v, line);
    for (var i = 0; i < runs.length; i++) {
      var run = runs[i];
      var w = run.count * cell;
      var names = ["warp " + run.warp, String(run.warp)];
      if (run.isChosen) {
        names = [String(run.lane), String(run.lane)];
      } else if (!run.works) {
        names = ["(warp " + run.warp + ")", "(" + run.warp + ")"];
      }
      var lanes = run.lane + (run.count > 1 ? "–" + (run.lane + run.count - 1) : "");
      items.push({
        kind: "box", x: 70 + (run.x - line.from) * cell, y: y, w: w, h: 20,
        tone: run.works ? ["a", "c", "e", "b", "d"][run.warp % 5] : "idle",
        text: w >= 6.8 * names[0].length ? names[0] : names[1],
        title: {
          zh: "线程束 " + run.warp + "，通道 " + lanes + (run.works ? "" : "：判断拦住"),
          en: "warp " + run.warp + ", lanes " + lanes + (run.works ? "" : ": stopped by the guard")
        }
      });
    }
  }

  /** The blocks of the grid, and below them the threads of the chosen one, by warp. */
  f.cudaThreadsScene = function (v, one) {
    var block = triple(v, "block");
    var thread = triple(v, "thread");
    var wide = Math.min(block[0], WARP);
    var cell = Math.max(11, Math.min(42, Math.floor(WIDE / wide)));
    var pieces = Math.ceil(block[0] / WARP);
    var count = pieces * block[1] * block[2];
    var chosen = (thread[2] * block[1] + thread[1]) * pieces + Math.floor(thread[0] / WARP);
    var first = windowFrom(count, chosen, MOST_LINES);
    var items = [{ kind: "text", x: 4, y: 26, text: { zh: "网格", en: "grid" }, tone: "muted" }];
    var top = 12 + drawBlocks(items, v, 10);
    var name = written(triple(v, "at"), v.dims);
    items.push({ kind: "text", x: 70, y: top + 14, text: { zh: "块 " + name + " 的线程，x 向右", en: "threads of block " + name + ", x to the right" }, tone: "ink" });
    top += 22;
    for (var i = 0; i < Math.min(count, MOST_LINES); i++) {
      var at = first + i;
      var piece = at % pieces;
      var row = Math.floor(at / pieces);
      var line = { y: row % block[1], z: Math.floor(row / block[1]), from: piece * WARP, to: Math.min(block[0], piece * WARP + WARP), chosen: at === chosen ? thread[0] : -1 };
      var label = v.dims === "1" ? "x " + line.from + "–" + (line.to - 1) : (v.dims === "3" ? "z" + line.z + " " : "") + "y" + line.y;
      items.push({ kind: "text", x: 4, y: top + i * 22 + 14, text: label + (pieces > 1 && v.dims !== "1" ? " x" + line.from : ""), tone: "muted" });
      drawLine(items, v, line, top + i * 22, cell);
      if (at === chosen) {
        frame(items, { x: 70 + (thread[0] - line.from) * cell, y: top + i * 22, w: cell, h: 20 });
      }
    }
    top += Math.min(count, MOST_LINES) * 22 + 16;
    var left = count - Math.min(count, MOST_LINES);
    items.push({ kind: "text", x: 4, y: top, tone: "muted", text: { zh: "( )：判断拦住；粗框：所看的块、线程（通道号）", en: "( ): stopped by the guard; framed: the chosen (with its lane)" } });
    if (left) {
      top += 18;
      items.push({ kind: "text", x: 4, y: top, tone: "muted", text: { zh: "另有 " + left + " 行没画", en: left + " more rows" } });
    }
    var shown = written(thread, v.dims);
    return {
      width: Math.max(74 + WIDE, 74 + wide * cell), height: top + 10, items: items,
      alt: {
        zh: "块 " + name + " 的 " + block.join(" × ") + " 个线程按线程束着色并标号，共 " + one.warps + " 个线程束；线程 " + shown + " 在线程束 " + one.warp + "，通道 " + one.lane + "。",
        en: "The " + block.join(" x ") + " threads of block " + name + ", coloured and labelled by warp, " + one.warps + " in all; thread " + shown + " is lane " + one.lane + " of warp " + one.warp + "."
      }
    };
  };
})(this);
