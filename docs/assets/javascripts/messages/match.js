/*
 * Knows the messages that programs print: finds them in lines of a log, and ranks them for what
 * somebody types of one. The rows are those of assets/messages.<language>.js (hooks/pages/messages.py).
 */
(function (messages) {
  "use strict";

  var WORD = /[A-Za-z0-9_]+/g;
  /* `{5}` is a place with an example, `{5|6}` takes these alone, `{{` is a brace. */
  var PLACE = /(\{\{|\}\}|\{[^{}]*\})/;

  function escaped(text) {
    return text.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&").replace(/\s+/g, "\\s+");
  }

  /* Of a text: what finds it, the line that it is an example of, and what never varies with `\0` for the rest. */
  function compile(text) {
    var source = "", line = "", fixed = "";
    text.split(PLACE).forEach(function (part, at) {
      var inner = part.slice(1, -1).split("|");
      if (at % 2 === 0 || inner[0] === "" && part.length === 2 && part !== "{}") {
        part = at % 2 ? part.charAt(0) : part;
        source += escaped(part);
        line += part;
        fixed += part;
      } else {
        source += inner.length > 1 ? "(?:" + inner.map(escaped).join("|") + ")(?![A-Za-z0-9])" : ".{0,120}?";
        line += inner[0];
        fixed += "\0";
      }
    });
    return { test: new RegExp(source), line: line, fixed: fixed };
  }

  /**
   * Make a table of rows for `find` and `rank`.
   * In: rows of {id, product, texts, …}, which get their `lines`. Out: {find, rank}, which give rows back.
   */
  messages.table = function (rows) {
    var patterns = [], often = Object.create(null), byWord = Object.create(null), always = [];

    rows.forEach(function (row) {
      var own = Object.create(null);
      row.lines = row.texts.map(function (text) {
        var one = compile(text);
        patterns.push({ row: row, test: one.test, length: one.fixed.length, text: one.fixed });
        (one.fixed.toLowerCase().match(WORD) || []).forEach(function (word) { own[word] = true; });
        return one.line;
      });
      row.texts.concat(row.product).forEach(function (line) {
        (line.toLowerCase().match(WORD) || []).forEach(function (word) { own[word] = own[word] || false; });
      });
      row.words = own;
      Object.keys(own).forEach(function (word) { often[word] = (often[word] || 0) + 1; });
    });
    /* Each pattern is tried on lines that hold its rarest whole word. */
    patterns.forEach(function (one) {
      var whole = one.text.replace(/\w*\0\w*/g, " ").match(WORD) || [];
      var key = whole.sort(function (a, b) {
        return often[a.toLowerCase()] - often[b.toLowerCase()] || b.length - a.length;
      })[0];
      if (!key) { always.push(one); } else { (byWord[key] = byWord[key] || []).push(one); }
    });

    /** The row of a line, or null: where several fit, the one with the most that never varies. */
    function find(line) {
      var best = null;
      function attempt(one) {
        if ((!best || one.length > best.length) && one.test.test(line)) { best = one; }
      }
      always.forEach(attempt);
      (line.match(WORD) || []).forEach(function (word) {
        if (byWord[word]) { byWord[word].forEach(attempt); }
      });
      return best && best.row;
    }

    /* What no message has counts as little against all of them: it is the reader's own word. */
    function weight(word) {
      return often[word] ? Math.log(1 + rows.length / often[word]) : 2;
    }

    /**
     * The rows that what is typed is likely to be of, best first: a whole line, or enough of the
     * words that few others have. Words of a question ("why", 怎么办) say nothing here.
     */
    function rank(query) {
      var whole = find(query), typed = Object.create(null), all = 0;
      (query.toLowerCase().match(WORD) || []).forEach(function (word) {
        if (!typed[word] && messages.COMMON.indexOf(word) < 0) { all += weight(word); typed[word] = weight(word); }
      });
      return rows.map(function (row) {
        var shared = 0, count = 0;
        Object.keys(typed).forEach(function (word) {
          if (row.words[word] === undefined) { return; }
          shared += typed[word] * (row.words[word] ? 1 : 0.6);
          count += 1;
        });
        var cover = all ? shared / all : 0, value = cover * shared;
        var isLike = count > 1 && shared >= 7 && (cover >= 0.9 || cover >= 0.5 && value >= 15);
        return { row: row, value: row === whole ? 100 : isLike ? value : 0 };
      }).filter(function (one) { return one.value; })
        .sort(function (a, b) { return b.value - a.value; });
    }

    return { find: find, rank: rank };
  };

  /** For each row its lines that are taken for another's: [line, id of the other]. */
  messages.mistaken = function (rows) {
    var table = messages.table(rows);
    return rows.map(function (row) {
      return row.lines.map(function (line) { return [line, (table.find(line) || row).id]; })
        .filter(function (found) { return found[1] !== row.id; });
    });
  };

  messages.COMMON = ("a an and are as at be by can do does for from get got has have how i in is it my no not of " +
    "on or still that the then there this to what when where which why will with you").split(" ");
})(this.handbookLog = this.handbookLog || {});
