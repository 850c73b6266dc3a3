  /* ---- Words of the other language -------------------------------------------------- */

  var MAX_PHRASE = 5;       /* English words of a phrase */
  var MAX_RUN = 8;          /* characters of a Chinese word */
  var KIN = 0.5;            /* of the weight, for another word of the same language for the same */
  var EXPLAINED = 0.95;     /* of the weight, for what the notes themselves explain */
  var GENERAL = 0.95;        /* of the weight, for what a general dictionary says */

  /*
   * sources: [[sides, share, isGeneral], ...], the surest first; sides: ["word|two words\n...", "ci ci\n..."],
   * the same in two languages, a row each; a row that begins with "#" is a remark ->
   * {en: flat English form -> rows, zh: Chinese form -> rows, ...}. A row is read when it is asked for: of
   * thousands a query needs a few, and each of their forms kept apart would take five times the memory.
   */
  function readTranslations(sources, folder) {
    var table = { en: Object.create(null), zh: Object.create(null), rows: [], any: false };
    /* One number, or several in a list. */
    function put(side, key, row) {
      var known = side[key];
      if (known === undefined) { side[key] = row; }
      else if (typeof known === "number") { if (known !== row) { side[key] = [known, row]; } }
      else if (known.indexOf(row) === -1) { known.push(row); }
    }
    sources.forEach(function (source) {
      var sides = source[0], chinese = sides ? sides[1].split("\n") : [];
      (sides && sides[0] ? sides[0].split("\n") : []).forEach(function (english, at) {
        var row = { english: english, chinese: folder.text(chinese[at]), share: source[1], isGeneral: source[2] };
        if (english.charAt(0) === "#") { return; }
        table.any = true;
        english.split("|").forEach(function (form) { put(table.en, flat(form, folder), table.rows.length); });
        row.chinese.split(" ").forEach(function (form) { put(table.zh, form, table.rows.length); });
        table.rows.push(row);
      });
    });
    return table;
  }

  function rowsOf(table, side, key) {
    var found = side[key];
    if (found === undefined) { return []; }
    return (typeof found === "number" ? [found] : found).map(function (at) { return table.rows[at]; });
  }

  /* What a form is called in the other language: [[form, share, isGeneral], ...], or null. */
  function calledIn(table, side, key) {
    var forms = [];
    rowsOf(table, side, key).forEach(function (row) {
      var share = row.share * (row.isGeneral && forms.length && !forms[0][2] ? GENERAL : 1);
      (side === table.en ? row.chinese.split(" ") : row.english.split("|")).forEach(function (form) {
        forms.push([form, share, row.isGeneral]);
      });
    });
    return forms.length ? forms : null;
  }

  /*
   * Chinese words for the same. An English word has senses; what a phrase is called, and words
   * that share a character, are one.
   */
  function kinOf(table, form) {
    var kin = [];
    rowsOf(table, table.zh, form).forEach(function (row) {
      var isPhrase = row.english.split("|")[0].indexOf(" ") !== -1;
      if (row.isGeneral) { return; }
      row.chinese.split(" ").forEach(function (other) {
        if (other !== form && (isPhrase || shares(form, other)) && kin.indexOf(other) === -1) { kin.push(other); }
      });
    });
    return kin;
  }

  function shares(one, other) {
    return one.split("").some(function (char) { return other.indexOf(char) !== -1; });
  }

  /* The word and what it may be an inflected form of: caches, cached, caching -> cache. */
  function baseForms(word) {
    var forms = [word], match;
    function put(stem) {
      forms.push(stem, stem + "e");
      if (/([b-df-hj-np-tv-z])\1$/.test(stem)) { forms.push(stem.slice(0, -1)); }
    }
    match = /^(.{2,})(?:ies|ied)$/.exec(word);
    if (match) { forms.push(match[1] + "y"); }
    match = /^(.{2,}[^s])s$/.exec(word);
    if (match) { forms.push(match[1]); }
    match = /^(.{3,})(?:es|ed|ing)$/.exec(word);
    if (match) { put(match[1]); }
    forms.slice().forEach(function (form) {
      if (/is(?=e$|ation$|er$)/.test(form)) { forms.push(form.replace(/is(?=e$|ation$|er$)/, "iz")); }
      if (/our/.test(form)) { forms.push(form.replace("our", "or")); }
    });
    return forms;
  }

  /* What the tokens first..last - 1 of a query are called in Chinese, or null. */
  function chineseFor(table, tokens, first, last) {
    var key = "", i, forms, end, found;
    for (i = first; i < last - 1; i++) { key += tokens[i].form; }
    end = tokens[last - 1].form;
    forms = baseForms(end);
    for (i = 0; i < forms.length; i++) {
      found = calledIn(table, table.en, (key + forms[i]).replace(/[-_]/g, ""));
      if (found) { return found; }
    }
    return null;
  }

  /*
   * Ways to meet atoms by forms of the other language, only those that a section answers. The
   * forms are taken to be as rare as all of them together.
   */
  Engine.prototype.translated = function (index, forms, atoms, weight) {
    var self = this, out = [], seen = Object.create(null), count = 0, most;
    function put(form, terms, isChecked, pair) {
      var way = alternative(index, terms, weight * pair[1], atoms, form,
        { synonym: form, translated: true, general: pair[2], check: isChecked });
      var met = !isChecked, key = terms.join();
      if (seen[key]) { return; }
      seen[key] = true;
      if (isChecked) { self.meet(way, function () { met = true; }); }
      if (!met) { return; }
      count += Math.min.apply(null, terms.map(function (term) { return index.frequency(term); }));
      out.push(way);
    }
    forms.forEach(function (pair) {
      var form = pair[0], terms = termsOf(index, form, self.folder), joint = flat(form, self.folder);
      var words = form.split(" "), last = words.pop();
      if (terms) { put(self.folder.text(form), terms, terms.length > 1, pair); }
      if (!/^[a-z]+$/.test(joint)) { return; }
      if (joint !== form && index.find(joint) >= 0) { put(joint, [index.find(joint)], false, pair); }
      /* Endings: of the last word of a phrase. */
      inflections(index, last).forEach(function (term) {
        var other = words.concat(index.names[term]).join(" ");
        if (baseForms(index.names[term]).indexOf(last) === -1) { return; }
        terms = termsOf(index, other, self.folder);
        if (terms) { put(other, terms, terms.length > 1, pair); }
      });
    });
    most = idfOf(index.size, Math.min(count, index.size));
    out.forEach(function (way) { way.most = most; });
    return out;
  };

  /* Adds ways to meet words and phrases of a query by what they are called in the other language. */
  Engine.prototype.translate = function (read, own, twin, out) {
    var self = this, table = this.dictionary(), tokens = read.tokens, i, j, k, forms, isForeign;
    if (!table.any) { return; }
    isForeign = tokens.every(function (token) { return !token.han; });
    function known(index, atoms) {
      return out.some(function (way) {
        return way.synonym && way.index === index && !way.translated && !way.everyday &&
          atoms.every(function (number) { return way.atoms.indexOf(number) !== -1; });
      });
    }
    function add(from, to, forms) {
      var atoms = [], number, any = false, weight = read.atoms[from].han ? WAY.english : WAY.translated;
      for (number = from; number < to; number++) { atoms.push(number); }
      if (!atoms.some(function (number) { return read.atoms[number].weight > 0; })) { return false; }
      [own, twin].forEach(function (index) {
        if (!index || known(index, atoms)) { return; }
        self.translated(index, forms, atoms, weight * (index === own ? 1 : WAY.twin))
          .forEach(function (way) {
            any = true;
            if (isForeign && atoms.length === 1 && !read.atoms[atoms[0]].han) { cap(index, atoms[0], way.most); }
            out.push(way);
          });
      });
      if (any) { atoms.forEach(function (number) { read.atoms[number].found = true; }); }
      return any;
    }
    /* A word that is rare because the notes use another language is no rarer than what it means. */
    function cap(index, number, most) {
      out.forEach(function (way) {
        if (way.index === index && way.atoms.length === 1 && way.atoms[0] === number && !way.synonym) {
          way.most = Math.min(way.most, most);
        }
      });
    }
    function part(at) {
      var forms = chineseFor(table, tokens, at, at + 1);
      if (forms) { add(tokens[at].first, tokens[at].after, forms); }
    }
    function addKin(from, key) {
      var atoms = [], number, forms = kinOf(table, key);
      if (!forms.length) { return; }
      for (number = from; number < from + key.length - 1; number++) { atoms.push(number); }
      [own, twin].forEach(function (index) {
        if (!index) { return; }
        forms.forEach(function (form) {
          var terms = termsOf(index, form, self.folder);
          if (terms && form.indexOf(key) === -1) {
            out.push(alternative(index, terms, KIN * (index === own ? 1 : WAY.twin), atoms, form,
              { synonym: form, everyday: true, check: terms.length > 1 }));
          }
        });
      });
    }
    for (i = 0; i < tokens.length; i++) {
      if (tokens[i].han) { this.translateRun(read, tokens[i], table, add, addKin); continue; }
      for (j = Math.min(tokens.length, i + MAX_PHRASE); j > i; j--) {
        if (tokens.slice(i, j).some(function (token) { return token.han; })) { continue; }
        forms = chineseFor(table, tokens, i, j);
        if (forms && add(tokens[i].first, tokens[j - 1].after, forms)) {
          if (j > i + 1) { for (k = i; k < j; k++) { part(k); } }
          i = j - 1;
          break;
        }
      }
    }
  };

  Engine.prototype.translateRun = function (read, token, table, add, addKin) {
    var n = token.form.length, i, k, forms;
    for (i = 0; i + 1 < n; i++) {
      for (k = Math.min(n, i + MAX_RUN); k > i + 1; k--) {
        addKin(token.first + i, token.form.slice(i, k));
        forms = calledIn(table, table.zh, token.form.slice(i, k));
        if (forms && add(token.first + i, token.first + k - 1, forms)) {
          i = k - 1;
          break;
        }
      }
    }
  };
