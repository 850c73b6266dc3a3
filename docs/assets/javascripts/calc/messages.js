/**
 * Messages of RDMA: what a small one costs on PCIe, and how many READs fill a link.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var NANO = 1e-9;
  var LINE = 64; // bytes of a cache line, and of a CQE
  var PIECE = 256; // bytes of payload that the NIC passes on at a time
  var PER_COMPLETION = 128; // most bytes of one completion of a DMA read
  var DOORBELL = 8;

  /** Bytes of a WQE: inline payload, or a pointer to it, in whole blocks. */
  f.wqeBytes = function (wqe, payload, isInline) {
    var used = wqe.head + (isInline ? wqe.length + payload : wqe.pointer);
    return Math.ceil(used / wqe.block) * wqe.block;
  };

  /** Bytes of a DMA read's answer with its packet headers. */
  f.completionBytes = function (size, header) {
    return size + Math.ceil(size / PER_COMPLETION) * header;
  };

  /**
   * PCIe transactions of one message of the sender, and the time until its last byte is on the
   * network, in seconds.
   *
   * way: {blueflame, inline}; wqe: {head, length, pointer, block, blueflame}; bus: {rate and port
   * (bytes a second), read (seconds from request to data), request, completion (bytes around)}.
   */
  f.smallMessage = function (way, wqe, payload, bus) {
    var size = f.wqeBytes(wqe, payload, way.inline);
    var copies = way.blueflame && size <= wqe.blueflame;
    var ask = bus.request / bus.rate + bus.read;
    var down = copies ? size + Math.ceil(size / LINE) * bus.request : DOORBELL + bus.request;
    var handover = down / bus.rate;
    var up = 0;
    var reads = 0;
    var fetched = 0;
    if (!copies) {
      fetched = f.completionBytes(size, bus.completion);
      handover += ask + fetched / bus.rate;
      down += fetched;
      reads += 1;
    }
    var start = 0;
    if (!way.inline && payload) {
      start = ask;
      reads += 1;
    }
    var arrived = start;
    var left = start;
    for (var at = 0; at < payload; at += PIECE) {
      var piece = Math.min(PIECE, payload - at);
      if (!way.inline) {
        var bytes = f.completionBytes(piece, bus.completion);
        arrived += bytes / bus.rate;
        down += bytes;
      }
      left = Math.max(left, arrived) + piece / bus.port;
    }
    up += reads * bus.request + LINE + bus.request;
    return {
      wqe: size, copies: copies, mmio: copies ? Math.ceil(size / LINE) : 1, reads: reads,
      down: down, up: up, handover: handover, payload: left, time: handover + left
    };
  };

  var WAYS = [
    { blueflame: false, inline: false, label: { zh: "门铃", en: "doorbell" } },
    { blueflame: false, inline: true, label: { zh: "门铃，内联", en: "doorbell, inline" } },
    { blueflame: true, inline: false, label: "BlueFlame" },
    { blueflame: true, inline: true, label: { zh: "BlueFlame，内联", en: "BlueFlame, inline" } }
  ];

  function wqeOf(v) {
    return { head: v.head, length: v.length, pointer: v.pointer, block: v.block, blueflame: v.buffer };
  }

  function busOf(v) {
    return {
      rate: f.pcieRate(v.rate, Number(v.lanes), f.lineCodeShare(v.code)), port: (v.port * 1e9) / 8,
      read: v.read * NANO, request: v.request, completion: v.completion
    };
  }

  function rest(v) {
    return (v.rest + v.wire) * NANO;
  }

  function bytesInput(key, zh, en, value, max, more) {
    var input = { key: key, label: { zh: zh, en: en }, kind: "integer", unit: "B", min: 0, max: max };
    if (value !== null) {
      input.value = value;
    }
    for (var name in more || {}) {
      input[name] = more[name];
    }
    return input;
  }

  calc.add({
    id: "small-message",
    title: { zh: "小消息延迟（PCIe 事务）", en: "Small-message latency (PCIe transactions)" },
    about: {
      zh: "门铃、取 WQE、取载荷、BlueFlame 与内联：每少一次 DMA 读，延迟少一个 PCIe 往返。",
      en: "Doorbell, WQE fetch, payload fetch, BlueFlame and inline: each DMA read saved is one PCIe round trip less."
    },
    note: "link/infiniband/latency-tuning",
    inputs: [
      {
        key: "way", label: { zh: "交给网卡", en: "Handed over by" }, kind: "choice", value: "blueflame",
        choices: [{ value: "doorbell", label: { zh: "门铃（网卡取 WQE）", en: "doorbell (the NIC fetches the WQE)" } }, { value: "blueflame", label: { zh: "BlueFlame（CPU 写 WQE）", en: "BlueFlame (the CPU writes the WQE)" } }]
      },
      { key: "inline", label: { zh: "载荷内联", en: "Inline payload" }, kind: "flag", value: true },
      { key: "payload", label: { zh: "载荷", en: "Payload" }, kind: "integer", unit: "B", value: 32, min: 0, max: 65536 },
      {
        key: "operation", label: { zh: "操作", en: "Operation" }, kind: "preset", family: "mlx5-wqe", value: "write",
        fills: { head: "head", length: "length", pointer: "pointer", block: "block", buffer: "blueflame" }
      },
      bytesInput("head", "WQE 在载荷之前", "WQE before the payload", null, 256),
      bytesInput("length", "内联长度字段", "Field of the inline length", null, 64),
      bytesInput("pointer", "数据指针", "Data pointer", null, 64),
      bytesInput("block", "WQE 取整到", "WQE in units of", null, 4096, { min: 1 }),
      bytesInput("buffer", "BlueFlame 缓冲", "BlueFlame buffer", null, 4096),
      { key: "host", label: { zh: "主机", en: "Host" }, kind: "preset", family: "dma-read", value: "t630", fills: { read: "small" } },
      { key: "read", label: { zh: "一次 DMA 读的往返", en: "Round trip of a DMA read" }, unit: "ns", min: 0, max: 1e6 },
      { key: "gen", label: { zh: "PCIe 代", en: "PCIe generation" }, kind: "preset", family: "pcie", value: "gen3", fills: { rate: "lane_rate", code: calc.pcieCode } },
      { key: "rate", label: { zh: "每通道速率", en: "Rate per lane" }, unit: "GT/s", min: 0.1, max: 1024 },
      { key: "code", label: { zh: "编码", en: "Coding" }, kind: "choice", value: "128b/130b", choices: calc.pcieCodes },
      { key: "lanes", label: { zh: "宽度", en: "Width" }, kind: "choice", value: "16", choices: calc.pcieWidths },
      bytesInput("request", "每个请求或写的包头", "Headers of a request or write", 26, 64, { help: { zh: "Kalia 等按 26；PCIe 3 至 5 代 64 位地址、不带 ECRC 是 24。", en: "Kalia et al. count 26; Gen 3 to 5 with 64-bit addresses and no ECRC have 24." } }),
      bytesInput("completion", "每个完成包的包头", "Headers of a completion", 22, 64, { help: { zh: "Kalia 等按 22；不带 ECRC 是 20。", en: "Kalia et al. count 22; without ECRC it is 20." } }),
      { key: "link", label: { zh: "端口", en: "Port" }, kind: "preset", family: "infiniband", value: "edr", fills: { port: "port" } },
      { key: "port", label: { zh: "端口数据速率", en: "Data rate of the port" }, unit: "Gb/s", min: 1, max: 10000 },
      { key: "setup", label: { zh: "装置", en: "Set-up" }, kind: "preset", family: "rdma-latency", value: "cx4", fills: { rest: "rest" } },
      { key: "rest", label: { zh: "余量：两端网卡、对端 PCIe、短线缆", en: "Remainder: both NICs, the peer's PCIe, a short cable" }, unit: "ns", min: 0, max: 1e6 },
      { key: "wire", label: { zh: "另加的线路", en: "More wire" }, unit: "ns", value: 0, min: 0, max: 1e9, help: { zh: "交换机与长线缆；光纤约 5 ns/m。", en: "Switches and long cables; fibre takes about 5 ns/m." } }
    ],
    outputs: [
      { key: "time", label: { zh: "单程延迟", en: "One-way latency" }, kind: "seconds" },
      { key: "host_time", label: { zh: "其中发送端 PCIe 与上线", en: "Of it the sender's PCIe and the way onto the wire" }, kind: "seconds" },
      { key: "mmio", label: { zh: "CPU 的 MMIO 写", en: "MMIO writes of the CPU" }, kind: "count" },
      { key: "reads", label: { zh: "网卡的 DMA 读", en: "DMA reads of the NIC" }, kind: "count" },
      { key: "wqe", label: { zh: "WQE", en: "WQE" }, kind: "bytes" },
      { key: "down", label: { zh: "PCIe 上主机到网卡", en: "PCIe bytes, host to NIC" }, kind: "bytes" },
      { key: "up", label: { zh: "PCIe 上网卡到主机（含完成项）", en: "PCIe bytes, NIC to host (with the CQE)" }, kind: "bytes" }
    ],
    formula: [
      "t = t_{\\text{rest}} + t_{\\text{wire}} + \\frac{\\text{bytes down}}{B_{\\text{PCIe}}} + n_{\\text{reads}}\\left(t_{\\text{read}} + \\frac{h}{B_{\\text{PCIe}}}\\right) + \\frac{\\text{payload}}{B_{\\text{port}}}",
      "n_{\\text{reads}} = [\\text{no BlueFlame}] + [\\text{not inline}], \\qquad \\text{WQE} = 64\\left\\lceil \\frac{\\text{head} + (4 + \\text{payload}\\ \\text{or}\\ 16)}{64} \\right\\rceil"
    ],
    assumptions: [
      { zh: "一条消息，前面没有排队；取载荷要等 WQE 到齐；载荷每 256 字节一段，取与发可以重叠（式子未写）。", en: "One message with nothing waiting before it; the payload is fetched once the WQE is there; pieces of 256 bytes are fetched and sent side by side (not in the formula)." },
      { zh: "完成项写回主机不计入单程延迟；网络包头不计（MTU 4096 时 InfiniBand 不到 1%，RoCEv2 约 2%）。", en: "Writing the CQE back is not part of the one-way latency; headers on the network are left out (at MTU 4096 below 1% with InfiniBand, about 2% with RoCEv2)." },
      { zh: "对端取接收 WQE、写主机随大小变长，没有算：1 KiB 以上比印出的数低一到三成。", en: "What the receiver fetches and writes grows with size and is left out: from 1 KiB on the result lies 10 to 30% below what was published." },
      { zh: "余量由一个印出的数推得，换网卡要重新推；BlueFlame 只用于单个请求、WQE 不超过缓冲。", en: "The remainder is fitted to one published figure: another NIC needs another. BlueFlame serves a single request whose WQE fits the buffer." }
    ],
    example: { inputs: { payload: 32, way: "doorbell", inline: false }, says: { zh: "32 字节的 RDMA WRITE，只用门铃：", en: "An RDMA WRITE of 32 bytes by doorbell alone:" } },
    sources: [
      { title: "Kalia et al., Design Guidelines for High Performance RDMA Systems, USENIX ATC 2016", url: "https://www.usenix.org/conference/atc16/technical-sessions/presentation/kalia" },
      { title: "pcie-bench, data of SIGCOMM 2018", url: "https://github.com/pcie-bench/data", read: "2026-11-23" }
    ],
    run: function (v) {
      var one = f.smallMessage({ blueflame: v.way === "blueflame", inline: v.inline }, wqeOf(v), v.payload, busOf(v));
      return {
        time: rest(v) + one.time, host_time: one.time, mmio: one.mmio, reads: one.reads,
        wqe: one.wqe, down: one.down, up: one.up
      };
    },
    remarks: function (v) {
      var one = f.smallMessage({ blueflame: v.way === "blueflame", inline: v.inline }, wqeOf(v), v.payload, busOf(v));
      return v.way === "blueflame" && !one.copies
        ? [{ zh: "WQE 放不进 BlueFlame 缓冲，按门铃算。", en: "The WQE does not fit the BlueFlame buffer: reckoned as a doorbell." }]
        : [];
    },
    tables: function (v) {
      var rows = [];
      for (var i = 0; i < WAYS.length; i++) {
        var one = f.smallMessage(WAYS[i], wqeOf(v), v.payload, busOf(v));
        rows.push({
          cells: [WAYS[i].label, one.mmio, one.reads, one.down, rest(v) + one.time],
          chosen: WAYS[i].blueflame === (v.way === "blueflame") && WAYS[i].inline === v.inline
        });
      }
      return [{
        caption: { zh: "同一条消息，四种交法", en: "The same message, handed over in four ways" },
        head: [
          { label: { zh: "交法", en: "Way" } }, { label: { zh: "MMIO 写", en: "MMIO writes" } },
          { label: { zh: "DMA 读", en: "DMA reads" } }, { label: { zh: "下行字节", en: "Bytes down" } },
          { label: { zh: "单程", en: "One way" }, kind: "seconds" }
        ],
        rows: rows
      }];
    }
  });

  /** Bytes on the wire of a READ's answer: packets of an MTU, more in the first and last one. */
  f.readWire = function (size, mtu, overhead, answer) {
    var packets = Math.max(1, Math.ceil(size / mtu));
    return size + packets * overhead + Math.min(packets, 2) * answer;
  };

  /** READs of `wire` bytes in flight that fill a link of so many bytes a second. */
  f.readsToFill = function (wire, rate, rtt) {
    return Math.ceil(1 + (rtt * rate) / wire - 1e-9);
  };

  /** Payload bytes a second with a window of so many READs. */
  f.windowRate = function (size, wire, rate, rtt, window) {
    return Math.min(size * rate / wire, (window * size) / (rtt + wire / rate));
  };

  var SIZES = [4096, 16384, 65536, 262144, 1048576];

  calc.add({
    id: "bdp",
    title: { zh: "带宽时延积与在途 READ", en: "Bandwidth-delay product and outstanding READs" },
    about: {
      zh: "链路要填满，在途的字节至少是速率 × 往返；READ 的个数又受 max_rd_atomic 限制。",
      en: "To fill a link, rate times round trip must be in flight; max_rd_atomic limits how many READs that may be."
    },
    note: "link/infiniband/bandwidth-tuning",
    inputs: [
      {
        key: "stack", label: { zh: "协议", en: "Protocol" }, kind: "preset", family: "packet-overhead", value: "ib", needs: ["answer"],
        fills: { mtu: "mtu", overhead: "total", answer: "answer" }
      },
      { key: "speed", label: { zh: "端口（四通道）", en: "Port (four lanes)" }, kind: "preset", family: "infiniband", value: "ndr", fills: { rate: "port" }, when: { stack: ["ib", "ib-grh", ""] } },
      { key: "ethernet", label: { zh: "端口", en: "Port" }, kind: "preset", family: "ethernet", value: "e400", fills: { rate: "rate" }, when: { stack: ["roce", "roce6"] } },
      { key: "rate", label: { zh: "端口数据速率，单向", en: "Data rate of the port, one way" }, unit: "Gb/s", min: 0.1, max: 10000 },
      { key: "rtt", label: { zh: "往返时间", en: "Round-trip time" }, unit: "µs", value: 4, min: 0.1, max: 1e6, help: { zh: "不含数据本身在线上的时间；光纤每公里往返约 10 µs。", en: "Without the time of the data itself; a kilometre of fibre adds about 10 µs." } },
      { key: "size", label: { zh: "每个 READ", en: "Each READ" }, kind: "integer", unit: "B", value: 65536, min: 1, max: 2147483648, help: { zh: "可写 64Ki、1Mi。", en: "64Ki or 1Mi will do." } },
      { key: "window", label: { zh: "在途 READ 上限（max_rd_atomic）", en: "READs in flight at most (max_rd_atomic)" }, kind: "integer", value: 16, min: 1, max: 65536 },
      { key: "mtu", label: "MTU", kind: "integer", unit: "B", min: 256, max: 9978 },
      { key: "overhead", label: { zh: "每包开销", en: "Overhead per packet" }, kind: "integer", unit: "B", min: 0, max: 512 },
      { key: "answer", label: { zh: "首末包另加", en: "More in first and last packet" }, kind: "integer", unit: "B", min: 0, max: 64 }
    ],
    outputs: [
      { key: "need", label: { zh: "填满链路要在途的 READ", en: "READs in flight that fill the link" }, kind: "count" },
      { key: "bdp", label: { zh: "带宽时延积", en: "Bandwidth-delay product" }, kind: "bytes" },
      { key: "reached", label: { zh: "按上限能到的载荷速率，单向", en: "Payload within the limit, one way" }, unit: "GB/s" },
      { key: "share", label: { zh: "占满速载荷", en: "Share of the full payload rate" }, kind: "ratio" },
      { key: "least", label: { zh: "在此上限下填满链路的最小 READ", en: "Smallest READ that fills the link within the limit" }, kind: "bytes" },
      { key: "flight", label: { zh: "上限时在途的载荷", en: "Payload in flight at the limit" }, kind: "bytes" }
    ],
    formula: [
      "\\mathrm{BDP} = C \\cdot \\mathrm{RTT}, \\qquad W_{\\min} = \\left\\lceil 1 + \\frac{\\mathrm{RTT}}{s / C} \\right\\rceil",
      "T = \\min\\left(\\frac{S}{s}\\,C,\\ \\frac{W S}{\\mathrm{RTT} + s / C}\\right), \\qquad s = S + \\left\\lceil \\frac{S}{\\mathrm{MTU}} \\right\\rceil h + a"
    ],
    assumptions: [
      { zh: "请求路上不排队，一个方向没有别的流量，没有丢包，网卡处理不设限。", en: "No queues on the way of requests, no other traffic in that direction, no loss, no limit of the NIC itself." },
      { zh: "发起方的 max_rd_atomic 不能超过对端的 max_dest_rd_atomic；上限是每个 QP 的，多个 QP 相加。", en: "The initiator's max_rd_atomic may not exceed the peer's max_dest_rd_atomic; the limit is one QP's, several QPs add up." },
      { zh: "WRITE 同样适用：在途的是发送队列里未确认的消息。", en: "The same holds for WRITE with the messages that wait for their acknowledgement." }
    ],
    example: { inputs: { stack: "ib", speed: "ndr", rtt: 4, size: 65536, window: 16 }, says: { zh: "400 Gb/s InfiniBand，往返 4 µs，每次读 64 KiB：", en: "InfiniBand at 400 Gb/s, 4 µs of round trip, READs of 64 KiB:" } },
    sources: [],
    run: function (v) {
      var rate = (v.rate * 1e9) / 8;
      var rtt = v.rtt * 1e-6;
      var wire = f.readWire(v.size, v.mtu, v.overhead, v.answer);
      var reached = f.windowRate(v.size, wire, rate, rtt, v.window);
      var full = (v.size * rate) / wire;
      var least = v.window > 1 ? (rtt * rate) / (v.window - 1) / (1 + v.overhead / v.mtu) : Infinity;
      return {
        need: f.readsToFill(wire, rate, rtt), bdp: rate * rtt, reached: reached / 1e9, share: reached / full,
        least: least === Infinity ? { zh: "一个在途填不满", en: "one in flight never fills it" } : least, flight: v.window * v.size
      };
    },
    tables: function (v, out) {
      var rate = (v.rate * 1e9) / 8;
      var rtt = v.rtt * 1e-6;
      var rows = [];
      for (var i = 0; i < SIZES.length; i++) {
        var wire = f.readWire(SIZES[i], v.mtu, v.overhead, v.answer);
        rows.push({
          cells: [SIZES[i] / 1024, f.readsToFill(wire, rate, rtt), f.windowRate(SIZES[i], wire, rate, rtt, v.window) / 1e9],
          chosen: SIZES[i] === v.size
        });
      }
      return [{
        caption: { zh: "不同大小的 READ", en: "READs of other sizes" },
        head: [
          { label: { zh: "KiB", en: "KiB" } }, { label: { zh: "填满要在途", en: "In flight to fill" } },
          { label: { zh: "按上限", en: "Within the limit" }, unit: "GB/s" }
        ],
        rows: rows
      }];
    }
  });
})(this);
