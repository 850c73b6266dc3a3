/**
 * Topology decoder: NCCL's own model of bandwidth, and the graphs that it has searched.
 *
 * GB/s is 10^9 bytes a second in one direction. Constants of NCCL v2.30.7: src/graph/topo.h,
 * src/graph/topo.cc.
 */
(function (topo) {
  "use strict";

  var RANKS = topo.RANKS, has = topo.has, each = topo.each, map = topo.map, filter = topo.filter,
    any = topo.any, say = topo.say, finding = topo.finding, number = topo.number,
    whole = topo.whole;

  var LOCAL_BW = 5000;
  var NVLINK_BW = [[100, 40.1], [90, 20.6], [87, 20], [86, 12], [80, 20], [70, 20], [60, 18]];
  var PCIE_UNITS = {
    "2.5 GT/s": 15, "5 GT/s": 30, "8 GT/s": 60, "16 GT/s": 120, "32 GT/s": 240,
    "5.0 GT/s PCIe": 30, "8.0 GT/s PCIe": 60, "16.0 GT/s PCIe": 120,
    "32.0 GT/s PCIe": 240, "64.0 GT/s PCIe": 480
  };

  function pcieBandwidth(speed, lanes) {
    var units = 60;
    for (var begin in PCIE_UNITS) {
      if (speed.indexOf(begin) === 0) {
        units = PCIE_UNITS[begin];
      }
    }
    return ((lanes || 16) * units) / 80;
  }

  function nvlinkBandwidth(capability, links) {
    for (var i = 0; i < NVLINK_BW.length; i++) {
      if (capability >= NVLINK_BW[i][0]) {
        return links * NVLINK_BW[i][1];
      }
    }
    return links * 20;
  }

  function betweenCpus(cpu) {
    var arch = cpu.get("arch");
    var vendor = cpu.get("vendor");
    if (arch === "ppc64" || arch === "arm64") {
      return arch === "ppc64" ? 32 : 6;
    }
    if (vendor === "AuthenticAMD") {
      return 16;
    }
    var family = number(cpu.get("familyid"));
    var model = number(cpu.get("modelid"));
    if (vendor === "GenuineIntel") {
      var steps = [[0xcf, 40], [0x8f, 22], [0x55, 10]];
      for (var i = 0; i < steps.length; i++) {
        if (family === 6 && model >= steps[i][0]) {
          return steps[i][1];
        }
      }
      return 6;
    }
    if (vendor === "CentaurHauls" || vendor === "  Shanghai  ") {
      return family === 7 && model === 0x5b ? 9 : 6;
    }
    return LOCAL_BW;
  }

  function broadcom(node, level) {
    function id(key) { return whole(number(node.get(key))); }
    /** The four bits above the lowest three hexadecimal digits; ids can exceed 32 bits. */
    function high(value) { return ((Math.floor(value / 0x1000) % 16) + 16) % 16; }
    if (id("vendor") !== 0x1000 || id("subsystem_vendor") !== 0x1000) {
      return 0;
    }
    if (id("device") === 0xc010 && high(id("subsystem_device")) === 0xa) {
      return 4;
    }
    if (id("device") === 0xc030 && high(id("subsystem_device")) === level) {
      return 5;
    }
    return 0;
  }

  function isSwitch(node) {
    var leaf = any(node.children, function (child) {
      return child.name === "gpu" || child.name === "nic";
    });
    return node.name === "pci" && !leaf && !/^0x0[23]/.test(node.get("class"));
  }

  function flatten(node) {
    var generation = isSwitch(node) ? broadcom(node, 0) : 0;
    if (generation) {
      var merged = [];
      each(node.children, function (child) {
        var inner = isSwitch(child) && broadcom(child, 1) === generation;
        merged = merged.concat(inner ? child.children : [child]);
      });
      node.children = merged;
      each(merged, function (child) { child.parent = node; });
    }
    each(node.children, flatten);
  }

  var GRAPHS = {
    "0": "ring", "1": "tree", "2": "collnet-chain", "3": "nvls", "4": "collnet-direct"
  };
  var PATTERNS = {
    "1": "balanced-tree", "2": "split-tree", "3": "tree", "4": "ring", "5": "nvls",
    "6": "collnet-direct"
  };

  function decodeGraphs(top, language) {
    var graphs = map(top.named("graph"), decodeGraph);
    var findings = [];
    each(graphs, function (graph) { findings = findings.concat(graphFindings(graph, language)); });
    return { kind: "graph", language: language, graphs: graphs, findings: findings };
  }

  function decodeGraph(node) {
    var orders = [];
    var nets = [];
    each(node.named("channel"), function (channel) {
      var steps = [];
      each(channel.children, function (step) {
        var kind = step.name === "net" ? "NET" : "GPU";
        var name = kind + deviceNumber(step.get("dev", "0"));
        steps.push(name);
        if (kind === "NET") {
          countIn(nets, "net", name);
        }
      });
      countIn(orders, "order", steps.join(" > "));
    });
    var id = node.get("id");
    var pattern = node.get("pattern");
    var channels = whole(number(node.get("nchannels")));
    var intra = number(node.get("speedintra"));
    return {
      id: node.get("id", "?"),
      name: has(GRAPHS, id) ? GRAPHS[id] : "graph " + node.get("id", "?"),
      pattern: has(PATTERNS, pattern) ? PATTERNS[pattern] : "pattern " + node.get("pattern", "?"),
      channels: channels,
      intra: intra,
      inter: number(node.get("speedinter")),
      total: channels * intra,
      type_intra: node.get("typeintra"),
      type_inter: node.get("typeinter"),
      orders: orders,
      nets: nets
    };
  }

  function countIn(rows, key, value) {
    var row = filter(rows, function (other) { return other[key] === value; })[0];
    if (row) {
      row.count += 1;
    } else {
      row = { count: 1 };
      row[key] = value;
      rows.push(row);
    }
  }

  function deviceNumber(text) {
    var match = /^(?:0[xX])?0*([0-9a-fA-F]{1,16})/.exec(text);
    return match ? parseInt(match[1].slice(-8), 16) : 0;
  }

  function graphFindings(graph, language) {
    var found = [];
    if (graph.channels === 0) {
      return found;
    }
    function far(kind) {
      return has(RANKS, kind) && RANKS[kind] >= RANKS.PHB;
    }
    if (graph.channels === 1 && graph.intra === 0.1) {
      found.push(finding("warning", "graph-fallback", language, graph.name));
    }
    if (far(graph.type_intra)) {
      found.push(finding("warning", "graph-slow", language, graph.name, graph.type_intra));
    }
    if (graph.nets.length && far(graph.type_inter)) {
      found.push(finding("warning", "graph-net-far", language, graph.name, graph.type_inter));
    }
    if (any(graph.nets, function (net) { return net.count !== graph.nets[0].count; })) {
      var counts = map(graph.nets, function (net) { return net.net + " " + net.count; });
      var text = counts.join(say(language, "join"));
      found.push(finding("info", "graph-uneven-nics", language, graph.name, text));
    }
    return found;
  }

  function c2cBandwidth(leaf) {
    var total = 0;
    each(leaf.element.named("c2c"), function (c2c) {
      total += (number(c2c.get("count")) * number(c2c.get("bw"))) / 1000;
    });
    return total;
  }

  function least(list) {
    return Math.min.apply(null, list);
  }

  topo.LOCAL_BW = LOCAL_BW;
  topo.pcieBandwidth = pcieBandwidth;
  topo.nvlinkBandwidth = nvlinkBandwidth;
  topo.betweenCpus = betweenCpus;
  topo.isSwitch = isSwitch;
  topo.flatten = flatten;
  topo.decodeGraphs = decodeGraphs;
  topo.c2cBandwidth = c2cBandwidth;
  topo.least = least;
})(this.topoDecoder = this.topoDecoder || {});
