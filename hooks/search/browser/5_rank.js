  /* ---- Ranking ------------------------------------------------------------------- */

  var CANDIDATES = 120;     /* sections whose title is looked at */
  var READ = 48;            /* sections whose text is looked at */
  var LEAST_SCORE = 0.03;   /* of the best section's score; below, nothing is shown */
  /* How a word is met, worst first, and how well: by a repair, by another way that says little, by
   * a word that asks for the same, by itself. */
  var REPAIRED = 1, HARDLY = 2, ALIKE = 3, ITSELF = 4;
  var GOOD = [0, 0.55, 0.6, 0.75, 1];
  var UNTITLED = 0.7;       /* of a question, for what stands in no title: a way of speaking, more likely */

  var UNMET = 0.5;          /* weight of what nothing meets where other words are met */

  /* A kind is that of the page or, of an entry, its own. */
  function allows(filters, section, twinPage) {
    var page = section.page, tags = page.tags.concat(twinPage ? twinPage.tags : []).map(function (tag) {
      return tag.toLowerCase();
    });
    return (!filters.kinds.length || filters.kinds.indexOf(page.kind) !== -1 || isEntryOf(filters, section)) &&
      filters.tags.every(function (tag) { return tags.indexOf(tag) !== -1; });
  }

  function isEntryOf(filters, section) {
    return !!section.entry && filters.kinds.indexOf(section.entry) !== -1;
  }

  /* The pages and entries that pass filters, when nothing else is asked. */
  Engine.prototype.listed = function (filters, own, twin, limit) {
    var self = this, seen = Object.create(null), hits = [];
    [own, twin].forEach(function (index) {
      if (!index) { return; }
      index.order.forEach(function (number) {
        var section = index.sections[number], other = twin && index === own ? twin.sections[number] : null;
        if (seen[number] || (number !== section.page.first && !isEntryOf(filters, section)) ||
            !allows(filters, section, other && other.page)) { return; }
        seen[number] = true;
        hits.push({ number: number, index: index, score: 1, weak: false, ways: [] });
      });
    });
    return hits.slice(0, limit).map(function (hit) {
      return self.present(hit, { atoms: [], tokens: [], text: "", patterns: {}, language: own.language });
    });
  };

  function howMet(way, twin) {
    return way.repaired ? REPAIRED : way.everyday ? ALIKE :
      way.weight >= 0.4 || way.index === twin ? ITSELF : HARDLY;
  }

  Engine.prototype.rank = function (read, own, twin) {
    var atoms = read.atoms, ways = this.ways(read, own, twin), size = this.size(), self = this;
    var scores = [], how = [], i, number, total = 0, base, cover, repairs, candidates = [];
    var used = [], asked, top = 0, met = 0, weights = 0;
    var pages, above, index, sections = Math.max(own.size, twin ? twin.size : 0);
    for (i = 0; i < atoms.length; i++) {
      scores.push(new Float32Array(size));
      how.push(new Float32Array(size));
      used.push(0);
    }
    ways.forEach(function (way) {
      var by = howMet(way, twin), isMet = false, rarest;
      self.meet(way, function (at, score) {
        var k, atom, value = score * way.weight;
        isMet = true;
        for (k = 0; k < way.atoms.length; k++) {
          atom = way.atoms[k];
          if (value > scores[atom][at]) { scores[atom][at] = value; }
          if (by > how[atom][at]) { how[atom][at] = by; }
        }
      });
      if (!isMet) { return; }
      rarest = Math.min.apply(null, way.terms.map(function (term) { return way.index.frequency(term); }));
      way.atoms.forEach(function (atom) {
        if (!way.everyday || !used[atom]) { used[atom] = Math.max(used[atom], rarest); }
      });
    });
    /* What an atom weighs: rare ones more. One that nothing meets weighs like a rare one. */
    asked = atoms.map(function (atom, k) {
      return atom.weight * Math.min(idfOf(sections, Math.max(used[k], 1)) + 0.3, 5.5);
    });
    if (read.isAsked) {
      asked = asked.map(function (value, k) {
        var form = atoms[k].form;
        return atoms[k].han && form.length > 1 && !rankOf(own, form) && !(twin && rankOf(twin, form)) ? value * UNTITLED : value;
      });
    }
    for (i = 0; i < asked.length; i++) { if (used[i]) { met += atoms[i].weight; } }
    for (i = 0; i < asked.length; i++) {
      atoms[i].counted = !used[i] && met >= 2.5 ? UNMET : 1;
      asked[i] *= atoms[i].counted;
      total += asked[i];
      weights += atoms[i].weight * atoms[i].counted;
    }
    read.defining = defining(read, this.meaning().groups, asked, total);
    base = new Float32Array(size);
    cover = new Float32Array(size);
    for (i = 0; i < atoms.length; i++) {
      for (number = 0; number < size; number++) {
        if (scores[i][number] > 0) {
          base[number] += scores[i][number] * atoms[i].weight;
          cover[number] += asked[i] * GOOD[how[i][number]];
        }
      }
    }
    pages = this.pageCovers(own, twin, how, asked, size);
    for (number = 0; number < size; number++) {
      if (base[number] > 0 && (!read.filters.any || self.lets(number, read, own, twin))) {
        repairs = cover[number] / (total || 1);
        base[number] *= 1 - read.mix.cover + read.mix.cover * repairs * repairs;
        index = own.sections[number] ? own : twin;
        above = pages[index.sections[number].page.first] / (total || 1);
        base[number] *= 1 + read.mix.page * above * above;
        candidates.push(number);
      }
    }
    candidates.sort(function (a, b) { return base[b] - base[a] || a - b; });
    candidates = candidates.slice(0, CANDIDATES).map(function (at) {
      var index = own.sections[at] ? own : twin, weak = false, matched = [];
      for (i = 0; i < atoms.length; i++) {
        matched.push(scores[i][at] > 0);
        if (scores[i][at] > 0 && atoms[i].repaired) { weak = true; }
      }
      return {
        number: at, index: index, score: base[at], cover: cover[at] / (total || 1), weak: weak,
        matched: matched
      };
    });
    candidates = candidates.filter(function (hit) {
      return self.passes(hit, read, own, twin);
    });
    candidates.forEach(function (hit) { self.reward(hit, read, ways, asked, total, own, twin); });
    candidates.sort(function (a, b) {
      return b.score * b.titleValue - a.score * a.titleValue || a.number - b.number;
    });
    /* Reading whole texts takes time: only those that may be shown. */
    candidates.forEach(function (hit, order) {
      if (order < READ) { self.readText(hit, read, asked, total); }
      hit.score *= hit.titleValue + (hit.textValue || 0);
    });
    candidates.sort(function (a, b) { return b.score - a.score || a.number - b.number; });
    top = candidates.length ? candidates[0].score : 0;
    candidates = candidates.filter(function (hit) { return hit.score > top * LEAST_SCORE; });
    return this.shown(candidates, read, met / (weights || 1), sections)
      .map(function (hit) { hit.ways = ways; return hit; });
  };

  /* The sections that define terms of the query: number -> the share of the query that the term is. */
  function defining(read, groups, asked, total) {
    var found = Object.create(null);
    read.spans.forEach(function (span) {
      var i, share = 0;
      for (i = span.from; i < span.to && i < asked.length; i++) { share += asked[i] / (total || 1); }
      span.groups.forEach(function (group) {
        (groups[group][1] || []).forEach(function (number) {
          found[number] = Math.max(found[number] || 0, share);
        });
      });
    });
    return found;
  }

  /* How much of what is asked each page holds in all its sections, by its first number. */
  Engine.prototype.pageCovers = function (own, twin, how, asked, size) {
    var covers = new Float32Array(size), best = new Float32Array(size);
    var first = [], number, section;
    for (number = 0; number < size; number++) {
      section = own.sections[number] || (twin && twin.sections[number]);
      first.push(section ? section.page.first : number);
    }
    asked.forEach(function (weight, i) {
      best.fill(0);
      for (number = 0; number < size; number++) {
        if (how[i][number] > best[first[number]]) {
          covers[first[number]] += weight * (GOOD[how[i][number]] - GOOD[best[first[number]]]);
          best[first[number]] = how[i][number];
        }
      }
    });
    return covers;
  };

  Engine.prototype.size = function () {
    var size = 0, name, order;
    for (name in this.indexes) {
      order = this.indexes[name].lengths;
      if (order.length > size) { size = order.length; }
    }
    return size;
  };

  /* Whether filters let a section through. */
  Engine.prototype.lets = function (number, read, own, twin) {
    var section = own.sections[number], other = twin && twin.sections[number];
    return allows(read.filters, section || other, section && other && other.page);
  };

  /* Whether quoted phrases and words to leave out let a section through. */
  Engine.prototype.passes = function (hit, read, own, twin) {
    var self = this, all = "";
    if (!read.phrases.length && !read.excluded.length) { return true; }
    [hit.index, hit.index === own ? twin : null].forEach(function (index) {
      var texts = index && index.sections[hit.number] ? self.foldedText(index, hit.number) : null;
      if (texts) { all += texts.title + "\n" + texts.text + "\n\n"; }
    });
    function holds(form) { return new RegExp(patternOf(form)).test(all); }
    return read.phrases.every(holds) && !read.excluded.some(function (token) { return holds(token.form); });
  };
