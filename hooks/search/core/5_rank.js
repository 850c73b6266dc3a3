  /* ---- Ranking ------------------------------------------------------------------- */

  var CANDIDATES = 120;     /* sections whose title is looked at */
  var READ = 48;            /* sections whose text is looked at */
  var MAX_CHECKED = 400;    /* texts looked at for one alternative */
  var LEAST_COVER = 0.42;   /* of the weight of what is asked; below, nothing is shown */
  /* "References" and the like, in both languages: they name things without explaining them. */
  var REFERENCES = new RegExp("^(?:\u53c2\u8003(?:\u8d44\u6599|\u6587\u732e|\u94fe\u63a5)?" +
    "(?:\u4e0e\u6ce8\u91ca)?|\u5916\u90e8\u94fe\u63a5|\u5ef6\u4f38\u9605\u8bfb|\u6269\u5c55\u9605\u8bfb|" +
    "references|bibliography|see also|further reading|external links)$", "i");
  var LEAST_SCORE = 0.03;   /* of the best section's score; below, nothing is shown */
  var FOREIGN = 0.4;        /* for a section that the reader's language lacks */
  var MIX_TITLE = 0.9;      /* what a title that holds the query adds */
  var MIX_ABOVE = 0.7;      /* the same for the page's title and the section's together */
  var MIX_PHRASE = 0.25;    /* runs of the query as typed */
  var MIX_BLOCK = 0.5;      /* one paragraph that holds the query */
  var MIX_HEADING = 0.45;   /* a row or definition that begins with a word of the query */
  var MIX_PAGE = 1.5;       /* all sections of the page together hold the query */
  var MIX_COVER = 0.75;     /* how much it counts that the section holds all of the query */
  var LESS_STOCK = 0.9;     /* sections that many pages have */
  var LONE = 0.35;           /* weight of a character whose pairs nothing meets */

  function Engine() {
    this.folder = new Folder();
    this.indexes = Object.create(null);
    this.raw = {};
    this.synonyms = null;
    this.sounds = null;
    this.pool = [];
    this.texts = Object.create(null);
    this.textCount = 0;
  }

  /* tables: {simple: "tsts...", sounds: ["syllable chars", ...], groups: [...]}; before add. */
  Engine.prototype.tables = function (tables) {
    var i, pairs = tables.simple || "";
    for (i = 0; i + 1 < pairs.length; i += 2) {
      this.folder.simple[pairs.charAt(i)] = pairs.charAt(i + 1);
    }
    this.folder.to = new Uint16Array(65536);
    this.sounds = null;
    this.synonyms = null;
    this.raw = tables;
  };

  /* The tables as they are used: made with the first query, and with the first repair. */
  Engine.prototype.sounding = function () {
    if (!this.sounds) { this.sounds = soundsOf(this.raw.sounds || []); }
    return this.sounds;
  };

  Engine.prototype.meaning = function () {
    if (!this.synonyms) { this.synonyms = readGroups(this.raw.groups || [], this.folder); }
    return this.synonyms;
  };

  Engine.prototype.add = function (part) {
    check(part);
    if (!this.indexes[part.language]) {
      this.indexes[part.language] = new Index(part.language, this.folder);
    }
    this.indexes[part.language].add(part);
    this.texts = Object.create(null);
  };

  function check(part) {
    if (part.format !== 1) { throw new Error("search index of another format: " + part.format); }
  }

  /* An engine that knows titles and tags only, soon made, for the time until this one is ready. */
  Engine.prototype.titles = function (parts) {
    var early = new Engine();
    early.tables({ simple: this.raw.simple });
    parts.forEach(function (part) {
      var index = early.indexes[part.language];
      check(part);
      if (!index) { index = early.indexes[part.language] = new Index(part.language, early.folder); }
      index.advance(index.start(part), Infinity, true);
    });
    return early;
  };

  /*
   * Reads the parts of one language a little at a time: a function to be called until it
   * returns true. Until then the language is not searched.
   */
  Engine.prototype.gradually = function (parts, characters) {
    var index = new Index(parts[0].language, this.folder), self = this, number = 0, place = null;
    parts.forEach(check);
    return function () {
      if (number < parts.length) {
        place = place || index.start(parts[number]);
        if (index.advance(place, characters, false)) { number += 1; place = null; }
        return false;
      }
      index.close();
      self.indexes[index.language] = index;
      self.texts = Object.create(null);
      return true;
    };
  };

  Engine.prototype.close = function () {
    for (var language in this.indexes) { this.indexes[language].close(); }
  };

  /* A section's title and text as they are compared: folded, kept for a while. */
  Engine.prototype.folded = function (index, number) {
    var key = index.language + number, known = this.texts[key], section;
    if (known) { return known; }
    if (this.textCount > 600) { this.texts = Object.create(null); this.textCount = 0; }
    section = index.sections[number];
    known = this.texts[key] = {
      title: this.folder.text(section.title), text: null, blocks: null,
      above: this.folder.text(section.page.title + "\n" + section.path.join("\n"))
    };
    this.textCount += 1;
    return known;
  };

  /* The same with the text, which takes longer. */
  Engine.prototype.foldedText = function (index, number) {
    var known = this.folded(index, number);
    if (known.text === null) { known.text = this.folder.text(index.sections[number].text); }
    return known;
  };

  Engine.prototype.array = function (at, size) {
    var array = this.pool[at];
    if (!array || array.length < size) { array = this.pool[at] = new Float32Array(size); }
    else { for (var i = 0; i < size; i++) { array[i] = 0; } }
    return array;
  };

  function escapeRegExp(text) { return text.replace(/[|\\{}()[\]^$+*?.\/-]/g, "\\$&"); }

  /* A pattern for a form as it may stand in a folded text: zerocopy, zero-copy, zero copy. */
  function patternOf(form) {
    if (kindOf(form.charCodeAt(0)) === HAN) { return escapeRegExp(form); }
    return form.split(/[\s\-_]+/).map(function (word) {
      return word.split("").map(escapeRegExp).join("[-_]?");
    }).join("[-_\\s]{0,2}");
  }

  /* Numbers of the sections that hold all terms of an alternative, with what they get for it. */
  Engine.prototype.meet = function (way, give) {
    var index = way.index, i, j, k, term, scores, number, pattern, checked = 0, found, texts;
    var held = null, next;
    if (way.terms.length === 1) {
      term = way.terms[0];
      scores = Math.min(index.idf(term), way.most);
      for (i = index.from[term]; i < index.from[term + 1]; i++) {
        give(index.where[i], scores * index.impact[i]);
      }
      return;
    }
    for (j = 0; j < way.terms.length; j++) {
      term = way.terms[j];
      scores = index.idf(term);
      next = Object.create(null);
      found = 0;
      for (i = index.from[term]; i < index.from[term + 1]; i++) {
        number = index.where[i];
        if (!held || held[number] !== undefined) {
          next[number] = (held ? held[number] : 0) + scores * index.impact[i];
          found += 1;
        }
      }
      held = next;
      if (!found) { return; }
    }
    pattern = way.check ? new RegExp((way.pattern || [way.form]).map(patternOf).join("[-_\\s]{0,2}")) : null;
    for (k in held) {
      number = +k;
      if (pattern) {
        checked += 1;
        if (checked > MAX_CHECKED) { return; }
        texts = this.foldedText(index, number);
        if (!pattern.test(texts.title) && !pattern.test(texts.text)) { continue; }
      }
      give(number, held[number] / way.terms.length);
    }
  };

  Engine.prototype.ways = function (read, own, twin) {
    var self = this, out = [];
    read.spans = knownSpans(read, this.meaning(), this.folder);
    [own, twin].forEach(function (index) {
      var factor = index === own ? 1 : WAY.twin;
      if (!index) { return; }
      read.atoms.forEach(function (atom, number) {
        if (atom.weight === 0) { return; }
        if (atom.han) { meetHan(read, number, index, factor, out); }
        else { meetLatin(self, read, number, index, factor, out); }
      });
      meetJoined(read, index, factor, out);
      meetSynonyms(self, read, index, factor, out);
    });
    mark(out);
    /* What is not met between two that are met lies across two words. */
    read.atoms.forEach(function (atom, number) {
      var before = read.atoms[number - 1], after = read.atoms[number + 1];
      if (atom.han && !atom.found && before && after && before.found && after.found &&
          before.token === atom.token && after.token === atom.token) {
        atom.weight *= 0.3;
        atom.isCrossing = true;
      }
    });
    this.retry(read, own, twin, out, function (number, index, factor, more) {
      if (!read.atoms[number].han) { meetInside(read, number, index, factor, more); }
    });
    this.retry(read, own, twin, out, function (number, index, factor, more) {
      if (read.atoms[number].weight < 0.3 || read.atoms[number].isCrossing) { return; }
      if (read.atoms[number].han) { repairHan(self, read, number, index, factor, more); }
      else { repairLatin(read, number, index, factor, more); }
    });
    this.alone(read, own, twin, out);
    return out;

    function mark(list) {
      list.forEach(function (way) {
        way.atoms.forEach(function (number) { if (way.terms.length === 1 || !way.check) { read.atoms[number].found = true; } });
      });
    }
  };

  /*
   * Words of one character side by side ("du bi xie man") make pairs that nothing meets: then
   * the characters are asked for one by one.
   */
  Engine.prototype.alone = function (read, own, twin, out) {
    var lone = [];
    read.tokens.forEach(function (token) {
      var i, n = token.form.length, open;
      function unmet(at) {
        var atom = read.atoms[token.first + at];
        return at < 0 || at + 1 >= n || (atom && !atom.found);
      }
      if (!token.han || n < 3) { return; }
      for (i = 0; i < n; i++) {
        if (token.weights[i] === 1 && unmet(i - 1) && unmet(i)) {
          lone.push(atomOf(token, read.atoms[token.first].token, token.form.charAt(i), LONE, token.at + i));
        }
      }
    });
    lone.slice(0, 6).forEach(function (atom) {
      var number = read.atoms.length, before = out.length;
      read.atoms.push(atom);
      meetHan(read, number, own, 1, out);
      if (out.length === before) { read.atoms.pop(); } else { atom.found = true; }
    });
  };

  /* For atoms that nothing meets: other ways, in the reader's language, else in the twin's. */
  Engine.prototype.retry = function (read, own, twin, out, ask) {
    read.atoms.forEach(function (atom, number) {
      var more = [];
      if (atom.found || atom.weight === 0) { return; }
      if (own) { ask(number, own, 1, more); }
      if (!more.length && twin) { ask(number, twin, WAY.twin, more); }
      more.forEach(function (way) {
        atom.found = true;
        if (way.repaired) { atom.repaired = way.form; }
        out.push(way);
      });
    });
  };

  function rankOf(index, form) {
    var term = form.length > 1 ? index.han(form.charCodeAt(0), form.charCodeAt(1)) : -1;
    return term >= 0 && index.titled[term];
  }

  /* Particles that are part of a word in some title count fully: zhong in zhongduan. */
  function restore(read, indexes) {
    read.tokens.forEach(function (token) {
      var i, atom, n = token.form.length;
      if (!token.han || n < 2) { return; }
      for (i = token.first; i < token.after && i < read.atoms.length; i++) {
        atom = read.atoms[i];
        var a = token.weights[i - token.first], b = token.weights[i - token.first + 1];
        if (Math.min(a, b) === 0.35 && /[^\u7684\u4e86\u5417\u5462\u5427\u662f\u548c\u4e0e]{2}/.test(atom.form) &&
            indexes.some(function (index) { return rankOf(index, atom.form); })) {
          atom.weight = Math.max(atom.weight, 0.9 * (n > 2 ? SHARE : 1));
        }
      }
    });
  }

  /*
   * Pairs of characters that lie across two words say little, and their absence says nothing.
   * They are rare for how frequent their characters are.
   */
  function cohere(read, indexes) {
    read.tokens.forEach(function (token) {
      var i, atom, value, counts = [], values = [];
      if (!token.han || token.form.length < 3) { return; }
      for (i = token.first; i < token.after && i < read.atoms.length; i++) {
        atom = read.atoms[i];
        value = Math.max.apply(null, indexes.map(function (index) {
          return index.cohesion(atom.form.charCodeAt(0), atom.form.charCodeAt(1));
        }));
        atom.weight *= value;
        counts.push(Math.max.apply(null, indexes.map(function (index) {
          return index.frequency(index.han(atom.form.charCodeAt(0), atom.form.charCodeAt(1)));
        })));
        values.push(value);
      }
      for (i = 1; i + 1 < counts.length; i++) {
        if (counts[i] > 0 && counts[i] * 6 < Math.min(counts[i - 1], counts[i + 1])) {
          read.atoms[token.first + i].weight *= 0.4 / Math.max(values[i], 0.4);
        }
      }
    });
  }

  Engine.prototype.search = function (query, options) {
    var language = options.language, limit = options.limit || 10, self = this;
    var own = this.indexes[language], twin = null, name, read, hits;
    for (name in this.indexes) {
      this.indexes[name].finish();
      if (name !== language) { twin = this.indexes[name]; }
    }
    if (!own) { own = twin; twin = null; }
    read = readQuery(query, this.folder);
    read.language = language;
    if (!own) { return { hits: [], read: read }; }
    if (!read.atoms.length) {
      hits = read.filters.any ? this.listed(read.filters, own, twin, limit) : [];
      return { hits: hits, read: read };
    }
    restore(read, twin ? [own, twin] : [own]);
    cohere(read, twin ? [own, twin] : [own]);
    hits = this.rank(read, own, twin);
    hits = hits.slice(0, limit).map(function (hit) { return self.present(hit, read); });
    return { hits: hits, read: read };
  };

  function allows(filters, page, twinPage) {
    var tags = page.tags.concat(twinPage ? twinPage.tags : []).map(function (tag) {
      return tag.toLowerCase();
    });
    return (!filters.kinds.length || filters.kinds.indexOf(page.kind) !== -1) &&
      filters.tags.every(function (tag) { return tags.indexOf(tag) !== -1; });
  }

  /* The pages that pass filters, when nothing else is asked. */
  Engine.prototype.listed = function (filters, own, twin, limit) {
    var self = this, seen = Object.create(null), hits = [];
    [own, twin].forEach(function (index) {
      if (!index) { return; }
      index.pages.forEach(function (page) {
        var other = twin && index === own ? twin.sections[page.first] : null;
        if (seen[page.key] || !allows(filters, page, other && other.page)) { return; }
        seen[page.key] = true;
        hits.push({ number: page.first, index: index, score: 1, weak: false, ways: [] });
      });
    });
    return hits.slice(0, limit).map(function (hit) {
      return self.present(hit, { atoms: [], tokens: [], text: "", language: own.language });
    });
  };

  Engine.prototype.rank = function (read, own, twin) {
    var atoms = read.atoms, ways = this.ways(read, own, twin), size = this.size(), self = this;
    var scores = [], quality = [], i, number, total = 0, base, cover, repairs, candidates = [];
    var used = [], asked, top = 0, met = 0, weights = 0, least, isUnknown = false;
    var pages, above, index;
    for (i = 0; i < atoms.length; i++) {
      scores.push(this.array(i * 2, size));
      quality.push(this.array(i * 2 + 1, size));
      used.push(0);
    }
    ways.forEach(function (way) {
      var share = way.atoms.length, highest = 0;
      self.meet(way, function (at, score) {
        var k, atom, value = score * way.weight, good;
        highest = 1;
        for (k = 0; k < way.atoms.length; k++) {
          atom = way.atoms[k];
          good = way.repaired ? 0.55 : way.weight >= 0.4 || way.index === twin ? 1 : 0.6;
          if (value > scores[atom][at]) { scores[atom][at] = value; }
          if (good > quality[atom][at]) { quality[atom][at] = good; }
        }
      });
      if (highest) {
        for (i = 0; i < share; i++) {
          number = Math.min.apply(null, way.terms.map(function (term) { return way.index.frequency(term); }));
          used[way.atoms[i]] = Math.max(used[way.atoms[i]], number);
        }
      }
    });
    /* What an atom weighs: rare ones more. One that nothing meets weighs like a rare one. */
    asked = atoms.map(function (atom, k) {
      var n = Math.max(own.size, twin ? twin.size : 0), df = Math.max(used[k], 1);
      return atom.weight * Math.min(Math.log(1 + (n - df + 0.5) / (df + 0.5)) + 0.3, 5.5);
    });
    for (i = 0; i < asked.length; i++) { if (used[i]) { met += atoms[i].weight; } }
    for (i = 0; i < asked.length; i++) {
      if (!used[i] && met >= 2.5) { asked[i] *= 0.5; }
      if (!used[i] && atoms[i].weight >= 0.5) { isUnknown = true; }
      total += asked[i];
      weights += atoms[i].weight;
    }
    /* Of a long question less needs to be met. */
    least = LEAST_COVER - Math.max(0, Math.min(1, (weights - 3) / 4)) * 0.14;
    base = this.array(2 * atoms.length, size);
    cover = this.array(2 * atoms.length + 1, size);
    for (i = 0; i < atoms.length; i++) {
      for (number = 0; number < size; number++) {
        if (scores[i][number] > 0) {
          base[number] += scores[i][number] * atoms[i].weight;
          cover[number] += asked[i] * quality[i][number];
        }
      }
    }
    pages = this.pageCovers(own, twin, quality, asked, size);
    for (number = 0; number < size; number++) {
      if (base[number] > 0) {
        repairs = cover[number] / (total || 1);
        base[number] *= 1 - MIX_COVER + MIX_COVER * repairs * repairs;
        index = own.sections[number] ? own : twin;
        above = pages[index.sections[number].page.first] / (total || 1);
        base[number] *= 1 + MIX_PAGE * above * above;
        candidates.push(number);
      }
    }
    candidates.sort(function (a, b) { return base[b] - base[a] || a - b; });
    candidates = candidates.slice(0, CANDIDATES).map(function (at) {
      var index = own.sections[at] ? own : twin, weak = false, matched = [];
      for (i = 0; i < atoms.length; i++) {
        matched.push(scores[i][at] > 0);
        if (scores[i][at] > 0 && atoms[i].repaired) { weak = true; }
      }
      return {
        number: at, index: index, score: base[at], cover: cover[at] / (total || 1), weak: weak,
        matched: matched
      };
    });
    candidates = candidates.filter(function (hit) {
      return self.passes(hit, read, own, twin);
    });
    candidates.forEach(function (hit) { self.reward(hit, read, ways, asked, total, own, twin); });
    candidates.sort(function (a, b) {
      return b.score * b.titleValue - a.score * a.titleValue || a.number - b.number;
    });
    /* Reading whole texts takes time: only those that may be shown. */
    candidates.forEach(function (hit, order) {
      if (order < READ) { self.readText(hit, read, asked, total); }
      hit.score *= hit.titleValue + (hit.textValue || 0);
    });
    candidates.sort(function (a, b) { return b.score - a.score || a.number - b.number; });
    top = candidates.length ? candidates[0].score : 0;
    return candidates.filter(function (hit) {
      /* A word that is nowhere: then a mere mention of the others is noise. */
      return hit.cover >= (isUnknown && !hit.isTitled ? least + 0.13 : least) && hit.score > top * LEAST_SCORE;
    }).map(function (hit) { hit.ways = ways; return hit; });
  };

  /* How much of what is asked each page holds in all its sections, by its first number. */
  Engine.prototype.pageCovers = function (own, twin, quality, asked, size) {
    var covers = this.array(2 * asked.length + 2, size), best = this.array(2 * asked.length + 3, size);
    var first = [], i, number, index;
    for (number = 0; number < size; number++) {
      index = own.sections[number] ? own : twin && twin.sections[number] ? twin : null;
      first.push(index ? index.sections[number].page.first : number);
    }
    for (i = 0; i < asked.length; i++) {
      if (!asked[i]) { continue; }
      for (number = 0; number < size; number++) {
        if (quality[i][number] > best[first[number]]) {
          covers[first[number]] += asked[i] * (quality[i][number] - best[first[number]]);
          best[first[number]] = quality[i][number];
        }
      }
      for (number = 0; number < size; number++) { best[number] = 0; }
    }
    return covers;
  };

  Engine.prototype.size = function () {
    var size = 0, name, order;
    for (name in this.indexes) {
      order = this.indexes[name].lengths;
      if (order.length > size) { size = order.length; }
    }
    return size;
  };

  /* Whether filters, quoted phrases and words to leave out let a section through. */
  Engine.prototype.passes = function (hit, read, own, twin) {
    var section = hit.index.sections[hit.number], other, texts, self = this;
    other = hit.index === own && twin ? twin.sections[hit.number] : null;
    if (read.filters.any && !allows(read.filters, section.page, other && other.page)) { return false; }
    if (!read.phrases.length && !read.excluded.length) { return true; }
    texts = this.foldedText(hit.index, hit.number);
    var all = texts.title + "\n" + texts.text;
    if (other) {
      other = self.foldedText(twin, hit.number);
      other = other.title + "\n" + other.text;
    }
    function holds(text, form) { return new RegExp(patternOf(form)).test(text); }
    return read.phrases.every(function (phrase) {
      return holds(all, phrase) || (other && holds(other, phrase));
    }) && !read.excluded.some(function (token) { return holds(all, token.form); });
  };

  /* Forms under which atoms may stand in a text: [[pattern, atoms, weight], ...]. */
  function formsAsked(read, ways) {
    var seen = Object.create(null), forms = [];
    read.atoms.forEach(function (atom, number) {
      if (atom.weight > 0) { put(atom.form, [number], 1); }
    });
    ways.forEach(function (way) {
      if (!way.prefix || way.weight > 0.5) { put(way.form, way.atoms, Math.min(1, way.weight + 0.2)); }
    });
    function put(form, atoms, weight) {
      var key = form + "|" + atoms.join();
      if (seen[key] || forms.length > 60) { return; }
      seen[key] = true;
      forms.push({ form: form, flat: form.replace(/[\s\-_]+/g, ""), atoms: atoms, weight: weight,
        han: kindOf(form.charCodeAt(0)) === HAN });
    }
    return forms;
  }

  /* How much of what is asked a text holds, 0 to 1; flat: without blanks and joints. */
  function covered(text, forms, asked, total, count) {
    var best = [], i, j, sum = 0, form;
    for (i = 0; i < count; i++) { best.push(0); }
    for (i = 0; i < forms.length; i++) {
      form = forms[i];
      if (!holdsForm(text, form)) { continue; }
      for (j = 0; j < form.atoms.length; j++) {
        if (form.weight > best[form.atoms[j]]) { best[form.atoms[j]] = form.weight; }
      }
    }
    for (i = 0; i < count; i++) { sum += best[i] * asked[i]; }
    return total ? sum / total : 0;
  }

  function holdsForm(text, form) {
    var at;
    if (form.han) { return text.indexOf(form.form) !== -1; }
    at = text.indexOf(form.flat);
    while (at !== -1) {
      if (form.flat.length > 3 || !isPlain(text.charCodeAt(at - 1))) { return true; }
      at = text.indexOf(form.flat, at + 1);
    }
    return false;
  }

  function isPlain(code) { return (code >= 97 && code <= 122) || (code >= 48 && code <= 57); }

  function flatten(text) { return text.replace(/[-_]+/g, ""); }

  /* Whether code at `at` begins a block without being all of it. */
  function opensBlock(text, at) {
    var end = text.indexOf(CODE_CLOSE, at);
    return (at === 0 || text.charCodeAt(at - 1) === 10) && end !== -1 && end + 1 < text.length &&
      text.charCodeAt(end + 1) !== 10 && text.slice(at, end).indexOf("\n") === -1;
  }

  /* How much of a title is asked for, 0 to 1. */
  function explained(title, forms) {
    var mask = [], i, j, at, form, all = 0, met = 0;
    for (i = 0; i < forms.length; i++) {
      form = forms[i].han ? forms[i].form : forms[i].flat;
      if (forms[i].weight < 0.5 || !form) { continue; }
      for (at = title.indexOf(form); at !== -1; at = title.indexOf(form, at + 1)) {
        for (j = at; j < at + form.length; j++) { mask[j] = true; }
      }
    }
    for (i = 0; i < title.length; i++) {
      if (/[0-9a-z\u00aa-\uffff]/.test(title.charAt(i))) {
        /* A Han character is about as much as two letters. */
        j = title.charCodeAt(i) >= 0x2e80 ? 2 : 1;
        all += j;
        met += mask[i] ? j : 0;
      }
    }
    return all ? met / all : 0;
  }

  /* How much of what is asked begins a block, as a row of a table or a definition does. */
  function heading(text, forms, asked, total) {
    var sum = 0, seen = [], i, j, at, form, before;
    for (i = 0; i < forms.length; i++) {
      form = forms[i];
      if (form.weight < 0.9) { continue; }
      at = text.indexOf(form.form);
      while (at !== -1) {
        before = text.charCodeAt(at - 1);
        if (at === 0 || before === 10 || (before === 0xe001 && opensBlock(text, at - 1))) {
          for (j = 0; j < form.atoms.length; j++) {
            if (!seen[form.atoms[j]]) { sum += asked[form.atoms[j]]; seen[form.atoms[j]] = true; }
          }
          break;
        }
        at = text.indexOf(form.form, at + 1);
      }
    }
    return total ? Math.min(1, sum / total) : 0;
  }

  /* The query without blanks and joints, repaired where it was. */
  function meantPhrase(read) {
    return read.tokens.map(function (token) {
      var form = token.form, i, atom, at;
      for (i = token.first; i < token.after; i++) {
        atom = read.atoms[i];
        at = i - token.first;
        if (atom.repaired && !token.han) { form = atom.repaired; }
        else if (atom.repaired) { form = form.slice(0, at) + atom.repaired + form.slice(at + 2); }
      }
      return form;
    }).join("").replace(/[-_]+/g, "");
  }

  /* What the text adds to a hit: phrases, words in one paragraph, definitions. */
  Engine.prototype.readText = function (hit, read, asked, total) {
    var texts = this.foldedText(hit.index, hit.number), forms = read.forms, run, value, i;
    var flatText, phrase, blocks, best = 0;
    if (!texts.blocks) {
      texts.flat = flatten(texts.text);
      texts.blocks = texts.flat.split("\n");
    }
    flatText = texts.flat + "\n" + flatten(texts.title);
    forms = forms.filter(function (form) { return holdsForm(texts.flat, form); });
    /* Runs of the query that stand in the section as they were typed. */
    run = 0;
    value = 0;
    for (i = 0; i < read.meant.length; i++) {
      if (read.meant[i].han && read.meant[i].form.length < 3) { continue; }
      run += read.meant[i].form.length;
      if (read.meant[i].han) {
        if (texts.text.indexOf(read.meant[i].form) !== -1 || texts.title.indexOf(read.meant[i].form) !== -1) {
          value += read.meant[i].form.length;
        }
      } else {
        if (flatText.indexOf(read.meant[i].form) !== -1) { value += read.meant[i].form.length; }
      }
    }
    phrase = run ? value / run : 0;
    if (read.atoms.length > 1) {
      blocks = texts.blocks;
      for (i = 0; i < blocks.length && i < 80 && forms.length; i++) {
        if (blocks[i].length > 3) {
          value = covered(blocks[i], forms, asked, total, read.atoms.length);
          if (blocks[i].charCodeAt(0) === 0xe003) { value *= 0.5; }
          if (value > best) { best = value; }
        }
      }
    } else {
      best = hit.cover;
    }
    hit.textValue = MIX_PHRASE * phrase + MIX_BLOCK * best * best +
      MIX_HEADING * heading(texts.text, forms, asked, total);
  };

  /* What the title adds to a hit. */
  Engine.prototype.reward = function (hit, read, ways, asked, total, own, twin) {
    var texts = this.folded(hit.index, hit.number), forms, title, share, i;
    var section = hit.index.sections[hit.number], other, value, meant, above;
    if (!read.forms) {
      read.forms = formsAsked(read, ways);
      read.phrase = meantPhrase(read);
      read.meant = read.tokens.filter(function (token) {
        return token.han ? true : !STOP_EN[token.form];
      });
    }
    forms = read.forms;
    title = flatten(texts.title);
    share = covered(title, forms, asked, total, read.atoms.length);
    if (hit.index === own && twin && twin.sections[hit.number]) {
      other = this.folded(twin, hit.number);
      value = 0.85 * covered(flatten(other.title), forms, asked, total, read.atoms.length);
      if (value > share) { share = value; title = flatten(other.title); }
    }
    /* Words of one character, which pairs do not show: both stand in the title. */
    for (i = 0; i < read.atoms.length; i++) {
      value = read.atoms[i];
      if (value.han && value.form.length === 2 && value.weight > 0.3 && !hit.matched[i] &&
          title.indexOf(value.form.charAt(0)) !== -1 && title.indexOf(value.form.charAt(1)) !== -1) {
        hit.cover += 0.5 * asked[i] / (total || 1);
        share += 0.5 * asked[i] / (total || 1);
      }
    }
    share = Math.min(1, share);
    meant = explained(title, forms);
    if (hit.index.isStock(section)) { share *= 0.4; }
    /* The page's name and the section's together. */
    above = share;
    if (section.level > 1 && share > 0.2) {
      above = covered(flatten(texts.above + "\n" + texts.title), forms, asked, total, read.atoms.length);
    }
    value = 1 + MIX_TITLE * share * share * (0.4 + 0.6 * meant) +
      MIX_ABOVE * Math.max(0, above * above - share * share) * (0.3 + 0.7 * meant);
    hit.isTitled = share > 0.25;
    if (read.phrase.length > 1 && title.replace(/\s+/g, "") === read.phrase) { value += 0.8; }
    hit.titleValue = value;
    if (section.level === 1 && share > 0.8) { hit.score *= 1.05; }
    if (hit.index !== own) { hit.score *= FOREIGN; }
    if (hit.weak) { hit.score *= 0.9; }
    if (section.page.kind === "map") { hit.score *= 0.7; }
    if (REFERENCES.test(section.title)) { hit.score *= 0.45; }
    else if (hit.index.isStock(section)) { hit.score *= LESS_STOCK; }
  };
