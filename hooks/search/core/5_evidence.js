  /* ---- Whether anything is shown ---------------------------------------------------- */

  /*
   * What speaks for showing a section: its score (on a scale of its own, since the score of any
   * word grows with the number of sections); the share of the words that it holds; how the rarest of
   * these compares with the rarest that was asked for; names of the query in its titles, or terms
   * of four Chinese characters; the share of the query that stands anywhere at all; and that a
   * question was asked, of which fewer words are ever met. Fitted by logistic regression on judged queries of five collections and
   * queries about other matters (README.md), divided by the least sum that shows anything.
   */
  var EVIDENCE = { score: 0.234, share: 0.679, rare: 0.12, name: 0.171, known: 0.423, asked: 0.138 };
  var NAMES = 2;            /* names that are counted */
  var PAIRS = 3;            /* pairs of characters, each beside the next, that are taken for a term */
  var LESSER = 0.75;        /* the least sum of a section below one that is shown */
  var DECISIVE = 5;         /* sections of which one must be shown for others to be */
  var COUNTED = 0.3;        /* weight of a word that is counted */

  Engine.prototype.evidenceOf = function (hit, read, asked, unit) {
    var all = 0, met = 0, rarest = 0, best = 0, names = 0, run = 0, last = -2;
    var texts = this.folded(hit.index, hit.number), title = flatten(texts.title + "\n" + texts.above);
    read.atoms.forEach(function (atom, number) {
      if (atom.han && atom.weight > 0 && texts.title.indexOf(atom.form) !== -1) {
        run = atom.at === last + 1 ? run + 1 : 1;
        last = atom.at;
        if (run === PAIRS) { names += 1; }
      }
      if (atom.weight < COUNTED) { return; }
      all += 1;
      rarest = Math.max(rarest, asked[number]);
      if (!hit.matched[number]) { return; }
      met += 1;
      best = Math.max(best, asked[number]);
      if (!atom.han && atom.weight === 1 && /[a-z]/.test(atom.form) && title.indexOf(flatten(atom.form)) !== -1) { names += 1; }
    });
    return EVIDENCE.score * Math.log(1 + hit.score / unit) + EVIDENCE.share * met / (all || 1) +
      EVIDENCE.rare * best / (rarest || 1) + EVIDENCE.name * Math.min(names, NAMES);
  };

  /*
   * The hits to show, of hits by rank. known: the share of the query that stands somewhere;
   * size: the number of sections that are searched.
   */
  Engine.prototype.shown = function (hits, read, asked, known, size) {
    var unit = idfOf(size, 1), most = 0, self = this;
    var always = EVIDENCE.known * known + (read.isAsked ? EVIDENCE.asked : 0);
    hits.forEach(function (hit, order) {
      hit.evidence = always + self.evidenceOf(hit, read, asked, unit);
      if (order < DECISIVE) { most = Math.max(most, hit.evidence); }
    });
    return most < 1 ? [] : hits.filter(function (hit) { return hit.evidence >= LESSER; });
  };
