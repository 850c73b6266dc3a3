/** Topology decoder: what follows from pairs of devices: groups, nearest NICs, what looks odd. */
(function (topo) {
  "use strict";

  var UNKNOWN = topo.UNKNOWN, RANKS = topo.RANKS, table = topo.table, each = topo.each,
    map = topo.map, filter = topo.filter, any = topo.any, contains = topo.contains,
    say = topo.say, finding = topo.finding, listing = topo.listing, ofType = topo.ofType,
    realNics = topo.realNics;

  function nearestNics(devices, pairs) {
    var between = table();
    each(pairs, function (pair) { between[pair.a + "\n" + pair.b] = pair; });
    var nics = realNics(devices);
    var result = [];
    each(ofType(devices, "gpu"), function (device) {
      var gpu = device.name;
      var known = filter(nics, function (nic) { return between[gpu + "\n" + nic].rank < RANKS.NET; });
      if (!known.length) {
        return;
      }
      var best = UNKNOWN;
      each(known, function (nic) { best = Math.min(best, between[gpu + "\n" + nic].rank); });
      var near = filter(known, function (nic) { return between[gpu + "\n" + nic].rank === best; });
      var pair = between[gpu + "\n" + near[0]];
      result.push({ gpu: gpu, nics: near, code: pair.code, level: pair.level });
    });
    each(result, function (row) {
      var others = filter(result, function (other) {
        return other !== row && any(other.nics, function (nic) { return contains(row.nics, nic); });
      });
      row.shared = map(others, function (other) { return other.gpu; });
    });
    return result;
  }

  function joined(names, pairs, ranks) {
    var group = table();
    each(names, function (name, i) { group[name] = i; });
    each(pairs, function (pair) {
      if (contains(ranks, pair.rank) && pair.a in group && pair.b in group) {
        var keep = Math.min(group[pair.a], group[pair.b]);
        var drop = Math.max(group[pair.a], group[pair.b]);
        each(names, function (name) {
          if (group[name] === drop) {
            group[name] = keep;
          }
        });
      }
    });
    var members = [];
    var places = table();
    each(names, function (name) {
      var at = group[name];
      if (!(at in places)) {
        places[at] = [];
        members.push(places[at]);
      }
      places[at].push(name);
    });
    return filter(members, function (found) { return found.length > 1; });
  }

  function assemble(kind, language, devices, pairs, findings) {
    var names = map(devices, function (device) { return device.name; });
    var gpus = map(ofType(devices, "gpu"), function (device) { return device.name; });
    var nodes = [];
    each(devices, function (device) {
      if (!device.numa) {
        return;
      }
      var node = filter(nodes, function (other) { return other.node === device.numa; })[0];
      if (!node) {
        node = { node: device.numa, devices: [] };
        nodes.push(node);
      }
      node.devices.push(device.name);
    });
    markRelays(gpus, pairs);
    var near = nearestNics(devices, pairs);
    return {
      kind: kind,
      language: language,
      devices: devices,
      pairs: pairs,
      groups: {
        "switch": joined(names, pairs, [RANKS.PIX, RANKS.PXB]),
        nvlink: joined(gpus, pairs, [RANKS.NVL]),
        numa: nodes
      },
      nearest: near,
      hca: hcaList(devices, near),
      findings: findings.concat(
        gpuFindings(pairs, language), nicFindings(devices, pairs, near, language))
    };
  }

  function hcaList(devices, near) {
    var chosen = [];
    each(near, function (row) {
      if (row.level === "switch" || row.level === "c2c") {
        chosen = chosen.concat(row.nics);
      }
    });
    var nics = ofType(devices, "nic");
    var labels = map(
      filter(nics, function (device) { return contains(chosen, device.name); }),
      function (device) { return device.label; }
    );
    // Only what is a name: the line is meant to be copied into a shell.
    var odd = any(labels, function (l) { return !/^(?!NIC[0-9])[A-Za-z0-9_.-]+$/.test(l); });
    if (labels.length === nics.length || odd) {
      return "";
    }
    return labels.join(",");
  }

  function markRelays(gpus, pairs) {
    var beside = table();
    each(gpus, function (gpu) { beside[gpu] = []; });
    each(pairs, function (pair) {
      if (pair.kinds === "gpu-gpu" && pair.rank === RANKS.NVL) {
        beside[pair.a].push(pair.b);
        beside[pair.b].push(pair.a);
      }
    });
    each(pairs, function (pair) {
      if (pair.kinds === "gpu-gpu" && RANKS.NVB < pair.rank && pair.rank < UNKNOWN) {
        var common = filter(gpus, function (gpu) {
          return contains(beside[pair.a], gpu) && contains(beside[pair.b], gpu);
        });
        if (common.length) {
          pair.via = common[0];
          pair.direct = true;
        }
      }
    });
  }

  function pairNames(pairs, language) {
    var named = map(pairs.slice(0, 6), function (pair) { return pair.a + "-" + pair.b; });
    return named.join(say(language, "join")) + (pairs.length > 6 ? " …" : "");
  }

  function gpuFindings(pairs, language) {
    var between = filter(pairs, function (pair) { return pair.kinds === "gpu-gpu"; });
    var found = [];
    function note(level, rule, members) {
      if (members.length) {
        found.push(finding(level, rule, language, members.length, pairNames(members, language)));
      }
    }
    note("warning", "gpu-sys", filter(between, function (pair) {
      return pair.level === "socket" && !pair.via;
    }));
    note("warning", "gpu-cpu", filter(between, function (pair) {
      return pair.level === "cpu" && !pair.via;
    }));
    note("info", "gpu-relay", filter(between, function (pair) { return !!pair.via; }));
    var counts = [];
    each(between, function (pair) {
      if (/^NV[0-9]+$/.test(pair.code) && !contains(counts, +pair.code.slice(2))) {
        counts.push(+pair.code.slice(2));
      }
    });
    counts.sort(function (x, y) { return x - y; });
    if (counts.length > 1) {
      var text = map(counts, function (count) { return "NV" + count; }).join(say(language, "join"));
      found.push(finding("info", "nvlink-uneven", language, text));
    }
    return found;
  }

  function nicFindings(devices, pairs, near, language) {
    if (!ofType(devices, "nic").length) {
      return [finding("info", "no-nic", language)];
    }
    var found = [];
    function gpusWith(test) {
      return map(filter(near, test), function (row) { return row.gpu; });
    }
    var far = gpusWith(function (row) { return row.level === "socket"; });
    if (far.length) {
      found.push(finding("warning", "nic-far", language, listing(far, language)));
    }
    each(["PHB", "NODE"], function (code) {
      var through = gpusWith(function (row) { return row.code === code; });
      if (through.length) {
        found.push(finding("warning", "nic-cpu", language, listing(through, language), code));
      }
    });
    var nics = realNics(devices);
    each(nics, function (nic) {
      var users = gpusWith(function (row) { return row.nics.length === 1 && row.nics[0] === nic; });
      if (users.length > 1) {
        found.push(finding("info", "nic-shared", language, nic, listing(users, language)));
      }
    });
    var spare = filter(nics, function (nic) {
      return !any(near, function (row) { return contains(row.nics, nic); }) &&
        any(pairs, function (pair) {
          return pair.kinds === "gpu-nic" && pair.b === nic && pair.rank !== UNKNOWN;
        });
    });
    if (spare.length) {
      found.push(finding("info", "nic-spare", language, listing(spare, language)));
    }
    return found;
  }

  topo.assemble = assemble;
  topo.pairNames = pairNames;
})(this.topoDecoder = this.topoDecoder || {});
