  /* ---- Whether anything is shown ---------------------------------------------------- */

  /*
   * What speaks for showing a section: its score (on a scale of its own, since the score of any
   * word grows with the number of sections); the share of the words that it holds; names of the
   * query in its titles, or terms of four Chinese characters; and the share of the query that stands
   * anywhere at all. Fitted by logistic regression on judged queries of five collections and on
   * queries about other matters (README.md), divided by the least sum that shows anything. Of a
   * question in Chinese fewer words are met.
   */
  var EVIDENCE = { score: 0.332, share: 0.774, name: 0.166, known: 0.528, asked: 0.05 };
  var NAMES = 2;            /* names that are counted */
  var PAIRS = 3;            /* pairs of characters, each beside the next, that are taken for a term */
  var COUNTED = 0.3;        /* weight of a word that is counted */
  var DECISIVE = 5;         /* sections of which one must be shown for others to be */
  var MANY = 9, LONGER = 0.9; /* words of a long query, and what is enough for it */
  var LESSER = 0.75;        /* the least sum of these others */

  Engine.prototype.evidenceOf = function (hit, read, unit) {
    var all = 0, met = 0, names = 0, run = 0, last = -2;
    var texts = this.folded(hit.index, hit.number), title = flatten(texts.title + "\n" + texts.above);
    read.atoms.forEach(function (atom, number) {
      if (atom.han && atom.weight > 0 && texts.title.indexOf(atom.form) !== -1) {
        run = atom.at === last + 1 ? run + 1 : 1;
        last = atom.at;
        if (run === PAIRS) { names += 1; }
      }
      if (atom.weight < COUNTED) { return; }
      all += atom.counted;
      if (!hit.matched[number]) { return; }
      met += 1;
      if (!atom.han && atom.weight === 1 && /[a-z]/.test(atom.form) && title.indexOf(flatten(atom.form)) !== -1) { names += 1; }
    });
    return EVIDENCE.score * Math.log(1 + hit.score / unit) + EVIDENCE.share * met / (all || 1) +
      EVIDENCE.name * Math.min(names, NAMES);
  };

  /*
   * The hits to show, of hits by rank. known: the share of the query that stands somewhere;
   * size: the number of sections that are searched.
   */
  Engine.prototype.shown = function (hits, read, known, size) {
    var unit = idfOf(size, 1), self = this, isAsked, always;
    isAsked = read.tokens.some(function (token) { return token.isAsked; });
    always = EVIDENCE.known * known + (isAsked ? EVIDENCE.asked : 0);
    function speaks(least) {
      return function (hit) { return always + self.evidenceOf(hit, read, unit) >= least; };
    }
    return hits.slice(0, DECISIVE).some(speaks(read.atoms.length > MANY ? LONGER : 1)) ? hits.filter(speaks(LESSER)) : [];
  };
