/*
 * Reads a whole log: the messages it knows, in the order of the log and each once; which failure was
 * first; and what such logs tell anyway. Nothing here touches the page, stores or sends anything.
 */
(function (messages) {
  "use strict";

  var MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
  var MOST_UNKNOWN = 8;
  var COLOUR = /\x1b\[[0-9;]*[A-Za-z]|\[\d{1,2}(?:;\d+)*m/g;   // some copies lose the first character
  var LOOKS_BAD = /\b(?:error|fatal|failed|failure|exception|warn(?:ing)?|abort(?:ed)?|killed|assert\w*|cannot|couldn't|could not|unable to|denied|refused|not found|is dead|out of memory|unknown authority)\b|[a-z](?:Error|Exception)(?:\b|_)|\bE\d{4} |\bXid\b/i;
  /* A line of code in a traceback says nothing of what happened; its frames are no errors, though some loggers print them with their level. */
  var CODE = /(?:^ {2,}|[\])│|]:? +)(?:raise \w+|warnings\.warn\(|assert )/;
  var FRAME = /Traceback \(most recent|During handling of|The above exception was|\bFile "|[\])│|]:? {3,}\S/;
  /* A counter at nought, behind words ("KeyError: 0" is an error), the name of a capability, and that of a logger (uvicorn.error). */
  var SOUND = /\w +[A-Z]?[a-z_]+ *[:=] *(?:0|[Nn]o(?:ne)?|N\/A|[Ff]alse)\s*$|Error Reporting|\bINFO\b.*\w\.error\b|\w\.error\b.*\bINFO\b/;
  /* Who printed a line: torchrun, Lightning, srun -l, mpirun, a logger, NCCL. */
  var RANKS = [
    /\[(?:rank|Rank |default|RANK )(\d+)\]/, /\brank[ :=]+(\d+)\b/i, /^\s*(\d{1,5}): /, /^\[\d+,(\d+)\]<std/, /^\(\w+ (pid=\d+)/,
    /^([\w.-]+:\d+):\d+ \[\d+\] NCCL /
  ];
  /* When: month, day and time by the clock, without the year, which only some programs print; and the kernel's own. */
  var CLOCKS = [
    /\b(?:\d{4}[-\/])?(\d\d)[-\/](\d\d)[T -](\d\d:\d\d:\d\d(?:[.,]\d+)?)/, /\b[IWEF](\d{1,2})(\d\d) (\d\d:\d\d:\d\d\.\d+)/,
    /\b([JFMASOND][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d(?:\.\d+)?)/
  ];

  function rankOf(line) {
    return RANKS.reduce(function (rank, one) { return rank || (one.exec(line) || ["", ""])[1]; }, "");
  }

  function padded(number, to) { return ("0000000000" + number).slice(-to); }

  /* A kind, as only stamps of one can be compared, and a text that sorts as time does. */
  function timeOf(line) {
    for (var at = 0; at < CLOCKS.length; at++) {
      var found = CLOCKS[at].exec(line);
      if (found) {
        var month = at === 2 ? MONTHS.indexOf(found[1]) / 4 + 1 : found[1];
        return { kind: "clock", text: found[0], sorts: padded(month, 2) + padded(found[2], 2) + found[3].replace(",", ".") };
      }
    }
    found = /^\[ *(\d+\.\d{6})\]/.exec(line);
    return found && { kind: "kernel", sorts: padded(found[1], 17), text: found[0] };
  }

  /* "0 to 3, 7" of a set of ranks; names that are no numbers stay as they are. */
  messages.ranges = function (ranks, to) {
    var names = Object.keys(ranks), numbers = names.filter(function (one) { return /^\d+$/.test(one); }).map(Number);
    var said = [];
    numbers.sort(function (a, b) { return a - b; }).forEach(function (one) {
      var last = said[said.length - 1];
      if (last && last[1] === one - 1) { last[1] = one; } else { said.push([one, one]); }
    });
    return said.map(function (pair) { return pair[0] === pair[1] ? pair[0] : pair[0] + to + pair[1]; })
      .concat(names.filter(function (one) { return !/^\d+$/.test(one); })).join(", ");
  };

  /* How many letters have to change to make one word of another; at most 3 are counted. */
  function steps(a, b) {
    if (Math.abs(a.length - b.length) > 2) { return 3; }
    var row = [], next, i, j;
    for (j = 0; j <= b.length; j++) { row[j] = j; }
    for (i = 1; i <= a.length; i++) {
      next = [i];
      for (j = 1; j <= b.length; j++) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      }
      row = next;
    }
    return row[b.length];
  }

  /** The variable of NCCL that a name was meant to be: itself, the nearest, or "" where none is near. */
  messages.meant = function (name, known) {
    if (known.indexOf(name) >= 0 || !known.length) { return name; }
    return known.map(function (one) { return [steps(name, one), one]; })
      .sort(function (a, b) { return a[0] - b[0]; })
      .filter(function (one) { return one[0] < 3; }).map(function (one) { return one[1]; })[0] || "";
  };

  /* What logs of NCCL say beside messages, by what it is; each with how often it was said. */
  var TOLD = [
    ["version", /NCCL version ([\w.+-]+)/], ["network", /Using network (.+?)\s*$/],
    ["device", /NET\/\w+ ?: Using (.+?)\s*$/],
    ["transport", /\bChannel [\d\/]+ ?: .* via (\S+)/],
    ["algorithm", /(\w+): \d+ Bytes -> Algo (\w+) proto (\w+)/],
    ["driver", /Driver Version: ?([\d.]+)/], ["cuda", /CUDA Version: ?([\d.]+)/]
  ];

  function listen(line, told, known) {
    TOLD.forEach(function (one) {
      var found = one[1].exec(line);
      if (!found) { return; }
      var value = found.slice(1).join(" ");
      if (one[0] === "transport") { value = value.replace(/\/\d+(?=\/|$)/g, "").replace(/\(\d+\)/g, ""); }
      var said = told[one[0]] = told[one[0]] || Object.create(null);
      said[value] = (said[value] || 0) + 1;
    });
    var set = /\b(NCCL_[A-Z0-9_]+)(?: set by environment to |=)(\S*)/.exec(line);
    if (set) {
      told.variables = told.variables || Object.create(null);
      told.variables[set[1]] = { value: set[2].replace(/\.$/, ""), meant: messages.meant(set[1], known) };
    }
  }

  /**
   * Read a log.
   * In: its text, a table of messages (match.js), the variables that NCCL knows. Out: {lines, hits:
   * [{row, line, text, count, ranks, times}], first, when, told, unknown: [{line, text, count}], matrix};
   * `when` is the time stamp by which `first` is first, or null where lines alone tell.
   */
  messages.read = function (text, table, known) {
    var hits = [], byId = Object.create(null), unknown = Object.create(null), told = Object.create(null);
    var lines = text.split(/\r\n|\n|\r/), seen = Object.create(null), last = null;
    lines.forEach(function (raw, at) {
      var line = raw.replace(COLOUR, "").slice(0, 2000);
      if (line.indexOf("NCCL") >= 0 || line.indexOf("Version") >= 0) { listen(line, told, known); }
      var row = !CODE.test(line) && table.find(line), rank, time = timeOf(line);
      last = time || last;   // a line without a stamp is of the time of the one before
      if (row) {
        var hit = byId[row.id];
        if (!hit) {
          hit = byId[row.id] = { row: row, line: at + 1, text: line.trim(), count: 0, ranks: Object.create(null) };
          hits.push(hit);
        }
        hit.count += 1;
        if ((rank = rankOf(line))) { hit.ranks[rank] = true; }
        if (last) {
          time = { kind: last.kind, text: last.text, sorts: last.sorts + " " + padded(at, 10) };   // of two, the upper
          hit.times = hit.times || Object.create(null);
          var before = hit.times[time.kind];
          if (!before || time.sorts < before.sorts) { hit.times[time.kind] = time; }
        }
      } else if (LOOKS_BAD.test(line) && ![FRAME, CODE, SOUND].some(function (one) { return one.test(line); })) {
        var plain = line.replace(/\d+/g, "0").trim();
        if (!seen[plain] && Object.keys(unknown).length < MOST_UNKNOWN) {
          unknown[plain] = { line: at + 1, text: line.trim(), count: 0 };
        }
        seen[plain] = true;
        if (unknown[plain]) { unknown[plain].count += 1; }
      }
    });
    var failures = hits.filter(function (one) { return one.row.role === "failure"; });
    function at(kind) { return failures.filter(function (one) { return one.times && one.times[kind]; }); }
    var kind = at("clock").length ? "clock" : "kernel", timed = at(kind);
    var first = timed.reduce(function (a, b) { return b.times[kind].sorts < a.times[kind].sorts ? b : a; }, timed[0]) || failures[0] || null;
    var matrix = /^[^\n]*\bGPU0\b[^\n]*\bGPU1\b[\s\S]*?(?=\n\s*\n|$(?![\s\S]))/m.exec(text);
    return {
      lines: lines.length, hits: hits, first: first, when: first && timed.length ? first.times[kind] : null,
      told: told, unknown: Object.keys(unknown).map(function (one) { return unknown[one]; }),
      matrix: matrix && /^\s*GPU0\s+X\b/m.test(matrix[0]) ? matrix[0] : ""
    };
  };
})(this.handbookLog = this.handbookLog || {});
