  /* ---- The index of one language ------------------------------------------------- */

  function Index(language, folder) {
    this.language = language;
    this.folder = folder;
    this.pages = [];
    this.sections = Object.create(null);   /* number -> section */
    this.order = [];                       /* numbers in the order of the pages */
    this.latin = Object.create(null);      /* form -> term */
    this.names = [];                       /* term -> form; undefined for Han */
    this.hans = new Map();                 /* two characters as a number -> term */
    this.forms = Object.create(null);      /* name as written -> [term, weight, ...] */
    this.open();
    this.lengths = [];                     /* number -> words */
    this.total = 0;
    this.titleCounts = Object.create(null);
    this.titled = Object.create(null);     /* terms that stand in a title */
    this.ready = false;
    this.sorted = null;
  }

  Index.prototype.hanTerm = function (key, make) {
    var term = this.hans.get(key);
    if (term === undefined) {
      if (!make) { return -1; }
      term = this.newTerm(undefined);
      this.hans.set(key, term);
    }
    return term;
  };

  Index.prototype.newTerm = function (form) {
    this.last.push(-1);
    return this.names.push(form) - 1;
  };

  Index.prototype.latinTerm = function (form) {
    var term = this.latin[form];
    if (term === undefined) { term = this.latin[form] = this.newTerm(form); }
    return term;
  };

  /* Weights are kept in hundredths while the index is made. */
  Index.prototype.emit = function (term, number, weight) {
    if (this.inTitle) { this.titled[term] = true; }
    var entry = this.last[term];
    if (entry >= 0 && this.entrySection[entry] === number) {
      this.entryWeight[entry] += weight;
      return;
    }
    this.last[term] = this.entryTerm.push(term) - 1;
    this.entrySection.push(number);
    this.entryWeight.push(weight);
  };

  /* What is needed while texts are added: term -> its latest entry, and the entries. */
  Index.prototype.open = function () {
    this.last = [];
    this.entryTerm = [];
    this.entrySection = [];
    this.entryWeight = [];
  };

  Index.prototype.read = function (text, number, weight) {
    var folder = this.folder, folded = folder.text(text), pattern = new RegExp(TOKENS + "|[\ue001-\ue003\n]", "g");
    var hundred = Math.round(weight * 100), now = hundred, words = 0, match, token, code, i, name, forms;
    while ((match = pattern.exec(folded))) {
      token = match[0];
      code = token.charCodeAt(0);
      if (code === 10 || code === 0xe002) {
        now = hundred;
      } else if (code === 0xe001 || code === 0xe003) {
        now = Math.round(hundred * (code === 0xe001 ? WEIGHT.code : WEIGHT.note));
      } else if (code >= 0x2e80) {
        for (i = 1; i < token.length; i++) {
          this.emit(this.hanTerm((token.charCodeAt(i - 1) << 16) | token.charCodeAt(i), true), number, now);
        }
        if (i === 1) { this.emit(this.hanTerm(code << 16, true), number, now); }
        words += i > 1 ? (i - 1) * 0.6 : 1;
      } else {
        name = text.slice(match.index, pattern.lastIndex);
        words += 1;
        forms = this.forms[name];
        if (!forms) {
          forms = this.forms[name] = formsOf(name, folder);
          for (i = 0; i < forms.length; i += 2) { forms[i] = this.latinTerm(forms[i]); }
        }
        for (i = 0; i < forms.length; i += 2) {
          this.emit(forms[i], number, Math.round(now * forms[i + 1]));
        }
      }
    }
    return words;
  };

  /* Where to go on in a part; see advance. */
  Index.prototype.start = function (part) {
    var i;
    for (i = 0; i < part.titles.length; i++) {
      this.titleCounts[part.titles[i]] = (this.titleCounts[part.titles[i]] || 0) + 1;
    }
    /* Titles may be there before the texts are. */
    return { part: part, texts: part.text ? part.text.split(PART) : [], page: 0, at: 0 };
  };

  Index.prototype.add = function (part) { this.advance(this.start(part), Infinity, false); };

  /*
   * Reads about so many characters more, whole pages, or titles only; whether that was all.
   * Reading holds up whatever else runs, which on file:// is the page.
   */
  Index.prototype.advance = function (place, characters, isTitles) {
    var part = place.part, texts = place.texts, at = place.at, j, asked, page, record, section, titles;
    var level, own, number, words;
    for (; place.page < part.pages.length && characters > 0; place.page++) {
      record = part.pages[place.page];
      page = {
        key: record[0], location: record[1], title: record[2], trail: record[3],
        kind: record[4], tags: record[5], extra: record[6], fallback: record[7],
        language: this.language, first: part.numbers[at]
      };
      this.pages.push(page);
      titles = [];
      for (j = 0; j < record[8]; j++, at++) {
        number = part.numbers[at];
        level = +part.levels.charAt(at);
        titles.length = Math.min(titles.length, Math.max(level - 1, 0));
        titles[level - 1] = part.titles[at];
        own = [];
        for (var k = 0; k < level - 1; k++) { if (titles[k] && j > 0) { own.push(titles[k]); } }
        asked = (texts[at] || "").split(QUESTION);
        section = {
          page: page, anchor: part.anchors[at], title: part.titles[at], text: asked.shift(), asked: asked,
          kind: part.entries && part.kinds && part.kinds[part.entries[at]] || null,
          entry: part.entries && part.entries[at] || "",
          level: level, path: own[0] === page.title ? own.slice(1) : own, number: number
        };
        this.sections[number] = section;
        this.order.push(number);
        characters -= section.text.length;
        words = isTitles ? 1 : this.read(section.text, number, WEIGHT.text);
        this.read(asked.join("\n"), number, WEIGHT.asked);
        this.inTitle = true;
        this.read(section.title, number, this.isStock(section) ? WEIGHT.path : WEIGHT.title);
        this.inTitle = false;
        if (j === 0) {
          /* Of titles only: without the description, which is a text. */
          this.read(page.tags.join("\n") + "\n" +
            (isTitles ? page.extra.slice(page.extra.indexOf("\n")) : page.extra), number, WEIGHT.tags);
          this.read(page.trail.join("\n"), number, WEIGHT.path);
        } else if (!isTitles) {
          this.read(page.title + "\n" + section.path.join("\n"), number, WEIGHT.path);
        }
        this.lengths[number] = words;
        this.total += words;
      }
    }
    place.at = at;
    this.ready = false;
    return place.page >= part.pages.length;
  };

  /* Whether a section is one that many pages have: summary, exercises, references. */
  Index.prototype.isStock = function (section) {
    return section.level > 1 && this.titleCounts[section.title] >= STOCK_TITLE;
  };

  /* Sorts the entries by term: where, from[term] .. from[term + 1]. */
  Index.prototype.finish = function () {
    var n = this.entryTerm.length, terms = this.entryTerm, from, fill, i, at, mean, tf;
    if (this.ready) { return; }
    from = new Int32Array(this.names.length + 2);
    for (i = 0; i < n; i++) { from[terms[i] + 1] += 1; }
    for (i = 0; i < this.names.length; i++) { from[i + 1] += from[i]; }
    fill = new Int32Array(from);
    this.where = new Int32Array(n);
    this.impact = new Float32Array(n);
    mean = this.order.length ? this.total / this.order.length : 1;
    for (i = 0; i < n; i++) {
      at = fill[terms[i]]++;
      this.where[at] = this.entrySection[i];
      tf = this.entryWeight[i] / 100;
      this.impact[at] = tf * (K1 + 1) /
        (tf + K1 * (1 - B + B * this.lengths[this.entrySection[i]] / (mean || 1)));
    }
    this.from = from;
    this.size = this.order.length;
    this.countPairs();
    this.sorted = null;
    this.ready = true;
  };

  /* In how many sections a character begins a pair, ends one, and how many pairs there are. */
  Index.prototype.countPairs = function () {
    var self = this;
    this.begins = new Int32Array(65536);
    this.ends = new Int32Array(65536);
    this.pairs = 0;
    this.hans.forEach(function (term, key) {
      var df = key & 0xffff ? self.frequency(term) : 0;
      self.begins[key >>> 16] += df;
      self.ends[key & 0xffff] += df;
      self.pairs += df;
    });
  };

  /* Once nothing will be added any more. */
  Index.prototype.close = function () {
    this.finish();
    this.open();
    this.forms = Object.create(null);
  };

  Index.prototype.frequency = function (term) {
    return term < 0 || term === undefined ? 0 : this.from[term + 1] - this.from[term];
  };

  Index.prototype.idf = function (term) {
    return idfOf(this.size, this.frequency(term));
  };

  function idfOf(size, df) { return Math.log(1 + (size - df + 0.5) / (df + 0.5)); }

  Index.prototype.han = function (a, b) { return this.hanTerm((a << 16) | b, false); };

  Index.prototype.find = function (form) {
    var term = this.latin[form];
    return term === undefined ? -1 : term;
  };

  Index.prototype.list = function () {
    var form;
    if (!this.sorted) {
      this.sorted = [];
      for (form in this.latin) { this.sorted.push(form); }
      this.sorted.sort();
    }
    return this.sorted;
  };

  /* Which letters each form of `list` has, as bits. */
  Index.prototype.letters = function () {
    var list = this.list(), i;
    if (!this.masks || this.masks.length !== list.length) {
      this.masks = new Int32Array(list.length);
      for (i = 0; i < list.length; i++) { this.masks[i] = letters(list[i]); }
    }
    return this.masks;
  };

  /* Terms that begin so, the most frequent first. */
  Index.prototype.prefixed = function (prefix, most) {
    var list = this.list(), low = 0, high = list.length, middle, found = [];
    while (low < high) {
      middle = (low + high) >> 1;
      if (list[middle] < prefix) { low = middle + 1; } else { high = middle; }
    }
    while (low < list.length && list[low].slice(0, prefix.length) === prefix) {
      if (list[low] !== prefix) { found.push(this.latin[list[low]]); }
      low += 1;
    }
    return this.frequent(found, most);
  };

  /* Terms of Han characters that hold this one. */
  Index.prototype.holding = function (code, most) {
    var found = [];
    this.hans.forEach(function (term, key) {
      if ((key >>> 16) === code || (key & 0xffff) === code) { found.push(term); }
    });
    return this.frequent(found, most);
  };

  Index.prototype.frequent = function (found, most) {
    var self = this;
    if (found.length > most) {
      found.sort(function (a, b) { return self.frequency(b) - self.frequency(a); });
      found.length = most;
    }
    return found;
  };
