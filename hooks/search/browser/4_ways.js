  /* ---- Ways to meet a query ---------------------------------------------------------- */

  var MAX_CHECKED = 400;    /* texts looked at for one alternative */
  var LONE = 0.35;          /* weight of a character whose pairs nothing meets */

  function escapeRegExp(text) { return text.replace(/[|\\{}()[\]^$+*?.\/-]/g, "\\$&"); }

  /* A pattern for a form as it may stand in a folded text: zerocopy, zero-copy, zero copy. */
  function patternOf(form) {
    if (isHan(form)) { return escapeRegExp(form); }
    return form.split(/[\s\-_]+/).map(function (word) {
      return word.split("").map(escapeRegExp).join("[-_]?");
    }).join("[-_\\s]{0,2}");
  }

  /* Numbers of the sections that hold all terms of an alternative, with what they get for it. */
  Engine.prototype.meet = function (way, give) {
    var index = way.index, i, j, k, term, scores, number, pattern, checked = 0, found, texts, held = null, next;
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
      scores = Math.min(index.idf(term), way.most);
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
    read.atoms.forEach(function (atom) {
      atom.isSlip = !atom.han && isSlip(atom.form, twin ? [own, twin] : [own]);
    });
    [own, twin].forEach(function (index) {
      var factor = index === own ? 1 : WAY.twin;
      if (!index) { return; }
      read.atoms.forEach(function (atom, number) {
        if (atom.weight === 0) { return; }
        if (atom.han) { meetHan(read, number, index, factor, out); }
        else { meetLatin(self, read, number, index, factor, out); }
      });
      meetSynonyms(self, read, index, factor, out);
    });
    out.forEach(function (way) {
      if (way.terms.length > 1 && way.check) { return; }
      way.atoms.forEach(function (number) { read.atoms[number].found = true; });
    });
    read.isAsked = isSentence(read);
    read.mix = read.isAsked ? ASKED : MIX;
    if (read.isAsked) { this.paraphrase(read, own, twin, out); }
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
      if (read.atoms[number].weight < 0.3 || read.atoms[number].isCrossing) { return; }
      if (read.atoms[number].han) { repairHan(self, read, number, index, factor, more); }
      else { repairLatin(read, number, index, factor, more); }
      if (!more.length) { meetPart(read, number, index, factor, self.folder, more); }
    });
    this.mend(read, own, twin, out);
    return out;
  };

  /* Words that ask for the same as an everyday word of the query. */
  Engine.prototype.paraphrase = function (read, own, twin, out) {
    var spans = everydaySpans(read, this.everyday(), function (atom) {
      return atom && atom.found && atom.weight >= 0.45;
    });
    var self = this;
    [own, twin].forEach(function (index) {
      var more = [];
      if (!index) { return; }
      meetEveryday(read, spans, self.everyday(), index, self.folder, index === own ? 1 : WAY.twin, more);
      more.forEach(function (way) {
        way.atoms.forEach(function (number) { read.atoms[number].found = true; });
        out.push(way);
      });
    });
  };

  /* Whether a query is a sentence rather than a few words. */
  function isSentence(read) {
    return read.tokens.some(function (token) { return token.isAsked; }) ||
      (read.tokens.length > 3 && read.tokens.some(function (token) { return STOP_EN[token.form]; }));
  }

  /* For atoms that nothing meets: other ways, in the reader's language, else in the twin's. */
  Engine.prototype.retry = function (read, own, twin, out, ask) {
    read.atoms.forEach(function (atom, number) {
      var more = [];
      if (atom.found || atom.weight === 0) { return; }
      if (own) { ask(number, own, 1, more); }
      if (!more.length && twin) { ask(number, twin, WAY.twin, more); }
      more.forEach(function (way) {
        atom.found = true;
        if (way.repaired && !atom.repaired) { atom.repaired = way.form; }
        out.push(way);
      });
    });
  };

  function rankOf(index, form) {
    var term = form.length > 1 ? index.han(form.charCodeAt(0), form.charCodeAt(1)) : -1;
    return term >= 0 && index.titled[term];
  }
