/*
 * Knows the messages that programs print: finds them in lines of a log, ranks them for what somebody
 * types of one, and fetches what is said of them. The rows are those of assets/messages.<language>.js,
 * what is said lies in a folder of that name (hooks/pages/messages.py).
 */
(function (messages) {
  "use strict";

  var WORD = /[A-Za-z0-9_]+/g;
  /* Who asks what something is, how to do it or how two differ has no line of a program. */
  var QUESTION = /^(?:what (?:is|are)\b|什么是)(?!.*\d)|(?:是什么|\bwhat (?:is|does) it\b|\bvs\b)(?!.*\d)|\bdifference\b|区别|\bhow (?:to|do i|can i) (?!fix|solve|resolve|avoid|debug)|\bmeaning$/i;
  /* Han characters are a question's rather than a message's, unless something went wrong. */
  var TROUBLE = /报|错|失败|不生效|卡[住死在了\d]|xid|error|fail|denied|kill/i, HAN = /[\u4e00-\u9fff]/g, PER_HAN = 0.4;
  var LONG = 12;   // what the words of a line weigh before most of them are enough
  var folder = "";
  /* `{5}` is a place with an example, `{5|6}` takes these alone, `{{` is a brace. */
  var PLACE = /(\{\{|\}\}|\{[^{}]*\})/;

  function escaped(text) {
    return text.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&").replace(/\s+/g, "\\s+");
  }

  /* Of a text: what finds it (with or without its last mark), the line that it is an example of, and what never varies with `\0` for the rest. */
  function compile(text) {
    var source = "", line = "", fixed = "", taken = "";
    text.split(PLACE).forEach(function (part, at) {
      var inner = part.slice(1, -1).split("|");
      if (at % 2 === 0 || inner[0] === "" && part.length === 2 && part !== "{}") {
        part = at % 2 ? part.charAt(0) : part;
        source += escaped(part);
        line += part;
        fixed += part;
      } else {
        source += inner.length > 1 ? "(?:" + inner.map(escaped).join("|") + ")(?![A-Za-z0-9])" : ".{0,200}?";
        line += inner[0];
        fixed += "\0";
        taken += inner.length > 1 ? " " + inner.join(" ") : "";
      }
    });
    return { test: new RegExp(source.replace(/(?:\\?[.,:;!])+$/, "")), line: line, fixed: fixed, taken: taken };
  }

  function wordsOf(text) { return text.toLowerCase().match(WORD) || []; }

  /**
   * Make a table of rows for `find` and `rank`.
   * In: products of {title, page, rows: [{id, texts, …}]}; the rows get their `product`, `page` and
   * `lines`. Out: {rows, find, rank}, of which both give rows back.
   */
  messages.table = function (products) {
    var rows = [], patterns = [], often = Object.create(null), byWord = Object.create(null), always = [];

    products.forEach(function (product) {
      product.rows.forEach(function (row) {
        row.product = product.title;
        row.page = product.page + row.id;
        rows.push(row);
      });
    });
    rows.forEach(function (row) {
      var own = Object.create(null), taken = [];
      row.held = [];
      row.lines = row.texts.map(function (text) {
        var one = compile(text);
        patterns.push({ row: row, test: one.test, length: one.fixed.length, text: one.fixed });
        row.held.push(wordsOf(one.fixed));
        taken = taken.concat(wordsOf(one.taken));
        return one.line;
      });
      wordsOf(row.texts.concat(row.product).join(" ")).forEach(function (word) { own[word] = 0.6; });
      taken.concat.apply(taken, row.held).forEach(function (word) { own[word] = 1; });
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

    /* What no message has counts little: it is the reader's own word. */
    function weight(word) {
      return often[word] ? Math.log(1 + rows.length / often[word]) : 2;
    }

    function sum(words) { return words.reduce(function (all, word) { return all + weight(word); }, 0); }

    /**
     * The rows that what is typed is likely to be of, best first: a whole line; or most of a line; or
     * enough of the words that few others have. Words of a question ("why", 怎么办) say nothing here,
     * numbers alone are no line, and a question has none.
     */
    function rank(query) {
      var whole = find(query), typed = wordsOf(query).filter(function (word, at, all) {
        return messages.COMMON.indexOf(word) < 0 && all.indexOf(word) === at;
      });
      var asked = sum(typed) + (TROUBLE.test(query) ? 0 : PER_HAN * (query.match(HAN) || []).length) || 1;
      return rows.map(function (row) {
        var own = typed.filter(function (word) { return row.words[word]; });
        var shared = own.reduce(function (all, word) { return all + weight(word) * row.words[word]; }, 0);
        var cover = shared / asked, held = own.length < 2 ? 0 : Math.max.apply(null, row.held.map(function (words) {
          return sum(words) < LONG ? 0 : sum(words.filter(function (word) { return own.indexOf(word) >= 0; })) / sum(words);
        }));
        var isLike = own.length > 1 && own.some(isNaN) && shared >= 9.3 && !QUESTION.test(query) &&
          (cover >= 0.9 || cover >= 0.5 && cover * shared >= 15.5 || held >= 0.85);
        return { row: row, value: row === whole ? 100 : isLike ? shared * Math.max(cover, held) : 0 };
      }).filter(function (one) { return one.value; })
        .sort(function (a, b) { return b.value - a.value; });
    }

    return { rows: rows, find: find, rank: rank };
  };

  /** For each row of products its lines that are taken for another's: [line, id of the other]. */
  messages.mistaken = function (products) {
    var table = messages.table(products);
    return table.rows.map(function (row) {
      return row.lines.map(function (line) { return [line, (table.find(line) || row).id]; })
        .filter(function (found) { return found[1] !== row.id; });
    });
  };

  /**
   * Give rows what is said of them (means, causes, first, note), which a script of each product holds
   * beside the one of the rows, then call `done`; what cannot be loaded stays empty.
   */
  messages.tell = function (rows, done) {
    var known = window.handbookMessages.told, left = 1;
    folder = folder || document.querySelector("script[src*='assets/messages.']").src.replace(/\.js$/, "/");
    function fileOf(row) { return row.page.replace(/^messages\/|\.html.*$/g, ""); }
    function arrived() {
      left -= 1;
      if (left) { return; }
      rows.forEach(function (row) {
        var told = (known[fileOf(row)] || {})[row.id] || { means: "", causes: [], first: "", note: row.page };
        Object.keys(told).forEach(function (key) { row[key] = told[key]; });
      });
      done();
    }
    rows.map(fileOf).forEach(function (name, at, all) {
      if (known[name] || all.indexOf(name) !== at) { return; }
      var script = document.createElement("script");
      left += 1;
      script.src = folder + name + ".js";
      script.onload = script.onerror = arrived;
      document.head.appendChild(script);
    });
    arrived();
  };

  messages.COMMON = ("a an and are as at be by can do does for from get got has have how i in is it my no not of " +
    "on or still that the then there this to what when where which why will with you").split(" ");
})(this.handbookLog = this.handbookLog || {});
