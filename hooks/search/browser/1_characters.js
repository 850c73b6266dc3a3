/*
 * The search engine of the handbook, without a page around it.
 *
 * It is given texts (see index.py), makes its own postings when they arrive, and answers
 * queries: HandbookSearch.create() -> engine; engine.tables(t), engine.add(part),
 * engine.search(query, options). The same file runs in the browser's worker and, in V8, behind
 * `python -m hooks search`. ES5; ASCII only, because the frame that stands in for a worker on
 * file:// declares no encoding.
 *
 * Words used below: a *term* is an entry of the index (two Han characters, or a Latin word or
 * part of one); an *atom* is a piece of the query that wants to be met; an *alternative* is a
 * way to meet one or several atoms (the term itself, an inflection, a synonym, a repair);
 * a *number* is a section's, shared by its versions in all languages; an *everyday word* is one of
 * everyday.yml, which stands for others that ask for the same.
 */
var HandbookSearch = (function () {
  "use strict";

  var CODE_OPEN = "\ue001", CODE_CLOSE = "\ue002", NOTE = "\ue003", PART = "\ue000";
  var MAX_QUERY = 240;      /* characters of a query that are read */
  var MAX_ATOMS = 40;
  var MAX_NAME = 64;        /* characters of an identifier that are indexed */

  /* What a word counts by where it stands. */
  var WEIGHT = { title: 4, path: 0.9, tags: 2, text: 1, code: 0.7, note: 0.25 };
  var K1 = 1.1, B = 0.45;
  var STOCK_TITLE = 5;      /* sections with one title, from which on it says little */

  /* ---- Characters ---------------------------------------------------------------- */

  var SEP = 1, LATIN = 2, DIGIT = 3, HAN = 4, JOINT = 5;

  /* Folding is one to one, so that places in a folded text are places in the text. */
  function Folder() {
    this.to = new Uint16Array(65536);
    this.kind = new Uint8Array(65536);
    this.buffer = new Uint16Array(1024);
    this.simple = {};
    /* Known before any text is read: plain words are not folded (Folder.text). */
    for (var code = 48; code < 123; code++) { this.kind[code] = kindOf(code); }
  }

  Folder.prototype.code = function (code) {
    var folded = this.to[code];
    return folded || this.learn(code);
  };

  Folder.prototype.learn = function (code) {
    var char = String.fromCharCode(code), plain = char, folded;
    if (code < 0xd800 || code > 0xdfff) {
      if (plain.normalize) { plain = plain.normalize("NFKC"); }
      plain = plain.toLowerCase();
      if (plain.length !== 1) { plain = char.toLowerCase(); }
      if (plain.length !== 1) { plain = char; }
    }
    if (this.simple[plain]) { plain = this.simple[plain]; }
    folded = plain.charCodeAt(0) || 32;
    if (folded >= 0x2010 && folded <= 0x2015) { folded = 45; }
    this.to[code] = folded;
    this.kind[folded] = kindOf(folded);
    return folded;
  };

  function kindOf(code) {
    if (code >= 48 && code <= 57) { return DIGIT; }
    if (code >= 97 && code <= 122) { return LATIN; }
    if (code === 95 || code === 45 || code === 46 || code === 58 || code === 47 ||
        code === 43 || code === 35) { return JOINT; }
    if (code < 0xaa) { return SEP; }
    /* Han, kana, hangul, and halves of what lies beyond the basic plane. */
    if ((code >= 0x3400 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff) ||
        (code >= 0x3041 && code <= 0x30ff && code !== 0x30fb) || code === 0x3005 ||
        code === 0x3007 || (code >= 0xac00 && code <= 0xd7a3) ||
        (code >= 0xd800 && code <= 0xdfff)) { return HAN; }
    if (code === 0xaa || code === 0xb5 || code === 0xba || (code >= 0xc0 && code <= 0x24f &&
        code !== 0xd7 && code !== 0xf7) || (code >= 0x370 && code <= 0x52f) ||
        (code >= 0x1e00 && code <= 0x1fff)) { return LATIN; }
    return SEP;
  }

  Folder.prototype.text = function (text) {
    var out = "", i, j, n, codes = this.buffer, to = this.to, code;
    if (/^[0-9a-z]*$/.test(text)) { return text; }
    for (i = 0; i < text.length; i += 1024) {
      n = Math.min(1024, text.length - i);
      for (j = 0; j < n; j++) {
        code = text.charCodeAt(i + j);
        codes[j] = to[code] || this.learn(code);
      }
      out += String.fromCharCode.apply(null, n === 1024 ? codes : codes.subarray(0, n));
    }
    return out;
  };

  /* ---- Names --------------------------------------------------------------------- */

  var CAMEL = /([a-z0-9\u03b1-\u03c9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g;
  var QUANTITY = /^([0-9]+(?:\.[0-9]+)*)([a-z\u03bc%][a-z\u03bc/]*)$/;
  var SERIES = /^([a-z]{3,})([0-9]+(?:\.[0-9]+)*)$/;

  /*
   * The forms under which a name is found: whole, from each of its parts to its end, and each
   * part. cudaMemcpyAsync -> cudamemcpyasync, memcpyasync, async, cuda, memcpy.
   * Returns [form, weight, form, weight, ...].
   */
  function formsOf(raw, folder) {
    var forms = [], seen = Object.create(null);
    if (/^[A-Z]?[a-z]+$/.test(raw) || /^[A-Z]+$/.test(raw)) {
      return [raw.toLowerCase().slice(0, MAX_NAME), 1];
    }
    var words = raw.split(/[-_\u2010-\u2015]+/), parts = [], starts = [], i, j, pieces, match;
    function add(form, weight) {
      if (form.length > MAX_NAME) { form = form.slice(0, MAX_NAME); }
      if (!form || seen[form]) { return; }
      seen[form] = true;
      forms.push(form, weight);
    }
    for (i = 0; i < words.length; i++) {
      if (!words[i]) { continue; }
      pieces = words[i].split(/(?:::|\.(?![0-9])|\/)/);
      for (j = 0; j < pieces.length; j++) {
        if (!pieces[j]) { continue; }
        splitCamel(pieces[j], parts, starts, j === 0 || pieces.length < 2 ? 1 : 2, folder);
      }
    }
    add(joined(raw, folder), 1);
    if (parts.length > 1 && parts.length < 12) {
      for (i = 0; i < parts.length; i++) {
        /* From here to the end, and to the end of the word that begins here. */
        if (i > 0) { add(parts.slice(i).join(""), starts[i] ? 0.7 : 0.5); }
        if (starts[i]) {
          for (j = i + 1; j < parts.length && !starts[j]; j++) { /* the word's other parts */ }
          add(parts.slice(i, j).join(""), 0.8);
        }
        add(parts[i], starts[i] ? 0.6 : 0.5);
      }
    }
    for (i = 0; i < parts.length; i++) {
      match = QUANTITY.exec(parts[i]);
      if (match) { add(match[1], 0.6); add(match[2], 0.4); continue; }
      match = SERIES.exec(parts[i]);
      if (match) { add(match[1], 0.6); add(match[2], 0.2); }
    }
    return forms;
  }

  function splitCamel(word, parts, starts, start, folder) {
    var pieces = word.replace(CAMEL, "$&\u0000").split("\u0000"), i;
    for (i = 0; i < pieces.length; i++) {
      if (!pieces[i]) { continue; }
      parts.push(folder.text(pieces[i]));
      starts.push(i === 0 ? start : 0);
    }
  }

  /* all-reduce, all_reduce, AllReduce -> allreduce; std::vector -> std.vector. */
  function joined(raw, folder) {
    return folder.text(raw).replace(/[-_]+/g, "").replace(/::/g, ".");
  }

  /*
   * Where the name ends that begins at `at`: letters and digits with single joints between.
   * `text` as written, `end` its end.
   */
  function nameEnd(text, at, end, folder) {
    var i = at, code, next, kind;
    while (i < end) {
      code = folder.code(text.charCodeAt(i));
      kind = folder.kind[code];
      if (kind === LATIN || kind === DIGIT) { i += 1; continue; }
      if (kind !== JOINT) { break; }
      if (code === 43 || code === 35) {
        /* C++, C#: at the end of a word only. */
        if (code === 43 && i + 1 < end && text.charCodeAt(i + 1) === 43) { i += 2; }
        else if (code === 35 && i - at === 1) { i += 1; }
        break;
      }
      if (i + 1 >= end) { break; }
      next = folder.kind[folder.code(text.charCodeAt(i + 1))];
      if (code === 58) {
        if (text.charCodeAt(i + 1) !== 58 || i + 2 >= end) { break; }
        next = folder.kind[folder.code(text.charCodeAt(i + 2))];
        if (next !== LATIN) { break; }
        i += 2;
        continue;
      }
      if (code === 47) {
        /* TB/s and I/O are one word; CPU/GPU are two. */
        if (next !== LATIN || (i + 2 < end && isWord(folder, text.charCodeAt(i + 2)))) { break; }
        i += 1;
        continue;
      }
      if ((code === 95 || code === 45) && next === JOINT) {
        /* __global__, --flag: joints in a row. */
        if (i + 2 >= end || !isWord(folder, text.charCodeAt(i + 2)) ||
            text.charCodeAt(i + 1) !== text.charCodeAt(i)) { break; }
        i += 2;
        continue;
      }
      if (next !== LATIN && next !== DIGIT) { break; }
      i += 1;
    }
    return i;
  }

  function isWord(folder, code) {
    var kind = folder.kind[folder.code(code)];
    return kind === LATIN || kind === DIGIT;
  }
