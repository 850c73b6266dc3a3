/**
 * Links and their units: conversion, PCIe, NVLink, InfiniBand and Ethernet.
 */
(function (root) {
  "use strict";

  var calc = root.calc;
  var f = calc.formulas;

  /** Share of a packet stream that is payload. */
  f.payloadShare = function (payload, header) {
    return payload / (payload + header);
  };

  /** GB/s of one direction from what was written in some unit and direction. */
  f.oneWay = function (value, direction) {
    return direction === "bi" ? value / 2 : value;
  };

  var UNITS = ["Gb/s", "GB/s", "GiB/s", "Tb/s", "TB/s", "TiB/s", "Mb/s", "MB/s"];

  function asChoices(names) {
    var choices = [];
    for (var i = 0; i < names.length; i++) {
      choices.push({ value: names[i], label: names[i] });
    }
    return choices;
  }

  var DIRECTIONS = [
    { value: "uni", label: { zh: "单向", en: "one direction" } },
    { value: "bi", label: { zh: "双向之和", en: "both directions together" } }
  ];
  var CODES = [
    { value: "none", label: { zh: "不扣（已是数据速率，或 FLIT）", en: "none (already a data rate, or FLIT)" } },
    { value: "8b/10b", label: "8b/10b" },
    { value: "64b/66b", label: "64b/66b" },
    { value: "128b/130b", label: "128b/130b" },
    { value: "256b/257b", label: "256b/257b" }
  ];

  calc.add({
    id: "units",
    title: { zh: "单位与方向换算", en: "Units and directions" },
    about: {
      zh: "同一条链路在不同资料里写成 Gb/s、GB/s、GiB/s 或 GT/s，单向或双向：换成同一口径再比较。",
      en: "One link is written in Gb/s, GB/s, GiB/s or GT/s, one way or both: bring it to one footing before comparing."
    },
    note: "link/topo/nvlink-generations",
    inputs: [
      { key: "value", label: { zh: "数值", en: "Value" }, value: 400, min: 0, max: 1e9 },
      {
        key: "unit", label: { zh: "单位", en: "Unit" }, kind: "choice", value: "Gb/s",
        choices: asChoices(UNITS).concat([{ value: "GT/s", label: { zh: "GT/s（每通道）", en: "GT/s (per lane)" } }])
      },
      { key: "lanes", label: { zh: "通道数", en: "Lanes" }, kind: "integer", value: 16, min: 1, max: 1024, when: { unit: ["GT/s"] } },
      { key: "code", label: { zh: "线路编码", en: "Line code" }, kind: "choice", value: "128b/130b", choices: CODES, when: { unit: ["GT/s"] } },
      { key: "direction", label: { zh: "这个数是", en: "The number counts" }, kind: "choice", value: "uni", choices: DIRECTIONS }
    ],
    outputs: [
      { key: "uni", label: { zh: "单向", en: "One direction" }, unit: "GB/s" },
      { key: "bi", label: { zh: "双向之和", en: "Both directions" }, unit: "GB/s" },
      { key: "uni_gbit", label: { zh: "单向，按比特", en: "One direction, in bits" }, unit: "Gb/s" },
      { key: "uni_gib", label: { zh: "单向，按 1024 进位", en: "One direction, in powers of 1024" }, unit: "GiB/s" },
      { key: "gib_time", label: { zh: "单向传 1 GiB 至少用时", en: "Least time for 1 GiB one way" }, kind: "seconds" }
    ],
    formula: [
      "1\\ \\mathrm{GB/s} = 8\\ \\mathrm{Gb/s} = \\tfrac{10^9}{2^{30}}\\ \\mathrm{GiB/s} \\approx 0.9313\\ \\mathrm{GiB/s}",
      "B_{\\text{uni}} = \\mathrm{GT/s} \\times \\text{lanes} \\times \\text{code} \\div 8"
    ],
    assumptions: [
      { zh: "GT/s 按每次传输一比特计；PAM4 的 GT/s 也以每通道每秒比特数标注（PCIe 6 起）。", en: "A transfer carries one bit; with PAM4 too, GT/s states bits per lane and second (PCIe 6 on)." },
      { zh: "两个方向对称。", en: "Both directions are equal." }
    ],
    example: {
      inputs: { value: 900, unit: "GB/s", direction: "bi" },
      says: { zh: "“900 GB/s 的 NVLink”是双向之和，单向一半：", en: "\"900 GB/s of NVLink\" counts both directions; one way is half:" }
    },
    sources: [],
    run: function (v) {
      var bytes = v.unit === "GT/s"
        ? f.pcieRate(v.value, v.lanes, f.lineCodeShare(v.code))
        : v.value * calc.unit(v.unit).factor;
      var uni = f.oneWay(bytes, v.direction);
      return {
        uni: uni / 1e9,
        bi: (2 * uni) / 1e9,
        uni_gbit: (uni * 8) / 1e9,
        uni_gib: uni / 1073741824,
        gib_time: 1073741824 / uni
      };
    }
  });

  var FLIT_BYTES = 256;
  var FLIT_TLP_BYTES = 236;

  /** Share of a 256-byte FLIT that carries transaction-layer packets. */
  f.flitShare = function () {
    return FLIT_TLP_BYTES / FLIT_BYTES;
  };

  calc.add({
    id: "pcie",
    title: { zh: "PCIe 带宽", en: "PCIe bandwidth" },
    about: {
      zh: "由代数与宽度算线路速率，再扣去编码与包头，得到应用能拿到的上限。",
      en: "From generation and width to the line rate, then past coding and headers to what an application can reach."
    },
    note: "link/pcie/bandwidth",
    inputs: [
      {
        key: "gen", label: { zh: "代", en: "Generation" }, kind: "preset", family: "pcie", value: "gen5",
        fills: { rate: "lane_rate", code: calc.pcieCode }
      },
      { key: "rate", label: { zh: "每通道速率", en: "Rate per lane" }, unit: "GT/s", min: 0.1, max: 1024 },
      {
        key: "code", label: { zh: "编码", en: "Coding" }, kind: "choice", value: "128b/130b",
        choices: calc.pcieCodes
      },
      {
        key: "lanes", label: { zh: "宽度", en: "Width" }, kind: "choice", value: "16",
        choices: calc.pcieWidths
      },
      {
        key: "payload", label: { zh: "每包载荷（MPS）", en: "Payload per packet (MPS)" }, kind: "integer", unit: "B",
        value: 256, min: 4, max: 4096, help: { zh: "常见 128、256、512。", en: "Often 128, 256 or 512." }
      },
      {
        key: "header", label: { zh: "每包开销", en: "Overhead per packet" }, kind: "integer", unit: "B", value: 24, min: 0, max: 64,
        help: {
          zh: "3 至 5 代：起始 4 + 头 16（64 位地址）+ LCRC 4 = 24；32 位地址头 12，共 20；加 ECRC 4，共 28。DLLP 另计。",
          en: "Gen 3 to 5: start 4 + header 16 (64-bit addresses) + LCRC 4 = 24; with 32-bit addresses, header 12, 20; with ECRC 4 more, 28. DLLPs not counted."
        }
      }
    ],
    outputs: [
      { key: "line", label: { zh: "线路（扣编码后），单向", en: "Line after coding, one way" }, unit: "GB/s" },
      { key: "payload_rate", label: { zh: "载荷上限，单向", en: "Payload at most, one way" }, unit: "GB/s" },
      { key: "share", label: { zh: "载荷占线路", en: "Payload share of the line" }, kind: "ratio" },
      { key: "line_bi", label: { zh: "线路，双向之和", en: "Line, both ways" }, unit: "GB/s" }
    ],
    formula: [
      "B = \\frac{\\text{GT/s} \\times \\text{lanes} \\times \\text{code}}{8}, \\qquad B_{\\text{payload}} = B\\,\\frac{\\text{payload}}{\\text{payload} + \\text{overhead}}"
    ],
    assumptions: [
      { zh: "只算一个方向的写；读还要在反方向发请求。", en: "Writes in one direction; reads also send requests the other way." },
      { zh: "FLIT 模式每 256 字节里有 236 字节给 TLP，包头仍在其中。", en: "In FLIT mode 236 of 256 bytes carry TLPs, whose headers still count." },
      { zh: "不计流控停顿与链路重传。", en: "No stalls of flow control, no replays." }
    ],
    example: { inputs: { gen: "gen5", lanes: "16" }, says: { zh: "PCIe 5.0 x16，256 字节载荷：", en: "PCIe 5.0 x16 with 256-byte payloads:" } },
    sources: [],
    run: function (v) {
      var isFlit = v.code === "flit";
      var line = f.pcieRate(v.rate, Number(v.lanes), isFlit ? 1 : f.lineCodeShare(v.code));
      var share = f.payloadShare(v.payload, v.header) * (isFlit ? f.flitShare() : 1);
      return { line: line / 1e9, payload_rate: (line * share) / 1e9, share: share, line_bi: (2 * line) / 1e9 };
    }
  });
})(this);
