/**
 * Networks: NVLink, InfiniBand and Ethernet, and HBM as the nearest one of all.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var GIBI = Math.pow(2, 30);
  var GIGA = 1e9;

  calc.add({
    id: "nvlink",
    title: { zh: "NVLink 带宽", en: "NVLink bandwidth" },
    about: {
      zh: "每链路速率乘链路数；宣传数字通常是双向之和。",
      en: "Rate per link times links; the advertised figure usually counts both directions."
    },
    note: "link/topo/nvlink-generations",
    inputs: [
      {
        key: "gen", label: { zh: "代（GPU）", en: "Generation (GPU)" }, kind: "preset", family: "nvlink", value: "nvlink4-h100",
        needs: ["link_rate", "link_count"], fills: { link_rate: "link_rate", links: "link_count" }
      },
      { key: "link_rate", label: { zh: "每链路，单向", en: "Per link, one way" }, unit: "GB/s", min: 0.1, max: 1000 },
      { key: "links", label: { zh: "每 GPU 链路数", en: "Links per GPU" }, kind: "integer", min: 1, max: 144 },
      { key: "gpus", label: { zh: "GPU 数", en: "GPUs" }, kind: "integer", value: 8, min: 1, max: 1152 },
      { key: "size", label: { zh: "要传的数据", en: "Data to move" }, unit: "B", value: "1Gi", min: 1, max: 1e18, help: { zh: "可写 1Gi、64M。", en: "1Gi or 64M will do." } }
    ],
    outputs: [
      { key: "uni", label: { zh: "每 GPU，单向", en: "Per GPU, one way" }, unit: "GB/s" },
      { key: "bi", label: { zh: "每 GPU，双向之和", en: "Per GPU, both ways" }, unit: "GB/s" },
      { key: "total", label: { zh: "全部 GPU，双向之和", en: "All GPUs, both ways" }, unit: "GB/s" },
      { key: "time", label: { zh: "单向传完这些数据至少", en: "Least time for the data, one way" }, kind: "seconds" }
    ],
    formula: ["B_{\\text{uni}} = \\text{links} \\times B_{\\text{link}}, \\qquad B_{\\text{bi}} = 2\\,B_{\\text{uni}}"],
    assumptions: [
      { zh: "每链路速率是标称载荷速率；包头与流控让实测更低。", en: "The rate per link is the nominal payload rate; headers and flow control take more." },
      { zh: "没有 NVSwitch 时，两块 GPU 之间只能用连着它们的那几条链路。", en: "Without NVSwitch, two GPUs share only the links between them." }
    ],
    example: { inputs: { gen: "nvlink4-h100", gpus: 8 }, says: { zh: "八块 H100：", en: "Eight H100:" } },
    sources: [],
    run: function (v) {
      var uni = v.link_rate * v.links;
      return { uni: uni, bi: 2 * uni, total: 2 * uni * v.gpus, time: v.size / (uni * GIGA) };
    }
  });

  /** Bytes on the wire around one packet's payload, by protocol: [[name, bytes]]. */
  f.packetHeaders = function (protocol, options) {
    if (protocol === "ib") {
      return [["LRH", 8], ["BTH", 12], ["ICRC", 4], ["VCRC", 2]];
    }
    var parts = [["preamble + gap", 20], ["Ethernet", 14], ["FCS", 4]];
    if (options.vlan) {
      parts.push(["VLAN", 4]);
    }
    parts.push(options.ipv6 ? ["IPv6", 40] : ["IPv4", 20]);
    return parts.concat(protocol === "roce" ? [["UDP", 8], ["BTH", 12], ["ICRC", 4]] : [["TCP", 32]]);
  };

  function sum(parts) {
    var total = 0;
    for (var i = 0; i < parts.length; i++) {
      total += parts[i][1];
    }
    return total;
  }

  /** Payload and wire bytes of a full packet. A TCP MTU holds the IP and TCP headers too. */
  f.packetSizes = function (protocol, mtu, options) {
    var wire = sum(f.packetHeaders(protocol, options));
    var inside = protocol === "tcp" ? 32 + (options.ipv6 ? 40 : 20) : 0;
    return { payload: mtu - inside, wire: mtu - inside + wire };
  };

  calc.add({
    id: "network",
    title: { zh: "InfiniBand、RoCE 与以太网速率", en: "InfiniBand, RoCE and Ethernet rates" },
    about: {
      zh: "端口的数据速率，扣去每包开销，得到应用能拿到的上限。",
      en: "A port's data rate, less what each packet carries besides payload."
    },
    note: "link/infiniband/performance",
    inputs: [
      {
        key: "protocol", label: { zh: "协议", en: "Protocol" }, kind: "choice", value: "ib",
        choices: [
          { value: "ib", label: "InfiniBand" },
          { value: "roce", label: "RoCEv2" },
          { value: "tcp", label: "TCP/IP" }
        ]
      },
      {
        key: "speed", label: { zh: "端口（四通道）", en: "Port (four lanes)" }, kind: "preset", family: "infiniband", value: "ndr",
        fills: { rate: "port" }, when: { protocol: ["ib"] }
      },
      {
        key: "ethernet", label: { zh: "端口", en: "Port" }, kind: "preset", family: "ethernet", value: "e400",
        fills: { rate: "rate" }, when: { protocol: ["roce", "tcp"] }
      },
      { key: "rate", label: { zh: "端口数据速率，单向", en: "Data rate of the port, one way" }, unit: "Gb/s", min: 1, max: 10000 },
      {
        key: "mtu", label: "MTU", kind: "integer", unit: "B", value: 4096, min: 128, max: 9978,
        help: { zh: "InfiniBand 与 RoCE：载荷，256 至 4096；TCP：含 IP 头，1500 或 9000。", en: "InfiniBand and RoCE: payload, 256 to 4096; TCP: with the IP header, 1500 or 9000." }
      },
      { key: "vlan", label: "VLAN", kind: "flag", value: false, when: { protocol: ["roce", "tcp"] } },
      { key: "ipv6", label: "IPv6", kind: "flag", value: false, when: { protocol: ["roce", "tcp"] } },
      { key: "ports", label: { zh: "端口数", en: "Ports" }, kind: "integer", value: 8, min: 1, max: 1024 }
    ],
    outputs: [
      { key: "payload_rate", label: { zh: "每端口载荷上限，单向", en: "Payload per port at most, one way" }, unit: "GB/s" },
      { key: "raw", label: { zh: "每端口标称，单向", en: "Nominal per port, one way" }, unit: "GB/s" },
      { key: "share", label: { zh: "载荷占比", en: "Payload share" }, kind: "ratio" },
      { key: "overhead", label: { zh: "每包开销", en: "Overhead per packet" }, unit: "B" },
      { key: "total", label: { zh: "全部端口载荷，单向", en: "All ports, payload, one way" }, unit: "GB/s" },
      { key: "packets", label: { zh: "每端口每秒满包数", en: "Full packets a second per port" }, kind: "count" }
    ],
    formula: ["B_{\\text{payload}} = \\frac{\\text{rate}}{8} \\times \\frac{\\text{payload}}{\\text{payload} + \\text{overhead}}"],
    assumptions: [
      { zh: "端口速率已扣去线路编码与 FEC（100、200、400、800 Gb/s 等标称值都如此；SDR、DDR、QDR 的标称值是信令速率，请用数据速率）。", en: "The rate is past line code and FEC, as 100, 200, 400 and 800 Gb/s are; for SDR, DDR and QDR use the data rate, not the signalling rate." },
      { zh: "全是满包；RDMA 写的第一包另有 16 字节 RETH，小消息另算。", en: "Full packets only; the first packet of an RDMA write adds 16 bytes of RETH, and small messages fare worse." },
      { zh: "以太网计入前导码与包间隔 20 字节；TCP 带 12 字节时间戳选项。", en: "Ethernet counts 20 bytes of preamble and gap; TCP carries the 12-byte timestamp option." }
    ],
    example: { inputs: { protocol: "roce", mtu: 4096, ports: 8 }, says: { zh: "一台机器八个 400 Gb/s RoCEv2 端口：", en: "A server with eight 400 Gb/s RoCEv2 ports:" } },
    sources: [],
    check: function (v) {
      var low = v.protocol === "tcp" ? 576 : 256;
      var high = v.protocol === "tcp" ? 9978 : 4096;
      return v.mtu < low || v.mtu > high
        ? [{ key: "mtu", zh: "这种协议的 MTU 在 " + low + " 到 " + high + " 之间。", en: "With this protocol the MTU lies between " + low + " and " + high + "." }]
        : [];
    },
    run: function (v) {
      var sizes = f.packetSizes(v.protocol, v.mtu, v);
      var raw = (v.rate * GIGA) / 8;
      var share = sizes.payload / sizes.wire;
      return {
        raw: raw / GIGA,
        payload_rate: (raw * share) / GIGA,
        share: share,
        overhead: sizes.wire - sizes.payload,
        total: (raw * share * v.ports) / GIGA,
        packets: raw / sizes.wire
      };
    },
    tables: function (v) {
      var parts = f.packetHeaders(v.protocol, v);
      var rows = [];
      for (var i = 0; i < parts.length; i++) {
        rows.push({ cells: parts[i] });
      }
      return [{
        caption: { zh: "每包的开销", en: "What a packet carries besides" },
        head: [{ label: { zh: "部分", en: "Part" } }, { label: { zh: "字节", en: "Bytes" } }],
        rows: rows
      }];
    }
  });

  /** Bytes a second of a memory stack: pins x rate / 8. */
  f.stackRate = function (bits, gbitPerPin) {
    return (bits * gbitPerPin * GIGA) / 8;
  };

  calc.add({
    id: "hbm",
    title: { zh: "HBM 带宽", en: "HBM bandwidth" },
    about: { zh: "总位宽 × 每针速率 ÷ 8；总位宽是各堆栈之和，减去关掉的线。", en: "Lines times rate per pin over 8; the lines are those of all stacks, less those switched off." },
    note: "chip/hbm",
    inputs: [
      {
        key: "gen", label: { zh: "代", en: "Generation" }, kind: "preset", family: "hbm", value: "hbm3-h100",
        fills: function (v) {
          var filled = { bits: "bits", rate: "rate" };
          var family = calc.data.families.hbm;
          var rows = family ? family.rows : [];
          for (var i = 0; i < rows.length; i++) {
            // A standard has no card: how many stacks, and how large, is the reader's to say.
            if (rows[i].key === v.gen && rows[i].cells.stacks) {
              filled.stacks = "stacks";
              filled.capacity = "stack_gib";
              filled.off = "lines_off";
            }
          }
          return filled;
        }
      },
      { key: "bits", label: { zh: "每堆栈位宽", en: "Width of a stack" }, kind: "integer", unit: { zh: "位", en: "bits" }, min: 8, max: 8192 },
      { key: "rate", label: { zh: "每针速率", en: "Rate per pin" }, unit: "Gb/s", min: 0.1, max: 64 },
      { key: "stacks", label: { zh: "堆栈数", en: "Stacks" }, kind: "integer", value: 5, min: 1, max: 64 },
      { key: "capacity", label: { zh: "每堆栈容量", en: "Capacity of a stack" }, unit: "GiB", value: 16, min: 0.1, max: 1024 },
      {
        key: "off", label: { zh: "关掉的数据线（整卡）", en: "Lines switched off, of all stacks" }, kind: "integer", value: 0, min: 0, max: 65536,
        help: { zh: "H200 的驱动报告 6016 位，比六堆的 6144 少 128。", en: "An H200's driver reports 6016 bits, 128 less than the 6144 of six stacks." }
      }
    ],
    outputs: [
      { key: "total", label: { zh: "总带宽", en: "Total bandwidth" }, unit: "GB/s" },
      { key: "stack", label: { zh: "每堆栈", en: "Per stack" }, unit: "GB/s" },
      { key: "capacity", label: { zh: "总容量", en: "Total capacity" }, kind: "bytes" },
      { key: "sweep", label: { zh: "读遍全部容量至少", en: "Least time to read all of it" }, kind: "seconds" }
    ],
    formula: ["B = (\\text{stacks} \\times \\text{bits} - \\text{off}) \\times \\frac{\\text{Gb/s per pin}}{8}"],
    assumptions: [
      { zh: "读写共用一条总线：这是读与写之和，不分方向。", en: "Reads and writes share the bus: this is their sum, with no direction." },
      { zh: "刷新、行切换与读写转向使可达带宽低于此值。", en: "Refresh, row changes and bus turnarounds leave less to reach." },
      { zh: "容量按数据线的比例减少；驱动自己留用一些，程序得到的再少约 1 %（H100：85.9 GB 里的 85.02）。", en: "Capacity shrinks with the lines; the driver keeps some of it, and a program gets about 1 % less (H100: 85.02 of 85.9 GB)." }
    ],
    example: { inputs: { gen: "", bits: 1024, rate: 5.2, stacks: 5, capacity: 16 }, says: { zh: "五个 1024 位堆栈、每针 5.2 Gb/s：", en: "Five stacks of 1024 bits at 5.2 Gb/s per pin:" } },
    sources: [],
    check: function (v) {
      return v.off >= v.bits * v.stacks
        ? [{ key: "off", zh: "关掉的线不会多于全部的线。", en: "No more lines can be off than there are." }]
        : [];
    },
    run: function (v) {
      var lines = v.bits * v.stacks;
      var total = f.stackRate(lines - v.off, v.rate);
      var bytes = v.capacity * GIBI * v.stacks * ((lines - v.off) / lines);
      return { stack: f.stackRate(v.bits, v.rate) / GIGA, total: total / GIGA, capacity: bytes, sweep: bytes / total };
    }
  });
})(this);
