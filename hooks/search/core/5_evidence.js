  /* ---- Whether anything is shown ---------------------------------------------------- */

  /*
   * What speaks for showing a section: its score (on a scale of its own, since the score of any
   * word grows with the number of sections); the share of the words that it holds; how the rarest of
   * these compares with the rarest that was asked for; the share, by weight, of what stands in its titles and of
   * what stands in the collection at all; and that a question was asked, of which fewer words are ever met.
   * Fitted by logistic regression on judged queries of five collections and queries about
   * other matters (README.md), divided by the least sum that shows anything.
   */
  var EVIDENCE = { score: 0.237, share: 0.64, rare: 0.143, title: 0.183, known: 0.422, asked: 0.13 };
  var LESSER = 0.75;        /* the least sum of a section below one that is shown */
  var DECISIVE = 5;         /* sections of which one must be shown for others to be */
  var COUNTED = 0.3;        /* weight of a word that is counted */

  Engine.prototype.evidenceOf = function (hit, read, asked, total, unit) {
    var all = 0, met = 0, rarest = 0, best = 0, titled = 0, texts = this.folded(hit.index, hit.number);
    var title = flatten(texts.title + "\n" + texts.above);
    read.atoms.forEach(function (atom, number) {
      if (atom.weight < COUNTED) { return; }
      all += 1;
      rarest = Math.max(rarest, asked[number]);
      if (title.indexOf(atom.form) !== -1) { titled += asked[number]; }
      if (!hit.matched[number]) { return; }
      met += 1;
      best = Math.max(best, asked[number]);
    });
    return EVIDENCE.score * Math.log(1 + hit.score / unit) + EVIDENCE.share * met / (all || 1) +
      EVIDENCE.rare * best / (rarest || 1) + EVIDENCE.title * titled / (total || 1);
  };

  /*
   * The hits to show, of hits by rank. known: the share of the query that stands somewhere;
   * size: the number of sections that are searched.
   */
  Engine.prototype.shown = function (hits, read, asked, total, known, size) {
    var unit = idfOf(size, 1), most = 0, self = this;
    var always = EVIDENCE.known * known + (read.isAsked ? EVIDENCE.asked : 0);
    hits.forEach(function (hit, order) {
      hit.evidence = always + self.evidenceOf(hit, read, asked, total, unit);
      if (order < DECISIVE) { most = Math.max(most, hit.evidence); }
    });
    return most < 1 ? [] : hits.filter(function (hit) { return hit.evidence >= LESSER; });
  };
