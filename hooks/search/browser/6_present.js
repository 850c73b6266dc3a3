  /* ---- What a reader sees of a result --------------------------------------------- */

  var EXCERPT = 150;        /* characters of an excerpt, about */

  /* Whether a word may begin at `at` of the text as written. */
  function begins(text, folded, at) {
    var before = folded.charCodeAt(at - 1), first = text.charAt(at), old = text.charAt(at - 1);
    if (at === 0 || !isPlain(before)) { return true; }
    if (/[0-9]/.test(first)) { return !/[0-9.]/.test(old); }
    if (/[0-9]/.test(old)) { return true; }
    return /[A-Z]/.test(first) && (/[a-z]/.test(old) || /[a-z]/.test(text.charAt(at + 1)));
  }

  /* Places to mark in a text: sorted, apart, [[from, to], ...]. */
  function places(text, folded, patterns) {
    var found = [], merged = [], match, i;
    patterns.forEach(function (one) {
      var count = 0;
      one.pattern.lastIndex = 0;
      while ((match = one.pattern.exec(folded)) && count < 50) {
        if (!match[0]) { one.pattern.lastIndex += 1; continue; }
        count += 1;
        if (one.han || begins(text, folded, match.index)) {
          found.push([match.index, match.index + match[0].length]);
        }
        if (!one.han) { one.pattern.lastIndex = match.index + 1; }
      }
    });
    found.sort(function (a, b) { return a[0] - b[0] || b[1] - a[1]; });
    for (i = 0; i < found.length; i++) {
      if (merged.length && found[i][0] <= merged[merged.length - 1][1]) {
        merged[merged.length - 1][1] = Math.max(merged[merged.length - 1][1], found[i][1]);
      } else {
        merged.push([found[i][0], found[i][1]]);
      }
    }
    return merged;
  }

  var ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "\t": " \u00b7 " };
  var SIGNS = new RegExp("[&<>\"\\t" + CODE_OPEN + CODE_CLOSE + NOTE + "]", "g");

  /* HTML of a piece of text with places marked; code between its signs becomes <code>. */
  function markup(text, marks, from, to) {
    /* Code that began before the piece. */
    var inCode = from > 0 && text.lastIndexOf(CODE_OPEN, from - 1) > text.lastIndexOf(CODE_CLOSE, from - 1);
    var html = inCode ? "<code>" : "", at = from, i, start, end;
    function piece(until, open, close) {
      var inner = text.slice(at, until).replace(SIGNS, function (sign) {
        if (sign === CODE_OPEN && !inCode) { inCode = true; return close + "<code>" + open; }
        if (sign === CODE_CLOSE && inCode) { inCode = false; return close + "</code>" + open; }
        return ESCAPES[sign] || "";
      });
      at = until;
      html += open + inner + close;
    }
    for (i = 0; i < marks.length && marks[i][0] < to; i++) {
      start = Math.max(marks[i][0], from);
      end = Math.min(marks[i][1], to);
      if (end > start) {
        piece(start, "", "");
        piece(end, "<mark>", "</mark>");
      }
    }
    piece(to, "", "");
    if (inCode) { html += "</code>"; }
    return html.replace(/<mark><\/mark>/g, "");
  }

  function patternsFor(read, ways, index) {
    var patterns = [], seen = Object.create(null);
    function put(form, atoms, prefix, loose) {
      var han = isHan(form);
      if (seen[form] || patterns.length > 50) { return; }
      seen[form] = true;
      patterns.push({
        form: form, atoms: atoms, han: han, prefix: prefix, loose: loose,
        pattern: new RegExp(patternOf(form) + (han || prefix || /[^a-z]$/.test(form) ? "" : "(?![a-z])"), "g")
      });
    }
    ways.forEach(function (way) {
      var strong = way.atoms.some(function (number) { return read.atoms[number].weight >= 0.3; });
      if (!strong || (way.index !== index && !way.synonym && way.form !== read.atoms[way.atoms[0]].form)) {
        return;
      }
      if (way.prefix) { put(read.atoms[way.atoms[0]].form, way.atoms, true); }
      else { put(way.form, way.atoms, false, way.everyday || read.atoms[way.atoms[0]].weight < 0.5); }
    });
    return patterns;
  }

  var LABEL = 12;           /* characters of a line that is no sentence */
  /* The end of a sentence; a row that begins with code, and what leads to a list. */
  var SAID = /[.!?;\u3002\uff01\uff1f\uff1b]$/;
  var UNSAID = new RegExp("^" + CODE_OPEN + ".*\t|\t.*\\\\\\(|[:\uff1a]$");
  /* A formula, a line of code or the source of a diagram: nothing to begin a result with. */
  var RAW = new RegExp("^(?:" + CODE_OPEN + "[^" + CODE_CLOSE + "]*" + CODE_CLOSE + "|\\\\[\\[(].*|\\$\\$.*)$");

  /* The block of a section that meets most of the query, and where to begin in it. */
  Engine.prototype.excerpt = function (section, folds, patterns, read) {
    var text = section.text || (section.level === 1 ? section.page.extra.split("\n")[0] : "");
    var lines = text.split("\n"), best = null, line;
    var isCode = read.tokens.some(function (token) { return /_|[a-z][A-Z]|^-/.test(token.raw); });
    var all = (section.text ? folds : this.folder.text(text)).split("\n");
    /* A term or a calculator begins with what it is. */
    lines.slice(0, /^(?:term|calculator)$/.test(section.entry) ? 1 : 200).forEach(function (line, order) {
      var folded = all[order], met = Object.create(null), value = 0;
      if (!line) { return; }
      patterns.forEach(function (one) {
        one.pattern.lastIndex = 0;
        if (one.pattern.test(folded)) {
          one.atoms.forEach(function (number) {
            if (!met[number]) { value += read.atoms[number].weight * (one.prefix ? 0.8 : 1); }
            met[number] = true;
          });
        }
      });
      if (line.charAt(0) === NOTE) { value *= 0.5; }
      if (!isCode) {
        if (RAW.test(line)) { value = -1; }
        else if (UNSAID.test(line) || (line.length < 2 * LABEL && !SAID.test(line))) { value *= 0.5; }
      }
      if (!best || value > best.value) { best = { line: line, value: value, order: order }; }
    });
    /* Nothing but formulas and code, or a label above them: what the page is about. */
    if (best && (best.value < 0 || (best.value === 0 && best.line.length < LABEL))) {
      line = section.page.extra.split("\n")[0];
      best = line ? { line: line, order: 0 } : best;
      all = line ? [this.folder.text(line)] : all;
    }
    if (!best) { return ""; }
    var folded = all[best.order], marks = places(best.line, folded, patterns);
    var from = 0, to, cut, at;
    line = best.line;
    if (marks.length && line.length > EXCERPT) {
      at = marks[0][0];
      cut = Math.max(line.lastIndexOf("\u3002", at), line.lastIndexOf(". ", at), line.lastIndexOf("\uff1b", at));
      /* From the beginning of the sentence, when it is near, else of a word. */
      from = at - cut < 70 ? cut + 1 : at - 40 + line.slice(at - 40, at).search(/[^0-9A-Za-z\udc00-\udfff]|$/);
    }
    to = Math.min(line.length, from + EXCERPT);
    if (to < line.length) { to -= /[0-9A-Za-z\ud800-\udbff]{0,40}$/.exec(line.slice(from, to))[0].length; }
    return (from > 0 ? "\u2026" : "") + markup(line, marks, from, to).trim() +
      (to < line.length ? "\u2026" : "");
  };

  /* The words to mark on the page that opens: as they stand there, longest first. */
  function surfaces(text, folded, patterns) {
    var seen = Object.create(null), list = [];
    places(text, folded, patterns).forEach(function (place) {
      var form = text.slice(place[0], place[1]).replace(/[\ue000-\ue00f]/g, "").replace(/\s+/g, " ").trim();
      var key = form.toLowerCase();
      if (form && !seen[key] && list.length < 40) { seen[key] = true; list.push(form); }
    });
    list.sort(function (a, b) { return b.length - a.length; });
    return list.slice(0, 12);
  }

  Engine.prototype.present = function (hit, read) {
    var index = hit.index, section = index.sections[hit.number], page = section.page;
    var patterns = read.patterns[index.language] || patternsFor(read, hit.ways, index), title = section.title || page.title;
    var folded = this.folder.text(title), location = page.location, self = this, repairs = [];
    var missing = [], terms, texts;
    read.atoms.forEach(function (atom, number) {
      if (atom.repaired && hit.matched && hit.matched[number] && repairs.indexOf(atom.repaired) === -1) {
        repairs.push(atom.repaired);
      }
    });
    read.patterns[index.language] = patterns;
    texts = this.foldedText(index, hit.number);
    patterns = patterns.filter(function (one) {
      one.pattern.lastIndex = 0;
      return one.pattern.test(folded + "\n" + texts.text);
    });
    /* On the page, the words that were asked for; not what was asked with, nor what says about the same. */
    terms = surfaces(title + "\n" + section.text, folded + "\n" + texts.text,
      patterns.filter(function (one) { return !one.loose; }));
    /* Repairs as they are written there: ibv_post_send, not ibvpostsend. */
    repairs = repairs.map(function (form) {
      return terms.filter(function (term) { return flat(term, self.folder) === form; })[0] || form;
    });
    if (index.language !== read.language && page.fallback) { location = page.fallback; }
    read.tokens.forEach(function (token) {
      var i, any = false, heavy = false;
      for (i = token.first; i < token.after && i < read.atoms.length; i++) {
        any = any || hit.matched[i];
        heavy = heavy || read.atoms[i].weight >= 0.5;
      }
      if (!any && heavy && missing.indexOf(token.raw) === -1) { missing.push(token.raw); }
    });
    return {
      location: location + (section.anchor ? "#" + section.anchor : ""),
      page: location,
      key: page.key,
      number: hit.number,
      title: title,
      title_html: markup(title, places(title, folded, patterns), 0, title.length),
      page_title: page.title,
      breadcrumb: page.trail.concat(section.anchor ? [page.title] : [], section.path),
      path: section.path,
      trail: page.trail,
      tags: page.tags,
      kind: page.kind,
      mark: section.kind ? section.kind[0] : "",
      language: index.language,
      excerpt_html: self.excerpt(section, texts.text, patterns, read),
      terms: terms,
      score: Math.round(hit.score * 1000) / 1000,
      cover: hit.cover === undefined ? 1 : Math.round(hit.cover * 1000) / 1000,
      weak: hit.weak,
      repairs: repairs,
      missing: missing
    };
  };

  /* How the word being typed may go on: the whole word, or nothing. */
  Engine.prototype.suggest = function (query, language) {
    var index = this.indexes[language], word = /[^\s]*$/.exec(String(query))[0], form, found;
    if (!index || word.length < 2 || !/^[A-Za-z]+$/.test(word)) { return ""; }
    form = word.toLowerCase();
    found = index.prefixed(form, 1);
    return found.length ? word + index.names[found[0]].slice(form.length) : "";
  };
