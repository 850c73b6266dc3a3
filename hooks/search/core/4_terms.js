  /* ---- Terms of several words, and what repaired words mean --------------------------- */

  var COMPONENT = 0.7;      /* of the weight, for a word of a term where it stands alone */

  /*
   * Words that make a term ("load balancing") say less one by one than together; where they stand
   * side by side they are the term.
   */
  Engine.prototype.asTerms = function (read, own, twin, out) {
    var self = this, terms = Object.create(null), isPart = [];
    out.forEach(function (way) {
      var first = way.atoms[0], last = way.atoms[way.atoms.length - 1];
      if (!way.synonym || first === last || read.atoms[first].han) { return; }
      way.atoms.forEach(function (number) { isPart[number] = true; });
      terms[first + " " + last] = way.atoms;
    });
    out.forEach(function (way) {
      if (way.atoms.length === 1 && isPart[way.atoms[0]]) { way.weight *= COMPONENT; }
    });
    Object.keys(terms).forEach(function (key) {
      var form = terms[key].map(function (number) { return read.atoms[number].form; }).join(" ");
      [own, twin].forEach(function (index) {
        var found = index && termsOf(index, form, self.folder);
        if (!found) { return; }
        out.push(alternative(index, found, index === own ? WAY.phrase : WAY.twin, terms[key], form, { check: true }));
      });
    });
  };

  /* The one translated word that a word differs from by one slip, or null. */
  Engine.prototype.resembled = function (form) {
    var table = this.dictionary(), key, found = null;
    if (form.length < 5 || !/^[a-z]+$/.test(form)) { return null; }
    for (key in table.en) {
      if (key.length > 4 && key.charAt(0) === form.charAt(0) && Math.abs(key.length - form.length) < 2 &&
          distance(form, key, 1) < 2) {
        if (found) { return null; }
        found = key;
      }
    }
    return found;
  };

  /* The tokens of a query as they were meant: {tokens, isMended: whether any differs, by token}. */
  Engine.prototype.meantTokens = function (read) {
    var self = this, isMended = [], isAny = false;
    var tokens = read.tokens.map(function (token, number) {
      var atom = read.atoms[token.first], form, other = {}, name;
      if (token.han || !atom.weight) { return token; }
      form = atom.repaired || (atom.found ? null : self.resembled(token.form));
      if (!form) { return token; }
      for (name in token) { other[name] = token[name]; }
      other.form = form;
      isMended[number] = isAny = true;
      return other;
    });
    return isAny ? { tokens: tokens, isMended: isMended } : null;
  };

  /*
   * What repaired words mean: synonyms and words of the other language, as if they had been typed
   * right. A word that resembles none of the notes' words may resemble one that is translated.
   */
  Engine.prototype.mend = function (read, own, twin, out) {
    var self = this, meant = {}, name, more = [], found = this.meantTokens(read);
    if (!found) { return; }
    function mended(number) { return found.isMended[read.tokens.indexOf(tokenOf(number))]; }
    function tokenOf(number) {
      return read.tokens.filter(function (token) { return token.first <= number && number < token.after; })[0];
    }
    for (name in read) { meant[name] = read[name]; }
    meant.tokens = found.tokens;
    meant.spans = knownSpans(meant, this.meaning(), this.folder);
    [own, twin].forEach(function (index) {
      if (index) { meetSynonyms(self, meant, index, index === own ? 1 : WAY.twin, more); }
    });
    this.translate(meant, own, twin, more);
    more.filter(function (way) { return way.atoms.some(mended); }).forEach(function (way) {
      way.weight *= WAY.repaired;
      way.repaired = true;
      way.atoms.forEach(function (number) {
        read.atoms[number].found = true;
        if (mended(number)) { read.atoms[number].repaired = meant.tokens[read.tokens.indexOf(tokenOf(number))].form; }
      });
      out.push(way);
    });
  };
