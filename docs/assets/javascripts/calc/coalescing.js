/**
 * Coalescing: what one load or store of a warp costs in sectors.
 *
 * A request of a warp moves the aligned 32-byte sectors that its addresses touch, four of which
 * make a line of 128 bytes (Best Practices Guide, section 10.2.1; glossary of Nsight Compute).
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var WARP = 32;
  var SECTOR = 32;
  var LINE = 128;

  function distinct(numbers) {
    var seen = {};
    var found = [];
    for (var i = 0; i < numbers.length; i++) {
      if (!seen[numbers[i]]) {
        seen[numbers[i]] = true;
        found.push(numbers[i]);
      }
    }
    return found.sort(function (a, b) {
      return a - b;
    });
  }

  function over(addresses, unit) {
    var numbers = [];
    for (var i = 0; i < addresses.length; i++) {
      numbers.push(Math.floor(addresses[i] / unit));
    }
    return distinct(numbers);
  }

  /**
   * One access of a warp: lane k wants `bytes` bytes at element offset + k * stride.
   *
   * addresses: of each lane, from an aligned start; sectors and lines: the numbers of those that
   * are touched; used: different bytes that are asked for; efficiency: their share of what is
   * moved; groups: the lanes that together ask for at most 128 bytes (all, halves or quarters of
   * the warp), each {first, last, sectors, lines}.
   */
  f.coalescing = function (bytes, stride, offset) {
    var addresses = [];
    for (var lane = 0; lane < WARP; lane++) {
      addresses.push((offset + lane * stride) * bytes);
    }
    var sectors = over(addresses, SECTOR); // an aligned element of 16 bytes or less lies in one
    var used = distinct(addresses).length * bytes;
    var size = Math.min(WARP, LINE / bytes);
    var groups = [];
    for (var first = 0; first < WARP; first += size) {
      var part = addresses.slice(first, first + size);
      groups.push({ first: first, last: first + size - 1, sectors: over(part, SECTOR).length, lines: over(part, LINE).length });
    }
    return {
      addresses: addresses, sectors: sectors, lines: over(addresses, LINE), used: used,
      moved: sectors.length * SECTOR, efficiency: used / (sectors.length * SECTOR), groups: groups,
      best: Math.ceil((WARP * bytes) / SECTOR)
    };
  };

  function answered(v) {
    return f.coalescing(Number(v.bytes), v.stride, v.offset);
  }

  function bytesChoice(value, zh, en) {
    return { value: value, label: { zh: value + " B（" + zh + "）", en: value + " B (" + en + ")" } };
  }

  calc.add({
    id: "coalescing",
    title: { zh: "合并访存", en: "Coalescing" },
    about: {
      zh: "一个线程束的一次访问碰到几个 32 字节的扇区，搬来的有多少用得上。",
      en: "How many 32-byte sectors one access of a warp touches, and how much of what is moved is used."
    },
    note: "hpc/cuda/08-coalescing",
    inputs: [
      {
        key: "bytes", label: { zh: "元素", en: "Element" }, kind: "choice", value: "4",
        choices: [
          bytesChoice("1", "char", "char"), bytesChoice("2", "half", "half"), bytesChoice("4", "float", "float"),
          bytesChoice("8", "double、float2", "double, float2"), bytesChoice("16", "float4", "float4")
        ]
      },
      { key: "stride", label: { zh: "相邻通道相隔（元素）", en: "Stride between lanes (elements)" }, kind: "integer", value: 2, min: 0, max: 1e6, help: { zh: "0：所有通道读同一个元素。", en: "0: all lanes read one element." } },
      { key: "offset", label: { zh: "起点偏移（元素）", en: "Offset of the start (elements)" }, kind: "integer", value: 0, min: 0, max: 1e6, help: { zh: "从 128 字节对齐的地址数起；cudaMalloc 给的至少 256 字节对齐。", en: "From an address aligned to 128 bytes; cudaMalloc aligns to 256 at least." } }
    ],
    outputs: [
      { key: "sectors", label: { zh: "碰到的扇区（32 B）", en: "Sectors touched (32 B)" }, kind: "count" },
      { key: "efficiency", label: { zh: "用得上的份额", en: "Share that is used" }, kind: "ratio" },
      { key: "lines", label: { zh: "碰到的缓存行（128 B）", en: "Lines touched (128 B)" }, kind: "count" },
      { key: "used", label: { zh: "要的字节", en: "Bytes asked for" }, unit: "B", kind: "count" },
      { key: "moved", label: { zh: "搬的字节", en: "Bytes moved" }, unit: "B", kind: "count" },
      { key: "best", label: { zh: "连续时的扇区", en: "Sectors if contiguous" }, kind: "count" },
      { key: "parts", label: { zh: "一条指令分几份（每份至多 128 B）", en: "Parts per instruction (128 B each at most)" }, kind: "count" }
    ],
    formula: [
      "a_k = (o + k\\,s)\\,b, \\qquad \\text{sectors} = \\left|\\left\\{\\lfloor a_k / 32 \\rfloor : 0 \\le k < 32\\right\\}\\right|, \\qquad \\eta = \\frac{b\\,\\left|\\{a_k\\}\\right|}{32 \\cdot \\text{sectors}}"
    ],
    assumptions: [
      { zh: "b：元素字节；s：步长；o：偏移。元素按自身大小对齐，所以不会跨扇区。", en: "b: bytes of an element; s: stride; o: offset. An element is aligned to its size, so it never crosses sectors." },
      { zh: "32 条通道都参与；哪条通道要哪个字不影响扇区数。", en: "All 32 lanes take part; which lane wants which word makes no difference." },
      { zh: "只算这一次访问：L1 里已有的、L2 从显存多取的，都不算。", en: "This one access only: neither what L1 already holds nor what L2 fetches beyond it from memory." },
      { zh: "“一份”是凑满 128 字节的通道：8 字节时半个线程束，16 字节时四分之一。Nsight Compute 把整条指令记作一个请求，连续时每请求 4、8、16 个扇区。", en: "A part is the lanes that fill 128 bytes: half a warp at 8 bytes, a quarter at 16. Nsight Compute counts the whole instruction as one request, with 4, 8 or 16 sectors where contiguous." }
    ],
    example: { inputs: {}, says: { zh: "float，每隔一个取一个：", en: "Floats, every second one:" } },
    sources: [
      { title: "NVIDIA: CUDA C++ Best Practices Guide, section 10.2.1", url: "https://docs.nvidia.com/cuda/cuda-c-best-practices-guide/", read: "2026-11-23" },
      { title: "NVIDIA: CUDA Programming Guide, section 2.3.4.1", url: "https://docs.nvidia.com/cuda/cuda-programming-guide/02-basics/writing-cuda-kernels.html", read: "2026-11-23" },
      { title: { zh: "NVIDIA：Nsight Compute Profiling Guide，术语与 L1/TEX 表", en: "NVIDIA: Nsight Compute Profiling Guide, glossary and L1/TEX table" }, url: "https://docs.nvidia.com/nsight-compute/ProfilingGuide/", read: "2026-11-23" }
    ],
    run: function (v) {
      var one = answered(v);
      return {
        sectors: one.sectors.length, efficiency: one.efficiency, lines: one.lines.length, used: one.used,
        moved: one.moved, best: one.best, parts: one.groups.length
      };
    },
    remarks: function (v, out) {
      if (v.stride === 0) {
        return [{ zh: "同一个元素：一个扇区，值分给 32 条通道。", en: "One element: one sector, its value goes to all 32 lanes." }];
      }
      if (v.stride === 1 && out.sectors > out.best) {
        return [{ zh: "没有对齐，多一个扇区；下一个线程束多半要它，L1 常常已有。", en: "Not aligned: one sector more. The next warp usually wants it too, so L1 often has it." }];
      }
      return out.sectors === WARP && out.efficiency < 1
        ? [{ zh: "每条通道一个扇区：步长再大，这里也不会更差。", en: "A sector per lane: a larger stride is no worse here." }]
        : [];
    },
    tables: function (v) {
      var one = answered(v);
      var rows = [];
      for (var i = 0; one.groups.length > 1 && i < one.groups.length; i++) {
        var group = one.groups[i];
        rows.push({ cells: [group.first + "–" + group.last, group.sectors, group.lines] });
      }
      return rows.length ? [{
        caption: { zh: "按份：每份要 128 字节", en: "By parts, each asking for 128 bytes" },
        head: [{ label: { zh: "通道", en: "Lanes" } }, { label: { zh: "扇区", en: "Sectors" }, kind: "count" }, { label: { zh: "缓存行", en: "Lines" }, kind: "count" }],
        rows: rows
      }] : [];
    },
    draw: function (v) {
      return f.coalescingScene(answered(v), Number(v.bytes));
    }
  });

  /** Lanes that want neighbouring bytes of one sector: [{sector, from, to (bytes), lanes}]. */
  function stretches(one, bytes) {
    var found = [];
    var byAddress = {};
    for (var lane = 0; lane < WARP; lane++) {
      var address = one.addresses[lane];
      if (byAddress[address]) {
        byAddress[address].last = lane;
        continue;
      }
      var last = found[found.length - 1];
      var sector = Math.floor(address / SECTOR);
      if (last && last.sector === sector && last.to === address) {
        last.to += bytes;
        last.last = lane;
      } else {
        found.push({ sector: sector, from: address, to: address + bytes, first: lane, last: lane });
      }
      byAddress[address] = found[found.length - 1];
    }
    return found;
  }

  /** A row for each line: its four sectors, touched or not, and in them who wants what. */
  f.coalescingScene = function (one, bytes) {
    var scale = 2.55;
    var wide = SECTOR * scale;
    var items = [];
    var rowOf = {};
    var i;
    for (i = 0; i < one.lines.length; i++) {
      rowOf[one.lines[i]] = i;
      items.push({ kind: "text", x: 4, y: 22 + i * 24, text: "+" + one.lines[i] * LINE + " B", tone: "muted" });
      for (var k = 0; k < 4; k++) {
        var touched = one.sectors.indexOf(one.lines[i] * 4 + k) >= 0;
        items.push({
          kind: "box", x: 60 + k * (wide + 4), y: 8 + i * 24, w: wide, h: 20, tone: touched ? "c" : "idle",
          title: touched ? { zh: "扇区：搬", en: "sector: moved" } : { zh: "扇区：不搬", en: "sector: not moved" }
        });
      }
    }
    var parts = stretches(one, bytes);
    for (i = 0; i < parts.length; i++) {
      var part = parts[i];
      var row = rowOf[Math.floor(part.sector / 4)];
      var lanes = part.first + (part.last > part.first ? "–" + part.last : "");
      items.push({
        kind: "box", x: 60 + (part.sector % 4) * (wide + 4) + (part.from % SECTOR) * scale, y: 8 + row * 24,
        w: (part.to - part.from) * scale, h: 20, tone: "b", text: lanes,
        title: {
          zh: "通道 " + lanes + "：字节 " + part.from + "–" + (part.to - 1),
          en: "lanes " + lanes + ": bytes " + part.from + "–" + (part.to - 1)
        }
      });
    }
    var legend = [["b", { zh: "要的（数字是通道）", en: "asked for (lanes)" }], ["c", { zh: "搬来没用", en: "moved, unused" }], ["idle", { zh: "不搬", en: "not moved" }]];
    var width = 60 + 4 * (wide + 4);
    var y = calc.legend(items, legend, width, 130, 8 + one.lines.length * 24 + 16);
    return {
      width: width, height: y + 10, items: items,
      alt: {
        zh: "碰到 " + one.lines.length + " 个缓存行中的 " + one.sectors.length + " 个扇区，搬 " + one.moved + " 字节，要的是 " + one.used + " 字节。",
        en: one.sectors.length + " sectors in " + one.lines.length + " lines are touched; " + one.moved + " bytes are moved, " + one.used + " are asked for."
      }
    };
  };
})(this);
