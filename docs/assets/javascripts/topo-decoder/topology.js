/** Topology decoder: the XML that NCCL writes with NCCL_TOPO_DUMP_FILE. */
(function (topo) {
  "use strict";

  var MAX_DEVICES = topo.MAX_DEVICES, RANKS = topo.RANKS, GDR_LIMIT = topo.GDR_LIMIT,
    table = topo.table, each = topo.each, map = topo.map, filter = topo.filter, any = topo.any,
    contains = topo.contains, say = topo.say, InputError = topo.InputError, rate = topo.rate,
    finding = topo.finding, makeDevice = topo.makeDevice, listing = topo.listing,
    makePair = topo.makePair, number = topo.number, whole = topo.whole, assemble = topo.assemble,
    LOCAL_BW = topo.LOCAL_BW, pcieBandwidth = topo.pcieBandwidth,
    nvlinkBandwidth = topo.nvlinkBandwidth, betweenCpus = topo.betweenCpus,
    isSwitch = topo.isSwitch, flatten = topo.flatten, c2cBandwidth = topo.c2cBandwidth,
    least = topo.least;

  var SWITCH = -1;

  function isGpu(leaf) {
    return leaf.device.type === "gpu";
  }

  function gdrOf(leaf) {
    return leaf.element.get("gdr", "1") !== "0";
  }

  function decodeTopology(top, language) {
    flatten(top);
    var leaves = findLeaves(top);
    if (!any(leaves, isGpu)) {
      throw new InputError(say(language, "error-no-gpu"));
    }
    if (leaves.length > MAX_DEVICES) {
      throw new InputError(say(language, "error-devices", leaves.length, MAX_DEVICES));
    }
    var links = map(leaves, function (leaf) { return nvlinksOf(leaf, leaves); });
    var pairs = [];
    each(leaves, function (a, i) {
      for (var j = i + 1; j < leaves.length; j++) {
        var b = leaves[j];
        var path = pathBetween(leaves, links, i, j);
        var code = path[0];
        if (code === "NVL") { // written as nvidia-smi does, with the number of links
          code = "NV" + Math.min(linksTowards(links[i], j), linksTowards(links[j], i));
        }
        var pair = makePair(a.device, b.device, code, language);
        pair.bandwidth = path[1];
        if (isGpu(a) && !isGpu(b) && !(gdrOf(a) && gdrOf(b))) {
          pair.direct = false;
        }
        pairs.push(pair);
      }
    });
    var devices = map(leaves, function (leaf) { return leaf.device; });
    var record = assemble("topology", language, devices, pairs, []);
    markPxn(leaves, pairs);
    record.hops = map(leaves, hopsOf);
    record.findings = record.findings.concat(topologyFindings(top, leaves, links, language));
    return record;
  }

  function findLeaves(top) {
    var cpus = top.named("cpu");
    var hosts = [];
    var gpus = [];
    var nets = [];
    each(cpus, function (cpu) {
      if (!contains(hosts, cpu.get("host_hash"))) {
        hosts.push(cpu.get("host_hash"));
      }
    });

    function add(list, device, element, pci, chain, cpu, up) {
      list.push({ device: device, element: element, pci: pci, chain: chain, cpu: cpu, up: up });
    }

    function visit(node, chain, cpu, up, pci) {
      var host = hosts.length > 1 ? "H" + hosts.indexOf(cpu.get("host_hash")) + "." : "";
      var numa = cpu.get("numaid", "-1") === "-1" ? "" : host + cpu.get("numaid");
      var device;
      if (node.name === "nic") {
        each(node.named("net"), function (net) {
          var label = net.get("name", "net" + net.get("dev"));
          device = makeDevice(host + label, "nic", label, numa);
          device.virtual = pci === null;
          add(nets, device, net, pci, chain, cpu, up.length ? up : [LOCAL_BW]);
        });
      } else if (node.name === "gpu" && pci) {
        device = makeDevice(host + "GPU" + node.get("dev", "?"), "gpu", pci.get("busid"), numa);
        add(gpus, device, node, pci, chain, cpu, up);
      } else if (node.name === "pci") {
        var lanes = number(node.get("link_width"));
        var here = [pcieBandwidth(node.get("link_speed"), lanes)].concat(up);
        var inside = isSwitch(node);
        each(node.children, function (child) {
          if (inside || child.name !== "pci") { // below a GPU or NIC nothing is looked for
            visit(child, inside ? [node].concat(chain) : chain, cpu, here, node);
          }
        });
        if (!node.children.length && node.get("class").indexOf("0x03") === 0) {
          // A file for NCCL_TOPO_FILE may leave out what NCCL can detect by itself.
          var busid = node.get("busid", "?");
          add(gpus, makeDevice(host + "GPU@" + busid, "gpu", busid, numa), node, node, chain, cpu, here);
        }
      }
    }

    each(cpus, function (cpu) {
      each(cpu.children, function (child) { visit(child, [], cpu, [], null); });
    });
    var seen = table();
    var leaves = gpus.concat(nets);
    each(leaves, function (leaf) {
      var name = leaf.device.name;
      seen[name] = (seen[name] || 0) + 1;
      if (seen[name] > 1) {
        leaf.device.name = name + "#" + seen[name];
      }
    });
    return leaves;
  }

  /** {neighbour: [links, GB/s]}; neighbour -1 is the NVSwitch, -2 a CPU, -3 a GPU not in the file. */
  function nvlinksOf(leaf, leaves) {
    var result = table();
    var capability = number(leaf.element.get("sm"), 80);
    each(leaf.element.named("nvlink"), function (child) {
      var count = whole(number(child.get("count")));
      var kind = child.get("tclass");
      var target = SWITCH;
      if (kind.indexOf("0x03") === 0) {
        target = -3;
        for (var i = leaves.length - 1; i >= 0; i--) {
          if (isGpu(leaves[i]) && leaves[i].device.label === child.get("target")) {
            target = i;
          }
        }
      } else if (kind.indexOf("0x068001") === 0) {
        target = -2;
      }
      var before = result[target] || [0, 0];
      result[target] = [before[0] + count, before[1] + nvlinkBandwidth(capability, count)];
    });
    return result;
  }

  function linksTowards(links, other) {
    return (links[other] || links[SWITCH] || [0, 0])[0];
  }

  function pathBetween(leaves, links, i, j) {
    var a = leaves[i];
    var b = leaves[j];
    var gpus = isGpu(a) && isGpu(b);
    if (gpus) {
      if (j in links[i]) {
        return ["NVL", links[i][j][1]];
      }
      if (SWITCH in links[i] && SWITCH in links[j]) {
        return ["NVL", Math.min(links[i][SWITCH][1], links[j][SWITCH][1])];
      }
    }
    if (a.cpu.get("host_hash") !== b.cpu.get("host_hash")) {
      return ["NET", 0];
    }
    if (gpus) {
      var relays = [];
      for (var k = 0; k < leaves.length; k++) {
        if (k in links[i] && j in links[k]) {
          relays.push(Math.min(links[i][k][1], links[k][j][1]));
        }
      }
      if (relays.length) {
        return ["NVB", Math.max.apply(null, relays)];
      }
    }
    var common = filter(a.chain, function (node) { return contains(b.chain, node); });
    if (common.length) {
      var hopsA = a.chain.indexOf(common[0]) + 1;
      var hopsB = b.chain.indexOf(common[0]) + 1;
      var code = hopsA === 1 && hopsB === 1 ? "PIX" : "PXB";
      return [code, least(a.up.slice(0, hopsA).concat(b.up.slice(0, hopsB)))];
    }
    if (a.pci && a.pci === b.pci) {
      return ["PIX", LOCAL_BW];
    }
    var way = least(a.up.concat(b.up));
    if (a.cpu !== b.cpu) {
      return ["SYS", Math.min(way, betweenCpus(a.cpu))];
    }
    var c2c = c2cBandwidth(a);
    if (c2c && isGpu(b) && c2cBandwidth(b)) {
      return ["C2C", Math.min(c2c, c2cBandwidth(b))];
    }
    if (c2c && !isGpu(b)) {
      return ["P2C", least([c2c].concat(b.up))];
    }
    return ["PHB", way];
  }

  function markPxn(leaves, pairs) {
    var rank = table();
    var gdr = table();
    each(pairs, function (pair) {
      rank[pair.a + "\n" + pair.b] = rank[pair.b + "\n" + pair.a] = pair.rank;
    });
    each(leaves, function (leaf) { gdr[leaf.device.name] = gdrOf(leaf); });
    each(pairs, function (pair) {
      if (pair.kinds !== "gpu-nic" || pair.rank <= RANKS.PXN || !gdr[pair.b]) {
        return;
      }
      var relays = filter(leaves, function (leaf) {
        var relay = leaf.device.name;
        return isGpu(leaf) && gdr[relay] && relay !== pair.a &&
          rank[relay + "\n" + pair.b] <= GDR_LIMIT && rank[relay + "\n" + pair.a] === RANKS.NVL;
      });
      if (relays.length) {
        pair.via = relays[0].device.name;
      }
    });
  }

  function hopsOf(leaf) {
    var hops = [];
    if (!isGpu(leaf)) {
      var speed = number(leaf.element.get("speed"));
      hops.push({ to: "NET", bandwidth: (speed > 0 ? speed : 10000) / 8000 });
    }
    var names = map(leaf.chain, function (node) { return "PCI " + node.get("busid", "?"); });
    names.push("CPU " + leaf.cpu.get("numaid", "?"));
    each(names, function (to, i) { hops.push({ to: to, bandwidth: leaf.up[i] }); });
    return { device: leaf.device.name, hops: hops };
  }

  function topologyFindings(top, leaves, links, language) {
    var found = [];
    var gpus = filter(leaves, isGpu);
    var nics = filter(leaves, function (leaf) { return !isGpu(leaf); });
    each([gpus, nics], function (kind) {
      var real = filter(kind, function (leaf) { return leaf.pci; });
      var best = Math.max.apply(null, map(real, function (leaf) { return least(leaf.up); }));
      each(real, function (leaf) {
        if (least(leaf.up) < best) {
          var values = [leaf.device.name, rate(least(leaf.up)), rate(best)];
          found.push(finding.apply(null, ["warning", "slow-link", language].concat(values)));
        }
      });
    });

    function note(level, rule, members) {
      if (members.length) {
        var names = map(members, function (leaf) { return leaf.device.name; });
        found.push(finding(level, rule, language, listing(names, language)));
      }
    }

    var counts = map(gpus, function (leaf, i) {
      var total = 0;
      for (var target in links[i]) {
        total += links[i][target][0];
      }
      return total;
    });
    if (any(counts, function (count) { return count !== counts[0]; })) {
      var named = map(gpus, function (leaf, i) { return leaf.device.name + " " + counts[i]; });
      var text = named.join(say(language, "join"));
      found.push(finding("warning", "nvlink-count", language, text));
    }
    note("info", "width-zero", filter(leaves, function (leaf) {
      return leaf.pci && number(leaf.pci.get("link_width")) === 0;
    }));
    if (any(top.named("cpu"), function (cpu) { return cpu.get("numaid") === "-1"; })) {
      found.push(finding("info", "numa-unknown", language));
    }
    var bare = filter(gpus, function (leaf) {
      return leaf.cpu === gpus[0].cpu && !leaf.chain.length;
    });
    if (gpus.length > 1 && bare.length === gpus.length) {
      found.push(finding("info", "flat", language));
    }
    if (any(gpus, function (leaf) {
      return any(leaf.element.named("nvlink"), function (nvlink) {
        return nvlink.get("target").indexOf("fffffff") === 0;
      });
    })) {
      found.push(finding("info", "nvswitch-hidden", language));
    }
    note("info", "net-virtual", filter(nics, function (leaf) { return leaf.device.virtual; }));
    note("info", "net-no-gdr", filter(nics, function (leaf) { return !gdrOf(leaf); }));
    return found;
  }

  topo.decodeTopology = decodeTopology;
})(this.topoDecoder = this.topoDecoder || {});
