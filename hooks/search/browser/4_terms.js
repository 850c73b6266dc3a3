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

  /*
   * What repaired words mean: synonyms, in either language, as if they had been typed right.
   */
  Engine.prototype.mend = function (read, own, twin, out) {
    var self = this, meant = Object.create(read), mended = [], more = [];
    function isMended(number) { return mended[number]; }
    meant.tokens = read.tokens.map(function (token) {
      var atom = read.atoms[token.first], other;
      if (token.han || !atom.weight || !atom.repaired) { return token; }
      other = Object.create(token);
      other.form = mended[token.first] = atom.repaired;
      return other;
    });
    if (!mended.some(Boolean)) { return; }
    meant.spans = knownSpans(meant, this.meaning(), this.folder);
    [own, twin].forEach(function (index) {
      if (index) { meetSynonyms(self, meant, index, index === own ? 1 : WAY.twin, more); }
    });
    more.filter(function (way) { return way.atoms.some(isMended); }).forEach(function (way) {
      way.weight *= WAY.repaired;
      way.repaired = true;
      way.atoms.forEach(function (number) { read.atoms[number].found = true; });
      out.push(way);
    });
  };
