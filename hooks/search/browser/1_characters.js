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

  var CODE_OPEN = "\ue001", CODE_CLOSE = "\ue002", NOTE = "\ue003", QUESTION = "\ue004", PART = "\ue000";
  var MAX_QUERY = 240;      /* characters of a query that are read */
  var MAX_ATOMS = 40;
  var MAX_NAME = 64;        /* characters of an identifier that are indexed */

  /* What a word counts by where it stands. */
  var WEIGHT = { title: 4, path: 0.9, tags: 2, asked: 0.5, text: 1, code: 0.7, note: 0.25 };
  var K1 = 1.1, B = 0.45;
  var STOCK_TITLE = 5;      /* sections with one title, from which on it says little */

  /* ---- Characters ---------------------------------------------------------------- */

  /* As they are folded: Han with kana, hangul and halves of what lies beyond the basic plane. */
  var HANS = "[\u3400-\u9fff\uf900-\ufaff\u3041-\u30fa\u30fc-\u30ff\u3005\u3007\uac00-\ud7a3\ud800-\udfff]";
  var LETTERS = "a-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0370-\u052f\u1e00-\u1fff";
  var LETTER = "[" + LETTERS + "]", SIGN = "[0-9" + LETTERS + "]";
  /*
   * A run of Han, or a name: letters and digits with single joints between (TB/s and I/O are one
   * word, CPU/GPU are two; __global__, std::vector, C++, C#).
   */
  var TOKENS = HANS + "+|" + SIGN + "(?:#|(?:" + SIGN + "|[-_.](?=" + SIGN + ")|(?:--|__)(?=" + SIGN + ")|::(?=" +
    LETTER + ")|\\/(?=" + LETTER + "(?!" + SIGN + ")))*(?:\\+\\+)?)";
  var HAN_FIRST = new RegExp("^" + HANS);

  function isHan(text) { return HAN_FIRST.test(text); }

  /* Folding is one to one, so that places in a folded text are places in the text. */
  function Folder() {
    this.to = new Uint16Array(65536);
    this.buffer = new Uint16Array(1024);
    this.simple = {};
  }

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
    return folded;
  };

  Folder.prototype.text = function (text) {
    var out = "", i, j, n, codes = this.buffer, to = this.to, code;
    if (/^[\x01-\x7f]*$/.test(text)) { return text.toLowerCase(); }
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
