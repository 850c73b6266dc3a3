/**
 * Packets: what one carries besides payload, and how much may still come after a pause.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;
  var QUANTUM = 512; // bits of a pause quantum
  var PAUSE_FRAME = 64; // bytes of a pause frame
  var AROUND = 20; // bytes of preamble and gap around a frame

  /**
   * Bits that still reach a port after it has decided to pause its peer, part by part.
   *
   * link: {rate (bits a second), metres, delay (seconds a metre), own and lossless (bytes of the
   * largest frames), quanta, interface (bits of one interface)}.
   */
  f.pauseParts = function (link) {
    return {
      own: (link.own + AROUND) * 8,
      pause: (PAUSE_FRAME + AROUND) * 8,
      cable: 2 * link.metres * link.delay * link.rate,
      "interface": 2 * link["interface"],
      response: link.quanta * QUANTUM,
      lossless: (link.lossless + AROUND) * 8
    };
  };

  var PARTS = [
    ["own", { zh: "本端正在发的最大帧（暂停帧不能打断它）", en: "Largest frame being sent here, which a pause cannot interrupt" }],
    ["pause", { zh: "暂停帧本身", en: "The pause frame itself" }],
    ["cable", { zh: "线缆上，来回", en: "On the cable, there and back" }],
    ["interface", { zh: "两端接口", en: "Both interfaces" }],
    ["response", { zh: "对端反应时间里还在发的", en: "What the peer sends before it reacts" }],
    ["lossless", { zh: "对端已开始发的最后一帧", en: "The last frame that the peer has begun" }]
  ];

  function parts(v) {
    return f.pauseParts({
      rate: v.rate * 1e9, metres: v.metres, delay: v.delay * 1e-9, own: v.own, lossless: v.lossless,
      quanta: v.quanta, "interface": v.intf
    });
  }

  function total(found) {
    var sum = 0;
    for (var i = 0; i < PARTS.length; i++) {
      sum += found[PARTS[i][0]];
    }
    return sum / 8;
  }

  calc.add({
    id: "pfc-headroom",
    title: { zh: "PFC 余量缓冲", en: "PFC headroom" },
    about: {
      zh: "发出暂停之后还会到达的字节：每个端口、每个无损优先级都要留这么多缓冲，否则丢包。",
      en: "The bytes that still arrive after a pause was sent: every port and lossless priority needs so much buffer, or it drops."
    },
    note: "link/ethernet/roce-lossless",
    inputs: [
      { key: "port", label: { zh: "端口", en: "Port" }, kind: "preset", family: "pfc", value: "e400", fills: { rate: "rate", quanta: "quanta" } },
      { key: "rate", label: { zh: "速率", en: "Rate" }, unit: "Gb/s", min: 0.1, max: 10000 },
      { key: "metres", label: { zh: "线缆长度", en: "Length of the cable" }, unit: "m", value: 100, min: 0, max: 1e6 },
      { key: "delay", label: { zh: "每米传播时间", en: "Propagation per metre" }, unit: "ns", value: 5, min: 3, max: 10, help: { zh: "光纤约 5，铜缆约 4.8。", en: "About 5 in fibre, 4.8 in copper." } },
      { key: "own", label: { zh: "本端口最大帧（任何优先级）", en: "Largest frame of the port (any priority)" }, kind: "integer", unit: "B", value: 9216, min: 64, max: 16384 },
      { key: "lossless", label: { zh: "无损优先级的最大帧", en: "Largest frame of the lossless priority" }, kind: "integer", unit: "B", value: 4178, min: 64, max: 16384, help: { zh: "RoCEv2 的 MTU 4096：帧 4158，首包加 RETH 16，带 VLAN 再加 4。", en: "RoCEv2 with an MTU of 4096: a frame of 4158, 16 more with RETH in the first packet, 4 more with VLAN." } },
      { key: "quanta", label: { zh: "对端反应（每份 512 比特）", en: "Response of the peer (quanta of 512 bits)" }, min: 0, max: 100000 },
      { key: "intf", label: { zh: "每端接口延迟", en: "Delay of each interface" }, unit: "b", value: 0, min: 0, max: 1e7, help: { zh: "单位比特；反应时间的标准上限多已含接收路径，已知另有延迟再填。", en: "In bits; the standard's bound on the response usually holds the receive path already. Fill it in where more is known." } },
      { key: "cell", label: { zh: "按单元存放的放大", en: "Growth by storing in cells" }, value: 1, min: 1, max: 4, help: { zh: "小包占满整单元时大于 1：单元 96 字节而包 64 字节，约 2。", en: "Above 1 where small packets fill whole cells: about 2 for packets of 64 bytes in cells of 96." } },
      { key: "priorities", label: { zh: "无损优先级数", en: "Lossless priorities" }, kind: "integer", value: 1, min: 1, max: 8 },
      { key: "ports", label: { zh: "端口数", en: "Ports" }, kind: "integer", value: 64, min: 1, max: 1024 }
    ],
    outputs: [
      { key: "headroom", label: { zh: "每端口每优先级的余量", en: "Headroom per port and priority" }, kind: "bytes" },
      { key: "all", label: { zh: "全部端口与优先级", en: "All ports and priorities" }, kind: "bytes" },
      { key: "cable", label: { zh: "其中线缆", en: "Of it the cable" }, kind: "bytes" },
      { key: "time", label: { zh: "从决定暂停到最后一个比特到达", en: "From the decision to pause to the last bit" }, kind: "seconds" }
    ],
    formula: [
      "H = \\frac{1}{8}\\bigl(F_{\\text{own}} + F_{\\text{pause}} + 2\\,d\\,\\tau\\,C + 2\\,t_{\\text{if}} + 512\\,q + F_{\\text{lossless}}\\bigr), \\allowbreak\\qquad F = 8\\,(\\text{frame} + 20)"
    ],
    assumptions: [
      { zh: "最坏情况：对端以线速只发这一优先级，缓冲恰在最大帧刚开始时到阈值。", en: "The worst case: the peer sends this priority alone at line rate, and the threshold is reached just when a largest frame has begun." },
      { zh: "反应时间取标准的上限，实际芯片更快；芯片自己的流水线缓冲另加。", en: "The response is the standard's bound, real chips are faster; pipelines inside the chip come on top." },
      { zh: "共享余量池按端口同时暂停的比例收小，这里不算。", en: "A shared pool of headroom is smaller, as not all ports pause at once; that is left out." }
    ],
    example: { inputs: { port: "e100", metres: 300, own: 9216, lossless: 4178 }, says: { zh: "100GbE，300 米光纤：", en: "100GbE over 300 m of fibre:" } },
    sources: [
      { title: { zh: "SONiC，buffer_headroom_mellanox.lua", en: "SONiC, buffer_headroom_mellanox.lua" }, url: "https://github.com/sonic-net/sonic-swss/blob/18913fa357264149fa4d4ba93638f58e1c8ad89b/cfgmgr/buffer_headroom_mellanox.lua", read: "2026-11-23" },
      { title: { zh: "Cisco 白皮书：PFC 的距离限制（副本）", en: "Cisco white paper: distance limits of PFC (a copy)" }, url: "https://manualsbrain.com/it/manuals/1659587/?page=3", read: "2026-11-23" }
    ],
    run: function (v) {
      var found = parts(v);
      var headroom = total(found) * v.cell;
      return {
        headroom: headroom, all: headroom * v.priorities * v.ports, cable: (found.cable / 8) * v.cell,
        time: (total(found) * 8) / (v.rate * 1e9)
      };
    },
    tables: function (v) {
      var found = parts(v);
      var rows = [];
      for (var i = 0; i < PARTS.length; i++) {
        rows.push({ cells: [PARTS[i][1], found[PARTS[i][0]], found[PARTS[i][0]] / 8] });
      }
      return [{
        caption: { zh: "由哪些部分组成", en: "What it is made of" },
        head: [{ label: { zh: "部分", en: "Part" } }, { label: { zh: "比特", en: "Bits" }, kind: "count" }, { label: { zh: "字节", en: "Bytes" }, kind: "count" }],
        rows: rows
      }];
    }
  });

  /** Bytes on the wire of a message, and its packets: {packets, wire}. */
  f.messageOnWire = function (size, mtu, stack) {
    var packets = Math.max(1, Math.ceil(size / (mtu - stack.inside)));
    return { packets: packets, wire: size + packets * stack.total + stack.once };
  };

  function cell(row, name) {
    return row.cells[name] ? row.cells[name][0] : 0;
  }

  calc.add({
    id: "packet-overhead",
    title: { zh: "包开销与有效吞吐", en: "Packet overhead and goodput" },
    about: {
      zh: "同样的载荷，InfiniBand、RoCEv2 与 TCP 在线上各占多少字节。",
      en: "How many bytes the same payload takes on the wire with InfiniBand, RoCEv2 and TCP."
    },
    note: "link/infiniband/protocols",
    inputs: [
      {
        key: "stack", label: { zh: "协议", en: "Protocol" }, kind: "preset", family: "packet-overhead", value: "roce",
        fills: { mtu: "mtu", gap: "gap", link: "link", network: "network", transport: "transport", inside: "inside", once: "once" }
      },
      { key: "size", label: { zh: "消息载荷", en: "Payload of the message" }, kind: "integer", unit: "B", value: 4096, min: 1, max: 2147483648, help: { zh: "可写 64Ki、1Mi。", en: "64Ki or 1Mi will do." } },
      { key: "mtu", label: "MTU", kind: "integer", unit: "B", min: 256, max: 9978, help: { zh: "RDMA 只算载荷；TCP 含 IP 与 TCP 头。", en: "Payload alone with RDMA; with IP and TCP headers for TCP." } },
      { key: "rate", label: { zh: "端口数据速率", en: "Data rate of the port" }, unit: "Gb/s", value: 400, min: 0.1, max: 10000 },
      { key: "write", label: { zh: "RDMA WRITE（首包带 RETH）", en: "RDMA WRITE (RETH in the first packet)" }, kind: "flag", value: true, when: { stack: ["ib", "ib-grh", "roce", "roce6"] } },
      { key: "vlan", label: "VLAN", kind: "flag", value: false, when: { stack: ["roce", "roce6", "tcp9000", "tcp1500"] } },
      { key: "gap", label: { zh: "帧外：前导码与间隔", en: "Outside the frame: preamble and gap" }, kind: "integer", unit: "B", min: 0, max: 64 },
      { key: "link", label: { zh: "链路层", en: "Link layer" }, kind: "integer", unit: "B", min: 0, max: 128 },
      { key: "network", label: { zh: "网络层", en: "Network layer" }, kind: "integer", unit: "B", min: 0, max: 128 },
      { key: "transport", label: { zh: "传输层与 ICRC", en: "Transport layer and ICRC" }, kind: "integer", unit: "B", min: 0, max: 128 },
      { key: "inside", label: { zh: "其中算在 MTU 里", en: "Of it inside the MTU" }, kind: "integer", unit: "B", value: 0, min: 0, max: 200 },
      { key: "once", label: { zh: "首包另加", en: "More in the first packet" }, kind: "integer", unit: "B", value: 0, min: 0, max: 128 }
    ],
    outputs: [
      { key: "share", label: { zh: "有效吞吐占比", en: "Goodput share" }, kind: "ratio" },
      { key: "goodput", label: { zh: "端口上的有效吞吐，单向", en: "Goodput of the port, one way" }, unit: "GB/s" },
      { key: "packets", label: { zh: "包数", en: "Packets" }, kind: "count" },
      { key: "wire", label: { zh: "线上字节", en: "Bytes on the wire" }, kind: "bytes" },
      { key: "overhead", label: { zh: "每包开销", en: "Overhead per packet" }, unit: "B" },
      { key: "messages", label: { zh: "每秒消息数上限", en: "Messages a second at most" }, kind: "count" }
    ],
    formula: [
      "\\text{share} = \\frac{S}{S + n\\,h + r}, \\qquad n = \\left\\lceil \\frac{S}{\\mathrm{MTU} - i} \\right\\rceil, \\qquad h = h_{\\text{gap}} + h_{\\text{link}} + h_{\\text{net}} + h_{\\text{transport}}"
    ],
    assumptions: [
      { zh: "端口速率已扣去线路编码与 FEC；应答包走反方向，不计。", en: "The rate is past line code and FEC; acknowledgements go the other way and are left out." },
      { zh: "不计填充（载荷按 4 字节取整）与以太网最小帧；TCP 按满段发，带时间戳选项。", en: "Padding to 4 bytes and the shortest Ethernet frame are left out; TCP sends full segments with timestamps." },
      { zh: "InfiniBand 链路层另有流控包，不计。", en: "InfiniBand's flow-control packets of the link layer are left out." }
    ],
    example: { inputs: { stack: "roce", size: 4096, write: false }, says: { zh: "RoCEv2 的一个 4096 字节满包：", en: "A full packet of RoCEv2, 4096 bytes:" } },
    sources: [],
    run: function (v) {
      var vlan = v.vlan && v.gap ? 4 : 0;
      var overhead = v.gap + v.link + v.network + v.transport + vlan;
      var one = f.messageOnWire(v.size, v.mtu, { inside: v.inside, total: overhead, once: v.write ? v.once : 0 });
      var share = v.size / one.wire;
      return {
        share: share, goodput: (v.rate * share) / 8, packets: one.packets, wire: one.wire, overhead: overhead,
        messages: (v.rate * 1e9) / 8 / one.wire
      };
    },
    tables: function (v) {
      var family = calc.data.families["packet-overhead"];
      var sizes = [64, 256, 1024, 4096, 65536];
      var rows = [];
      for (var i = 0; family && i < family.rows.length; i++) {
        var row = family.rows[i];
        var cells = [row.title, cell(row, "total")];
        for (var k = 0; k < sizes.length; k++) {
          var stack = { inside: cell(row, "inside"), total: cell(row, "total"), once: v.write ? cell(row, "once") : 0 };
          cells.push(sizes[k] / f.messageOnWire(sizes[k], cell(row, "mtu"), stack).wire);
        }
        rows.push({ cells: cells, chosen: row.key === v.stack });
      }
      var head = [{ label: { zh: "协议，常用 MTU", en: "Protocol, usual MTU" } }, { label: { zh: "每包开销", en: "Per packet" }, unit: "B" }];
      for (var s = 0; s < sizes.length; s++) {
        head.push({ label: sizes[s] < 65536 ? sizes[s] + " B" : "64 KiB", kind: "ratio" });
      }
      return rows.length
        ? [{ caption: { zh: "消息大小与有效吞吐占比", en: "Goodput share by message size" }, head: head, rows: rows }]
        : [];
    }
  });
})(this);
