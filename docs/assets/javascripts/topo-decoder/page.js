/**
 * Topology decoder: the page. Fills each `.topo-decoder` with a text area, buttons and a result.
 *
 * Without script the note's own paragraph stays. Nothing leaves the page. Everything shown goes
 * through textContent, so pasted text is never read as HTML.
 */
(function (topo) {
  "use strict";

  var LABELS = topo.LABELS, MAX_CHARACTERS = topo.MAX_CHARACTERS, table = topo.table,
    each = topo.each, map = topo.map, filter = topo.filter, contains = topo.contains,
    say = topo.say, InputError = topo.InputError, rate = topo.rate, runs = topo.runs,
    listing = topo.listing, ofType = topo.ofType, readXml = topo.readXml,
    pairNames = topo.pairNames, decodeMatrix = topo.decodeMatrix,
    decodeGraphs = topo.decodeGraphs, decodeTopology = topo.decodeTopology;

  var WIDE_BLANKS = /[\u1680\u2000-\u200a\u202f\u205f]/g;
  /** Control characters, marks of direction and of no width: never part of a name. */
  var INVISIBLE =
    /[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f]/g;

  /** Decode a matrix, a topology file or a graph file; throws InputError for anything else. */
  function decode(text, language) {
    if (text.length > MAX_CHARACTERS) {
      throw new InputError(say(language, "error-long", MAX_CHARACTERS));
    }
    text = text.replace(/\r\n/g, "\n").replace(/\r/g, "\n").replace(/\x1b\[[0-9;]*[A-Za-z]/g, "");
    text = text.replace(WIDE_BLANKS, " ").replace(INVISIBLE, "");
    var bare = text.replace(/^[ \t\r\f\v\u00a0\u3000\ufeff\n]+/, "");
    if (!bare) {
      throw new InputError(say(language, "error-empty"));
    }
    if (bare.charAt(0) === "<") {
      var top = readXml(text, language);
      if (top.name === "system") {
        return decodeTopology(top, language);
      }
      if (top.name === "graphs") {
        return decodeGraphs(top, language);
      }
      throw new InputError(say(language, "error-root", top.name));
    }
    if (contains(text, "NCCL INFO") && contains(text, "=== System")) {
      throw new InputError(say(language, "error-log"));
    }
    return decodeMatrix(text, language);
  }

  /** Two sockets, on each two PCIe switches with two GPUs and one NIC; made up. */
  var EXAMPLE = (function () {
    var names = ["GPU0", "GPU1", "GPU2", "GPU3", "NIC0", "NIC1"];
    var nodes = [0, 0, 1, 1, 0, 1];
    var lines = ["\t" + names.join("\t") + "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID"];
    each(names, function (name, i) {
      var cells = map(names, function (other, j) {
        return i === j ? " X " : nodes[i] !== nodes[j] ? "SYS" : i < 4 && j < 4 ? "PIX" : "NODE";
      });
      var after = i > 3 ? "" : nodes[i] ? "\t32-63\t1\t\tN/A" : "\t0-31\t0\t\tN/A";
      lines.push(name + "\t" + cells.join("\t") + after);
    });
    return lines.concat(["", "NIC Legend:", "", "  NIC0: mlx5_0", "  NIC1: mlx5_1", ""]).join("\n");
  })();

  function start(container, index, language) {
    var at = language === "zh" ? 0 : 1;
    var id = "topo-decoder-" + index;

    function make(tag, text, attributes) {
      var element = document.createElement(tag);
      if (text) {
        element.textContent = text;
      }
      for (var key in attributes || {}) {
        element.setAttribute(key, attributes[key]);
      }
      return element;
    }

    function fill(parent, children) {
      each(children, function (child) { parent.appendChild(child); });
      return parent;
    }

    function grid(caption, titles, rows) {
      var box = make("div", "", { "class": "md-typeset__scrollwrap" });
      box.style.overflowX = "auto";
      var result = make("table");
      result.appendChild(make("caption", caption));
      var top = make("tr");
      each(titles, function (title) { top.appendChild(make("th", title, { scope: "col" })); });
      result.appendChild(fill(make("thead"), [top]));
      var body = make("tbody");
      each(rows, function (row) {
        body.appendChild(fill(make("tr"), map(row, function (cell, i) {
          return i ? make("td", cell) : make("th", cell, { scope: "row" });
        })));
      });
      result.appendChild(body);
      box.appendChild(result);
      return box;
    }

    function byCode(pairs) {
      var rows = [];
      each(pairs, function (pair) {
        var row = filter(rows, function (other) { return other.code === pair.code; })[0];
        if (!row) {
          row = { code: pair.code, rank: pair.rank, at: rows.length, pairs: [] };
          rows.push(row);
        }
        row.pairs.push(pair);
      });
      rows.sort(function (x, y) { return x.rank - y.rank || x.at - y.at; });
      return rows;
    }

    function showDevices(record, place) {
      var comma = say(language, "comma");
      var label = table();
      each(record.devices, function (device) { label[device.name] = device.label; });
      var between = filter(record.pairs, function (pair) { return pair.kinds === "gpu-gpu"; });
      var withSpeed = record.kind === "topology";
      var rows = map(byCode(between), function (row) {
        var all = row.pairs.length === between.length;
        var key = row.pairs.length === 1 ? "one-pair" : all ? "all-pairs" : "n-pairs";
        var amount = say(language, key, row.pairs.length);
        var cells = [row.code || "?", row.pairs[0].text];
        if (withSpeed) {
          var speeds = [];
          each(row.pairs, function (pair) {
            if (!contains(speeds, rate(pair.bandwidth))) { speeds.push(rate(pair.bandwidth)); }
          });
          cells.push(speeds.join(" "));
        }
        return cells.concat([all ? amount : amount + comma + pairNames(row.pairs, language)]);
      });
      var titles = [LABELS.code[at], LABELS.meaning[at]];
      titles = titles.concat(withSpeed ? [LABELS.speed[at]] : [], [LABELS.pairs[at]]);
      if (rows.length) {
        place.appendChild(grid(say(language, "head-gpu"), titles, rows));
      }
      if (record.nearest.length) {
        place.appendChild(grid(
          say(language, "head-best"),
          ["GPU", LABELS.nics[at], LABELS.code[at], LABELS.shared[at]],
          map(record.nearest, function (row) {
            var named = map(row.nics, function (nic) {
              return label[nic] === nic ? nic : nic + " (" + label[nic] + ")";
            });
            return [row.gpu, named.join(" "), row.code, listing(row.shared, language)];
          })
        ));
      }
      if (record.hca) {
        place.appendChild(make("p", say(language, "hca", record.hca)));
      }
      function list(title, lines) {
        if (lines.length) {
          place.appendChild(make("p", title + say(language, "colon")));
          place.appendChild(fill(make("ul"), map(lines, function (line) { return make("li", line); })));
        }
      }
      list(say(language, "head-switch"), map(record.groups["switch"], function (group) {
        return runs(group).join(" ");
      }));
      list(say(language, "head-numa"), map(record.groups.numa, function (group) {
        return say(language, "node", group.node) + say(language, "colon") + runs(group.devices).join(" ");
      }));
      if (record.hops) {
        place.appendChild(grid(say(language, "head-hops"), ["", LABELS.way[at]],
          map(record.hops, function (row) {
            return [row.device, map(row.hops, function (hop) {
              return hop.to + " (" + rate(hop.bandwidth) + ")";
            }).join(comma)];
          })));
      }
    }

    function showGraphs(record, place) {
      var titles = [LABELS.graph[at], LABELS.channels[at], LABELS.each[at], LABELS.total[at]];
      titles = titles.concat([LABELS.inside[at], LABELS.order[at]]);
      place.appendChild(grid(say(language, "head-graphs"), titles, map(record.graphs, function (graph) {
        var orders = map(graph.orders, function (order) {
          return order.order + " (" + order.count + ")";
        });
        var used = graph.channels > 0;
        return [
          graph.name + " (" + graph.pattern + ")", String(graph.channels),
          used ? rate(graph.intra) : "", used ? rate(graph.total) : "",
          used ? graph.type_intra : "",
          used ? orders.join(say(language, "semicolon")) : say(language, "graph-unused")
        ];
      })));
    }

    function show(record, place) {
      place.appendChild(make("p", say(language, "head-findings") + say(language, "colon")));
      var items = map(record.findings, function (item) {
        var line = make("li");
        line.appendChild(make("strong", LABELS[item.level][at]));
        line.appendChild(document.createTextNode(say(language, "colon") + item.text));
        return line;
      });
      if (items.length) {
        place.appendChild(fill(make("ul"), items));
      } else {
        place.appendChild(make("p", say(language, "none")));
      }
      (record.kind === "graph" ? showGraphs : showDevices)(record, place);
    }

    var area = make("textarea", "", {
      id: id + "-text", rows: "10", spellcheck: "false", autocomplete: "off", wrap: "off",
      "aria-describedby": id + "-privacy"
    });
    area.style.width = "100%";
    area.style.boxSizing = "border-box";
    area.style.font = "0.64rem/1.5 var(--md-code-font-family, monospace)";
    area.style.color = "var(--md-code-fg-color, inherit)";
    area.style.background = "var(--md-code-bg-color, transparent)";
    area.style.border = "1px solid var(--md-default-fg-color--light, currentColor)";
    area.style.padding = "0.4rem";
    var status = make("p", "", { role: "status", "aria-live": "polite", "class": "topo-decoder__status" });
    var place = make("div", "", {
      role: "region", "aria-label": LABELS.result[at], "class": "topo-decoder__result"
    });
    place.style.overflowWrap = "anywhere";
    status.style.overflowWrap = "anywhere";
    place.hidden = true;

    function clear() {
      place.textContent = "";
      place.hidden = true;
      status.textContent = "";
    }

    function run() {
      clear();
      var record;
      try {
        record = decode(area.value, language);
        show(record, place);
      } catch (error) {
        place.textContent = "";
        status.textContent = LABELS.failed[at] +
          (error instanceof InputError ? error.message : LABELS.crash[at]);
        return;
      }
      var line = [LABELS.done[at], say(language, "title-" + record.kind)];
      if (record.devices) {
        line.push(say(language, "count",
          ofType(record.devices, "gpu").length, ofType(record.devices, "nic").length));
      }
      status.textContent = line.join(" ");
      place.hidden = false;
    }

    function button(kind, action, primary) {
      var element = make("button", LABELS[kind][at], {
        type: "button", "class": "md-button" + (primary ? " md-button--primary" : "")
      });
      element.style.marginRight = "0.4rem";
      element.addEventListener("click", action);
      return element;
    }

    container.textContent = "";
    fill(container, [
      make("label", LABELS.label[at], { "for": area.id }),
      area,
      make("p", LABELS.privacy[at], { id: id + "-privacy" }),
      fill(make("p"), [
        button("decode", run, true),
        button("example", function () { area.value = EXAMPLE; run(); }),
        button("clear", function () { area.value = ""; clear(); area.focus(); })
      ]),
      status,
      place
    ]);
  }

  topo.decode = decode;

  if (typeof document !== "undefined") {
    var begin = function () {
      var language = /^zh/i.test(document.documentElement.lang) ? "zh" : "en";
      each(document.querySelectorAll(".topo-decoder"), function (container, index) {
        start(container, index, language);
      });
    };
    if (document.readyState === "loading") {
      document.addEventListener("DOMContentLoaded", begin);
    } else {
      begin();
    }
  }
})(this.topoDecoder = this.topoDecoder || {});
