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
    if (form.length < 5 || !/^[a-z]+$/.test(form) || baseForms(form).some(function (base) { return table.en[base] !== undefined; })) {
      return null;
    }
    for (key in table.en) {
      if (key.length > 4 && key.charAt(0) === form.charAt(0) && Math.abs(key.length - form.length) < 2 &&
          distance(form, key, 1) < 2) {
        if (found) { return null; }
        found = key;
      }
    }
    return found;
  };

  /*
   * What repaired words mean: synonyms and words of the other language, as if they had been typed
   * right. A word that resembles none of the notes' words may resemble one that is translated.
   */
  Engine.prototype.mend = function (read, own, twin, out) {
    var self = this, meant = Object.create(read), mended = [], more = [];
    function isMended(number) { return mended[number]; }
    meant.tokens = read.tokens.map(function (token) {
      var atom = read.atoms[token.first], other;
      if (token.han || !atom.weight) { return token; }
      other = Object.create(token);
      other.form = mended[token.first] = atom.repaired || (atom.found ? null : self.resembled(token.form));
      return other.form ? other : token;
    });
    if (!mended.some(Boolean)) { return; }
    meant.spans = knownSpans(meant, this.meaning(), this.folder);
    [own, twin].forEach(function (index) {
      if (index) { meetSynonyms(self, meant, index, index === own ? 1 : WAY.twin, more); }
    });
    this.translate(meant, own, twin, more);
    more.filter(function (way) { return way.atoms.some(isMended); }).forEach(function (way) {
      way.weight *= WAY.repaired;
      way.repaired = true;
      way.atoms.forEach(function (number) {
        read.atoms[number].found = true;
        if (mended[number]) { read.atoms[number].repaired = mended[number]; }
      });
      out.push(way);
    });
  };
