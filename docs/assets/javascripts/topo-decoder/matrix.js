/** Topology decoder: the text of `nvidia-smi topo -m`. */
(function (topo) {
  "use strict";

  var MAX_DEVICES = topo.MAX_DEVICES, UNKNOWN = topo.UNKNOWN, RANKS = topo.RANKS,
    table = topo.table, each = topo.each, filter = topo.filter, any = topo.any,
    contains = topo.contains, say = topo.say, InputError = topo.InputError,
    finding = topo.finding, baseCode = topo.baseCode, rankOf = topo.rankOf,
    makeDevice = topo.makeDevice, listing = topo.listing, makePair = topo.makePair,
    ofType = topo.ofType, assemble = topo.assemble;

  var BLANKS = /[ \t\r\f\v\u00a0\u3000\ufeff|]+/;
  var DEVICE = /^(?:GPU[0-9]+|NIC[0-9]+|(?:mlx[0-9]|bnxt|irdma|rdma|hfi|efa|ib|roce)[A-Za-z0-9_]*)$/;
  var GPU_NAME = /^GPU[0-9]+$/;
  var CODES = /NV[0-9]{1,2}|X|SYS|SOC|NODE|PHB|PXB|PIX/g;
  var ONE_CODE = /^(?:NV[0-9]{1,2}|X|SYS|SOC|NODE|PHB|PXB|PIX)$/;
  var GLUED = /^(?:NV[0-9]{1,2}|X|SYS|SOC|NODE|PHB|PXB|PIX)+$/;
  var SHOUT = /^[A-Z][A-Z0-9\/]{0,5}$/;
  var P2P_CODES = ["OK", "CNS", "GNS", "TNS", "NS", "DR", "U"];

  function wordsOf(line) {
    var words = filter(line.split(BLANKS), function (word) { return word !== ""; });
    while (words.length && contains([">", "#", "//"], words[0])) {
      words = words.slice(1);
    }
    return words;
  }

  function readTable(text) {
    var result = { columns: [], titles: [], rows: table(), labels: table() };
    var started = false;
    each(text.split("\n"), function (line) {
      var words = wordsOf(line);
      var legend = /^(NIC[0-9]+): ?([^ ]+)$/.exec(words.join(" "));
      if (legend && !(legend[1] in result.labels)) {
        result.labels[legend[1]] = legend[2];
      }
      if (legend || !words.length || !DEVICE.test(words[0])) {
        return;
      }
      var second = words.length > 1 ? words[1] : "";
      var isHeader = second === "" || second === "CPU" || DEVICE.test(second);
      if (isHeader && !started) { // a terminal may have broken the header in two
        while (words.length && DEVICE.test(words[0])) {
          result.columns.push(words[0]);
          words = words.slice(1);
        }
        result.titles = words;
      } else if (!isHeader && result.columns.length && !(words[0] in result.rows)) {
        var cells = [];
        each(words.slice(1), function (word) {
          cells = cells.concat(GLUED.test(word) ? word.match(CODES) : [word]);
        });
        result.rows[words[0]] = cells;
        started = true;
      }
    });
    return result;
  }

  function devicesOf(source, language) {
    var devices = [];
    var findings = [];
    var missing = [];
    var width = source.columns.length;
    each(source.columns, function (name, index) {
      var kind = GPU_NAME.test(name) ? "gpu" : "nic";
      var device = makeDevice(name, kind, name in source.labels ? source.labels[name] : name, "");
      devices.push(device);
      if (!(name in source.rows)) {
        missing.push(name);
        source.rows[name] = [];
        return;
      }
      var row = source.rows[name];
      var cells = width;
      while (cells < row.length && ONE_CODE.test(row[cells])) {
        cells += 1;
      }
      if (cells > width) { // which column is missing cannot be known
        throw new InputError(say(language, "error-columns", width, name, cells));
      }
      if (contains(row, "X") && row[index] !== "X") {
        findings.push(finding("warning", "row-shifted", language, name));
        source.rows[name] = [];
        return;
      }
      var count = 0;
      while (count < Math.min(row.length, width) && SHOUT.test(row[count])) {
        count += 1;
      }
      if (count < width) {
        findings.push(finding("warning", "row-short", language, name, width - count));
      }
      var rest = row.slice(count);
      source.rows[name] = row.slice(0, count);
      if (kind === "gpu" && rest.length) {
        device.cpus = rest[0];
        if (contains(source.titles, "NUMA") && rest.length > 1 && rest[1] !== "N/A") {
          device.numa = rest[1];
        }
      }
    });
    if (missing.length) {
      findings.push(finding("info", "rows-missing", language, listing(missing, language)));
    }
    return { devices: ofType(devices, "gpu").concat(ofType(devices, "nic")), findings: findings };
  }

  function decodeMatrix(text, language) {
    var source = readTable(text);
    for (var row in source.rows) {
      if (any(source.rows[row].slice(0, 2), function (cell) { return contains(P2P_CODES, cell); })) {
        throw new InputError(say(language, "error-p2p"));
      }
    }
    if (!any(source.columns, function (name) { return name in source.rows; })) {
      throw new InputError(say(language, "error-unknown"));
    }
    source.columns = filter(source.columns, function (name, i) {
      return source.columns.indexOf(name) === i;
    });
    if (source.columns.length > MAX_DEVICES) {
      throw new InputError(say(language, "error-devices", source.columns.length, MAX_DEVICES));
    }
    var read = devicesOf(source, language);
    var devices = read.devices;
    var findings = read.findings;
    function cell(a, b) {
      var at = source.columns.indexOf(b.name);
      var code = source.rows[a.name][at];
      return code === undefined ? "" : code;
    }
    var pairs = [];
    each(devices, function (a, i) {
      each(devices.slice(i + 1), function (b) {
        var there = cell(a, b);
        var back = cell(b, a);
        var pair = makePair(a, b, there || back, language);
        if (there && back && there !== back) {
          findings.push(finding("warning", "asymmetric", language, a.name, b.name, there, back));
          // Of two different codes the farther one is the safe assumption.
          if (rankOf(baseCode(back)) > pair.rank) {
            pair = makePair(a, b, back, language);
          }
        }
        if (pair.code && pair.rank === UNKNOWN) {
          findings.push(finding("warning", "code-unknown", language, pair.code, a.name, b.name));
        }
        pairs.push(pair);
      });
    });
    var record = assemble("matrix", language, devices, pairs, findings);
    record.findings = record.findings.concat(matrixFindings(devices, pairs, language));
    return record;
  }

  function matrixFindings(devices, pairs, language) {
    var found = [];
    var numa = table();
    var beside = table();
    each(devices, function (device) { numa[device.name] = device.numa; });
    each(pairs, function (pair) {
      if (pair.kinds === "gpu-nic" && pair.level === "switch" && numa[pair.a]) {
        beside[pair.b] = beside[pair.b] || [];
        if (!contains(beside[pair.b], numa[pair.a])) {
          beside[pair.b].push(numa[pair.a]);
        }
      }
    });
    var odd = filter(pairs, function (pair) {
      var near = beside[pair.b] || [];
      return pair.kinds === "gpu-nic" && pair.level === "socket" && numa[pair.a] &&
        near.length === 1 && near[0] === numa[pair.a];
    });
    if (odd.length) {
      found.push(finding("info", "sys-same-numa", language, odd[0].a, odd[0].b));
    }
    if (any(pairs, function (pair) { return pair.rank === RANKS.NVL; })) {
      found.push(finding("info", "nvlink-hides", language));
    }
    if (any(devices, function (device) { return device.type === "gpu" && !device.numa; })) {
      found.push(finding("info", "numa-missing", language));
    }
    return found;
  }

  topo.decodeMatrix = decodeMatrix;
})(this.topoDecoder = this.topoDecoder || {});
