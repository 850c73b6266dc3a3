  /* What repaired words mean: synonyms, in either language, as if they had been typed right. */
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
