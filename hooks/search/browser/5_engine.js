  /* ---- The engine ------------------------------------------------------------------- */

  function Engine() {
    this.folder = new Folder();
    this.indexes = Object.create(null);
    this.raw = {};
    this.synonyms = null;
    this.sounds = null;
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

  Engine.prototype.everyday = function () {
    if (!this.words) { this.words = readEveryday(this.raw.everyday || {}, this.folder); }
    return this.words;
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
    if (this.textCount > 4000) { this.texts = Object.create(null); this.textCount = 0; }
    section = index.sections[number];
    known = this.texts[key] = {
      title: this.folder.text(section.title), text: null, blocks: null, asked: section.asked.map(this.folder.text, this.folder),
      above: this.folder.text([section.page.title, section.kind ? section.kind[0] : ""].concat(section.path).join("\n"))
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

  Engine.prototype.search = function (query, options) {
    var language = options.language, limit = options.limit || 10, self = this;
    var own = this.indexes[language], twin = null, name, read, hits;
    for (name in this.indexes) {
      this.indexes[name].finish();
      if (name !== language) { twin = this.indexes[name]; }
    }
    if (!own) { own = twin; twin = null; }
    read = readQuery(query, this.folder, this.everyday().light);
    read.language = language;
    if (!own) { return { hits: [], read: read }; }
    if (!read.atoms.length) {
      return { hits: read.filters.any ? this.listed(read.filters, own, twin, limit) : [], read: read };
    }
    hits = this.rank(read, own, twin);
    /* A message that was pasted has quotation marks too: words that stand nowhere as quoted are words. */
    if (!hits.length && read.phrases.length) { return this.search(query.replace(/"/g, " "), options); }
    hits = hits.slice(0, limit).map(function (hit) { return self.present(hit, read); });
    return { hits: hits, read: read };
  };
