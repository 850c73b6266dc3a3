/** Topology decoder: small helpers, devices and pairs, and a reader of XML. */
(function (topo) {
  "use strict";

  var MESSAGES = topo.MESSAGES;

  var MAX_CHARACTERS = 2000000;
  var MAX_DEVICES = 256;
  var MAX_DEPTH = 64;
  var UNKNOWN = 99;
  var RANKS = {
    NVL: 1, NVB: 2, C2C: 3, PIX: 4, PXB: 5, P2C: 6, PXN: 7, PHB: 8, NODE: 9, SYS: 10, NET: 11
  };
  var LEVELS = {
    NVL: "nvlink", NVB: "nvlink", C2C: "c2c", PIX: "switch", PXB: "switch",
    P2C: "c2c", PXN: "nvlink", PHB: "cpu", NODE: "cpu", SYS: "socket", NET: "network"
  };
  var P2P_LIMIT = RANKS.PXB;
  var GDR_LIMIT = RANKS.P2C;

  function has(object, key) {
    return Object.prototype.hasOwnProperty.call(object, key);
  }

  function table() {
    return Object.create(null);
  }

  function each(list, visit) {
    for (var i = 0; i < list.length; i++) {
      visit(list[i], i);
    }
  }

  function map(list, make) {
    var result = [];
    each(list, function (item, i) { result.push(make(item, i)); });
    return result;
  }

  function filter(list, keep) {
    var result = [];
    each(list, function (item, i) { if (keep(item, i)) { result.push(item); } });
    return result;
  }

  function any(list, test) {
    return filter(list, test).length > 0;
  }

  function contains(list, item) {
    return list.indexOf(item) >= 0;
  }

  /** The first characters of a text, never half of a pair of surrogates. */
  function head(text, count) {
    var end = 0;
    while (count > 0 && end < text.length) {
      var unit = text.charCodeAt(end);
      var next = text.charCodeAt(end + 1);
      end += unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000 ? 2 : 1;
      count -= 1;
    }
    return text.slice(0, end);
  }

  function say(language, key) {
    var text = MESSAGES[key][language === "zh" ? 0 : 1];
    for (var i = 2; i < arguments.length; i++) {
      text = text.split("{" + (i - 2) + "}").join(String(arguments[i]));
    }
    return text;
  }

  /** An error whose message is meant for the reader. */
  function InputError(message) {
    this.name = "InputError";
    this.message = message;
  }
  InputError.prototype = Object.create(Error.prototype);

  function rate(value) {
    return (Math.floor(value * 10 + 0.5) / 10).toFixed(1);
  }

  function finding(level, rule, language) {
    var values = Array.prototype.slice.call(arguments, 3);
    return { level: level, rule: rule, text: say.apply(null, [language, rule].concat(values)) };
  }

  function baseCode(code) {
    if (/^NV[0-9]{1,2}$/.test(code)) {
      return "NVL";
    }
    return code === "SOC" ? "SYS" : code;
  }

  function rankOf(code) {
    return has(RANKS, code) ? RANKS[code] : UNKNOWN;
  }

  function makeDevice(name, kind, label, numa) {
    return { name: name, type: kind, label: label, cpus: "", numa: numa, virtual: false };
  }

  function runs(names) {
    var result = [];
    var run = [];
    var stem = "";
    each(names.concat([""]), function (name) {
      var match = /^([\s\S]*[^0-9])(0|[1-9][0-9]{0,8})$/.exec(name);
      if (match && run.length && match[1] === stem && +match[2] === run[run.length - 1] + 1) {
        run.push(+match[2]);
        return;
      }
      if (run.length > 2) {
        result.push(stem + run[0] + "-" + run[run.length - 1]);
      } else {
        each(run, function (number) { result.push(stem + number); });
      }
      run = [];
      if (match) {
        stem = match[1];
        run = [+match[2]];
      } else if (name) {
        result.push(name);
      }
    });
    return result;
  }

  function listing(names, language) {
    return runs(names).join(say(language, "join"));
  }

  function makePair(a, b, code, language) {
    var base = baseCode(code);
    var rank = rankOf(base);
    var kinds = a.type + "-" + b.type;
    var text, level;
    if (rank === UNKNOWN) {
      text = say(language, code ? "pair-unknown" : "pair-missing");
      level = "unknown";
    } else {
      text = say(language, "pair-" + base, code.slice(2));
      level = LEVELS[base];
    }
    var limit = kinds === "gpu-nic" ? GDR_LIMIT : P2P_LIMIT;
    return {
      a: a.name, b: b.name, kinds: kinds, code: code, level: level, rank: rank,
      direct: kinds === "nic-nic" ? null : rank <= limit, bandwidth: null, via: "", text: text
    };
  }

  function ofType(devices, kind) {
    return filter(devices, function (device) { return device.type === kind; });
  }

  function realNics(devices) {
    return map(
      filter(devices, function (device) { return device.type === "nic" && !device.virtual; }),
      function (device) { return device.name; }
    );
  }

  function Node(name, attributes, parent) {
    this.name = name;
    this.attributes = attributes;
    this.parent = parent;
    this.children = [];
  }
  Node.prototype.get = function (key, otherwise) {
    return key in this.attributes ? this.attributes[key] : otherwise === undefined ? "" : otherwise;
  };
  Node.prototype.named = function (name) {
    return filter(this.children, function (child) { return child.name === name; });
  };

  function readXml(text, language) {
    // A remark that is not closed is found too, lest each of many be looked for up to the end.
    text = text.replace(/<\?[^<]*?\?>|<!--[\s\S]*?(?:-->|($))/g, function (found, open) {
      return open === "" ? found : found.replace(/[^\n]/g, " ");
    });
    var tag = /<(\/?)([A-Za-z_][A-Za-z0-9_.-]*)((?:[^<>"']|"[^"<]*"|'[^'<]*')*)>/g;
    var attribute =
      /[ \t\r\n]+([A-Za-z_][A-Za-z0-9_.-]*)[ \t\r\n]*=[ \t\r\n]*(?:"([^"<]*)"|'([^'<]*)')/g;
    var top = null;
    var stack = [];
    var place = 0;
    var start;

    function wrong(at, what) {
      var line = text.slice(0, at).split("\n").length;
      return new InputError(say(language, "error-xml", line, head(what, 60)));
    }

    while ((start = text.indexOf("<", place)) >= 0) {
      tag.lastIndex = start;
      var match = tag.exec(text);
      if (!match || match.index !== start) {
        throw wrong(start, text.slice(start).split("\n")[0]);
      }
      place = start + match[0].length;
      if (match[1]) {
        if (!stack.length || stack[stack.length - 1].name !== match[2]) {
          throw wrong(start, "</" + match[2] + ">");
        }
        stack.pop();
        continue;
      }
      var inside = match[3];
      var empty = inside.charAt(inside.length - 1) === "/";
      var rest = (empty ? inside.slice(0, -1) : inside).replace(attribute, "");
      if (/[^ \t\r\n]/.test(rest) || (top && !stack.length) || stack.length === MAX_DEPTH) {
        throw wrong(start, match[0].split("\n")[0]);
      }
      var attributes = table();
      var pair;
      attribute.lastIndex = 0;
      while ((pair = attribute.exec(inside))) {
        attributes[pair[1]] = pair[2] || pair[3] || "";
      }
      var node = new Node(match[2], attributes, stack.length ? stack[stack.length - 1] : null);
      if (node.parent) {
        node.parent.children.push(node);
      } else {
        top = node;
      }
      if (!empty) {
        stack.push(node);
      }
    }
    if (!top || stack.length) {
      throw wrong(text.length, stack.length ? "</" + stack[stack.length - 1].name + ">" : "?");
    }
    return top;
  }

  function number(text, otherwise) {
    if (/^0[xX][0-9a-fA-F]{1,12}$/.test(text)) {
      return parseInt(text, 16);
    }
    if (/^-?[0-9]{1,15}(\.[0-9]{1,9})?$/.test(text)) {
      return parseFloat(text);
    }
    return otherwise === undefined ? 0 : otherwise;
  }

  function whole(value) {
    return value < 0 ? Math.ceil(value) : Math.floor(value);
  }

  topo.MAX_CHARACTERS = MAX_CHARACTERS;
  topo.MAX_DEVICES = MAX_DEVICES;
  topo.UNKNOWN = UNKNOWN;
  topo.RANKS = RANKS;
  topo.GDR_LIMIT = GDR_LIMIT;
  topo.has = has;
  topo.table = table;
  topo.each = each;
  topo.map = map;
  topo.filter = filter;
  topo.any = any;
  topo.contains = contains;
  topo.say = say;
  topo.InputError = InputError;
  topo.rate = rate;
  topo.finding = finding;
  topo.baseCode = baseCode;
  topo.rankOf = rankOf;
  topo.makeDevice = makeDevice;
  topo.runs = runs;
  topo.listing = listing;
  topo.makePair = makePair;
  topo.ofType = ofType;
  topo.realNics = realNics;
  topo.readXml = readXml;
  topo.number = number;
  topo.whole = whole;
})(this.topoDecoder = this.topoDecoder || {});
