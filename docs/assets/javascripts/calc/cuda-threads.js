/**
 * Thread hierarchy of CUDA: which number a thread has, in which warp it runs, what it works on.
 *
 * Numbering as in the CUDA Programming Guide, section 2.3.2: x is fastest, then y, then z; warps
 * are cut from a block in that order and never reach into another block.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  var WARP = 32;
  var MOST_THREADS = 1024;

  /**
   * A thread of a launch; grid, block, at (blockIdx), thread (threadIdx), size are [x, y, z].
   *
   * rank: its place in the block; number: its place in the whole grid, block after block; place:
   * its x, y, z in the grid; element: the index of that in an array of that size, or -1 where the
   * guard stops it. empty: lanes of a block's last warp that have no thread; stopped: threads of
   * the launch beyond the array; missing: elements that no thread reaches.
   */
  f.cudaThread = function (grid, block, at, thread, size) {
    var threads = block[0] * block[1] * block[2];
    var blocks = grid[0] * grid[1] * grid[2];
    var rank = (thread[2] * block[1] + thread[1]) * block[0] + thread[0];
    var before = (at[2] * grid[1] + at[1]) * grid[0] + at[0];
    var warps = Math.ceil(threads / WARP);
    var place = [];
    var works = true;
    var reached = 1;
    for (var i = 0; i < 3; i++) {
      place.push(at[i] * block[i] + thread[i]);
      works = works && place[i] < size[i];
      reached *= Math.min(grid[i] * block[i], size[i]);
    }
    return {
      rank: rank, warp: Math.floor(rank / WARP), lane: rank % WARP,
      number: before * threads + rank, place: place, works: works,
      element: works ? (place[2] * size[1] + place[1]) * size[0] + place[0] : -1,
      blocks: blocks, threads: blocks * threads, warps: warps, empty: warps * WARP - threads,
      stopped: blocks * threads - reached, missing: size[0] * size[1] * size[2] - reached
    };
  };

  var NAMES = ["x", "y", "z"];
  var KEYS = { grid: "g", block: "b", at: "i", thread: "t", size: "n" };

  /** The dimensions in play as [x, y, z]; of those that are not, a size is 1 and an index 0. */
  function triple(v, what) {
    var found = [];
    for (var i = 0; i < 3; i++) {
      found.push(i < Number(v.dims) ? v[KEYS[what] + NAMES[i]] : what === "at" || what === "thread" ? 0 : 1);
    }
    return found;
  }

  function answered(v) {
    return f.cudaThread(triple(v, "grid"), triple(v, "block"), triple(v, "at"), triple(v, "thread"), triple(v, "size"));
  }

  /** "(5, 3)", or "5" of one dimension. */
  function written(values, dims) {
    var shown = values.slice(0, Number(dims)).join(", ");
    return Number(dims) > 1 ? "(" + shown + ")" : shown;
  }

  function elementOf(v, one) {
    if (one.works) {
      var where = Number(v.dims) > 1 ? written(one.place, v.dims) : "";
      return {
        zh: calc.number(one.element, 15) + (where ? "，位置 " + where : ""),
        en: calc.number(one.element, 15) + (where ? ", at " + where : "")
      };
    }
    var size = triple(v, "size");
    for (var i = 0; i < 3; i++) {
      if (one.place[i] >= size[i]) {
        return {
          zh: "没有：" + NAMES[i] + " = " + one.place[i] + " ≥ " + size[i] + "，判断拦住了它",
          en: "none: " + NAMES[i] + " = " + one.place[i] + " ≥ " + size[i] + ", the guard stops it"
        };
      }
    }
  }

  function inputs() {
    var list = [{
      key: "dims", label: { zh: "维数", en: "Dimensions" }, kind: "choice", value: "2",
      choices: [{ value: "1", label: { zh: "一维", en: "one" } }, { value: "2", label: { zh: "二维", en: "two" } }, { value: "3", label: { zh: "三维", en: "three" } }]
    }];
    var when = [undefined, { dims: ["2", "3"] }, { dims: ["3"] }];
    function add(what, zh, en, values, least, most) {
      for (var i = 0; i < 3; i++) {
        var one = { key: KEYS[what] + NAMES[i], label: { zh: zh + "." + NAMES[i], en: en + "." + NAMES[i] }, kind: "integer", value: values[i], min: least, max: most[i] };
        if (when[i]) {
          one.when = when[i];
        }
        list.push(one);
      }
    }
    add("grid", "网格 gridDim", "Grid: gridDim", [3, 2, 2], 1, [2147483647, 65535, 65535]);
    add("block", "线程块 blockDim", "Block: blockDim", [16, 8, 2], 1, [1024, 1024, 64]);
    add("size", "元素个数 n", "Elements: n", [40, 16, 4], 1, [1e12, 1e9, 1e9]);
    add("at", "看哪一块 blockIdx", "This block: blockIdx", [2, 1, 0], 0, [2147483646, 65534, 65534]);
    add("thread", "看哪个线程 threadIdx", "This thread: threadIdx", [5, 3, 0], 0, [1023, 1023, 63]);
    return list;
  }

  /** What the drawing (cuda-threads-scene.js) reads entries by. */
  calc.threadParts = { triple: triple, written: written };

  calc.add({
    id: "cuda-threads",
    title: { zh: "CUDA 线程层次", en: "CUDA thread hierarchy" },
    about: {
      zh: "一个线程在块里排第几、属于哪个线程束、处理哪个元素；尾部闲着多少。",
      en: "Where a thread stands in its block, in which warp it runs, which element it works on, and how many are idle at the edges."
    },
    note: "hpc/cuda/02-thread-hierarchy",
    inputs: inputs(),
    outputs: [
      { key: "element", label: { zh: "这个线程处理的元素", en: "Element of this thread" } },
      { key: "rank", label: { zh: "块内线性下标", en: "Linear index in the block" }, kind: "count" },
      { key: "warp", label: { zh: "线程束（warp）", en: "Warp" }, kind: "count" },
      { key: "lane", label: { zh: "通道（lane）", en: "Lane" }, kind: "count" },
      { key: "number", label: { zh: "全网格线程号，逐块数", en: "Number in the grid, block by block" }, kind: "count" },
      { key: "blocks", label: { zh: "线程块", en: "Blocks" }, kind: "count" },
      { key: "threads", label: { zh: "线程", en: "Threads" }, kind: "count" },
      { key: "stopped", label: { zh: "被判断拦住的线程", en: "Threads stopped by the guard" }, kind: "count" },
      { key: "empty", label: { zh: "每块末尾线程束的空通道", en: "Empty lanes in a block's last warp" }, kind: "count" }
    ],
    formula: [
      "r = (t_z B_y + t_y)\\, B_x + t_x, \\qquad \\text{warp} = \\lfloor r / 32 \\rfloor, \\qquad \\text{lane} = r \\bmod 32",
      "x = b_x B_x + t_x, \\quad y = b_y B_y + t_y, \\quad z = b_z B_z + t_z, \\qquad e = (z\\, n_y + y)\\, n_x + x"
    ],
    assumptions: [
      { zh: "b 是 blockIdx，t 是 threadIdx，B 是 blockDim；每一维都判断：x < n_x、y < n_y、z < n_z。", en: "b is blockIdx, t threadIdx, B blockDim; each dimension has its guard: x < n_x, y < n_y, z < n_z." },
      { zh: "一个线程一个元素，没有网格步长循环；数组按行存放，x 最快。", en: "One element per thread, no grid-stride loop; the array is stored with x fastest." },
      { zh: "线程束不跨块：每块末尾不满 32 的，空着的通道照样占位置。", en: "Warps do not cross blocks: where a block ends short of 32, the empty lanes are still taken up." }
    ],
    example: { inputs: {}, says: { zh: "40 × 16 个元素，16 × 8 的块，看块 (2, 1) 的线程 (5, 3)：", en: "40 x 16 elements, blocks of 16 x 8; thread (5, 3) of block (2, 1):" } },
    sources: [
      { title: "NVIDIA: CUDA Programming Guide, section 2.3.2", url: "https://docs.nvidia.com/cuda/cuda-programming-guide/02-basics/writing-cuda-kernels.html", read: "2026-11-23" },
      { title: { zh: "同一指南，5.1 节（上限）", en: "The same guide, section 5.1 (limits)" }, url: "https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html", read: "2026-11-23" }
    ],
    check: function (v) {
      var grid = triple(v, "grid");
      var block = triple(v, "block");
      var at = triple(v, "at");
      var thread = triple(v, "thread");
      var count = block[0] * block[1] * block[2];
      if (count > MOST_THREADS) {
        return [{ key: "bx", zh: "一块有 " + count + " 个线程，最多 " + MOST_THREADS + "。", en: "A block of " + count + " threads; " + MOST_THREADS + " is the most." }];
      }
      for (var i = 0; i < 3; i++) {
        if (at[i] >= grid[i]) {
          return [{ key: KEYS.at + NAMES[i], zh: "块的下标是 0 到 " + (grid[i] - 1) + "。", en: "Block indices run from 0 to " + (grid[i] - 1) + "." }];
        }
        if (thread[i] >= block[i]) {
          return [{ key: KEYS.thread + NAMES[i], zh: "线程的下标是 0 到 " + (block[i] - 1) + "。", en: "Thread indices run from 0 to " + (block[i] - 1) + "." }];
        }
      }
      return [];
    },
    run: function (v) {
      var one = answered(v);
      return {
        element: elementOf(v, one), rank: one.rank, warp: one.warp, lane: one.lane, number: one.number,
        blocks: one.blocks, threads: one.threads, stopped: one.stopped, empty: one.empty
      };
    },
    remarks: function (v) {
      var one = answered(v);
      var needed = [];
      var said = [];
      for (var i = 0; i < Number(v.dims); i++) {
        needed.push(Math.ceil(triple(v, "size")[i] / triple(v, "block")[i]));
      }
      var grid = written(needed, v.dims);
      if (one.missing > 0) {
        said.push({
          zh: "网格太小：" + one.missing + " 个元素没有线程；网格取 " + grid + "，或用网格步长循环。",
          en: "The grid is too small: " + one.missing + " elements have no thread; take a grid of " + grid + ", or a grid-stride loop."
        });
      } else if (written(triple(v, "grid"), v.dims) !== grid) {
        said.push({ zh: "网格 " + grid + " 就够了。", en: "A grid of " + grid + " is enough." });
      }
      if (Number(v.dims) > 1 && v.bx < WARP) {
        var rows = calc.number(Math.min(WARP / v.bx, v.by * (v.dims === "3" ? v.bz : 1)));
        said.push({
          zh: "blockDim.x 小于 32，一个线程束占 " + rows + " 行。",
          en: "blockDim.x is below 32: a warp takes " + rows + " rows."
        });
      }
      return said;
    },
    draw: function (v) {
      return f.cudaThreadsScene(v, answered(v));
    }
  });
})(this);
