  /* ---- Ways to meet an atom ------------------------------------------------------ */

  /* What a way of meeting counts by. */
  var WAY = {
    twin: 0.5, inflected: 0.85, parts: 0.7, prefix: 0.75, synonym: 0.75, everyday: 0.65,
    repaired: 0.6, single: 0.6
  };
  var MAX_PREFIXED = 40;

  /*
   * An alternative: index, terms (a section must hold all of them), weight, atoms (which it
   * meets), form (what stands in the text), check (whether the text is to be looked at).
   */
  function alternative(index, terms, weight, atoms, form, options) {
    var made = {
      index: index, terms: terms, weight: weight, atoms: atoms, form: form,
      check: false, repaired: false, prefix: false, most: 99
    }, name;
    for (name in options) { made[name] = options[name]; }
    return made;
  }

  /* The terms of a text, or null when the index lacks one of them. */
  function termsOf(index, text, folder) {
    var terms = [], tokens = tokensOf(text, folder), i, j, form, term;
    for (i = 0; i < tokens.length; i++) {
      form = tokens[i].form;
      if (!tokens[i].han) {
        term = index.find(form);
        if (term < 0) { return null; }
        terms.push(term);
        continue;
      }
      if (form.length === 1) { continue; }
      for (j = 0; j + 1 < form.length; j++) {
        term = index.han(form.charCodeAt(j), form.charCodeAt(j + 1));
        if (term < 0) { return null; }
        terms.push(term);
      }
    }
    return terms.length ? terms : null;
  }

  var ENDINGS = ["", "s", "es", "ed", "d", "ing", "er", "ers", "or", "ion", "ions", "ation", "e",
    "al", "ly", "able", "ment"];

  /* Forms that differ by an English ending, if the index has them. */
  function inflections(index, form) {
    var stems = [form], found = [], match, i, j, other, term;
    if (form.length < 3 || !/^[a-z]+$/.test(form)) { return found; }
    match = /^(.{3,}?)(?:ies|ied|ying)$/.exec(form);
    if (match) { stems.push(match[1] + "y"); }
    match = /^(.{3,}?)(?:ations?|ions?|ing|ers?|ors?|ed|es|s|e|al|ly|able|ment)$/.exec(form);
    if (match) {
      stems.push(match[1]);
      if (/([b-df-hj-np-tv-z])\1$/.test(match[1])) { stems.push(match[1].slice(0, -1)); }
    }
    if (/[^aeiou]y$/.test(form)) { stems.push(form.slice(0, -1) + "ie"); }
    /* British and American: optimise, optimize; behaviour, behavior; fibre, fiber. */
    stems.slice().forEach(function (stem) {
      [[/is(?=(?:e|ed|es|ing|ation|ations|er|ers)?$)/, "iz"], [/iz(?=(?:e|ed|es|ing|ation|ations|er|ers)?$)/, "is"],
        [/our(?=s|al|ed)?/, "or"], [/or(?=s|al|ed)?$/, "our"],
        [/ys(?=e|ed|ing$)/, "yz"], [/yz(?=e|ed|ing$)/, "ys"]].forEach(function (pair) {
        if (pair[0].test(stem)) { stems.push(stem.replace(pair[0], pair[1])); }
      });
    });
    for (i = 0; i < stems.length; i++) {
      for (j = 0; j < ENDINGS.length; j++) {
        other = stems[i] + ENDINGS[j];
        if (other !== form && Math.min(other.length, form.length) >= 3) {
          term = index.find(other);
          if (term >= 0 && found.indexOf(term) === -1) { found.push(term); }
        }
      }
    }
    return found;
  }

  /* Whether an unknown name is a letter away from one that stands in titles: repaired, not stemmed. */
  function isSlip(form, indexes) {
    var known = indexes.some(function (index) { return index.find(form) >= 0 || index.prefixed(form, 1).length; });
    return !known && form.length > 4 && /^[a-z]+$/.test(form) && indexes.some(function (index) {
      var alike = inflections(index, form);
      return index.list().some(function (other) {
        var term = index.latin[other];
        return index.titled[term] && other.charAt(0) === form.charAt(0) && other.length >= form.length &&
          alike.indexOf(term) === -1 && distance(form, other, 1) === 1;
      });
    });
  }

  /* The alternatives of one Latin atom in one language. */
  function meetLatin(engine, read, number, index, factor, out) {
    var atom = read.atoms[number], folder = engine.folder, term = index.find(atom.form);
    var token = read.tokens[atom.token], forms, i, parts, terms, found, list;
    if (term >= 0) { out.push(alternative(index, [term], factor, [number], atom.form)); }
    (atom.isSlip ? [] : inflections(index, atom.form)).forEach(function (other) {
      out.push(alternative(index, [other], factor * WAY.inflected, [number], index.names[other]));
    });
    /* all-reduce where the text says "all ... reduce"; 900GB/s where it says 900 GB/s. */
    if (/[-_.:\/A-Z0-9]/.test(atom.raw)) {
      forms = atom.raw.split(/[-_\u2010-\u2015]+|::|\.(?![0-9])/).filter(Boolean);
      if (forms.length === 1) {
        found = QUANTITY.exec(atom.form) || SERIES.exec(atom.form);
        forms = found ? [found[1], found[2]] : atom.raw.replace(CAMEL, "$&\u0000").split("\u0000");
      }
      if (forms.length > 1) {
        terms = [];
        for (i = 0; i < forms.length; i++) {
          parts = index.find(joined(forms[i], folder));
          if (parts >= 0) { terms.push(parts); }
        }
        if (terms.length === forms.length) {
          out.push(alternative(index, terms, factor * WAY.parts, [number], atom.form,
            { pattern: forms.map(function (form) { return joined(form, folder); }), check: true }));
        }
      }
    }
    /* A name begun: always for the word being typed, else where nothing else is known. */
    if (atom.form.length > 1 && (token.isLast || term < 0)) {
      list = index.prefixed(atom.form, MAX_PREFIXED);
      list.forEach(function (other) {
        var share = atom.form.length / index.names[other].length;
        var weight = factor * WAY.prefix * (term < 0 ? 0.75 + 0.25 * share : 0.25 + 0.45 * share);
        out.push(alternative(index, [other], weight, [number], index.names[other], { prefix: true }));
      });
    }
  }

  /* Of a name that stands nowhere the longest part that does: GR_ENGINE_ACTIVE, qwen3. */
  function meetPart(read, number, index, factor, folder, out) {
    var names = read.atoms[number].raw.split(/[-_]/), length, i, name, term;
    for (length = names.length - 1; length && !out.length; length--) {
      for (i = 0; i + length <= names.length; i++) {
        name = names.slice(i, i + length).join("_");
        term = length > 1 || /[a-z]\d|\d[a-z]/i.test(name) ? index.find(joined(name, folder)) : -1;
        if (term >= 0) { out.push(alternative(index, [term], factor * WAY.parts, [number], index.names[term])); }
      }
    }
  }

  function meetHan(read, number, index, factor, out) {
    var form = read.atoms[number].form, term, idf;
    if (form.length === 1) {
      term = index.begins[form.charCodeAt(0)] + index.ends[form.charCodeAt(0)];
      idf = idfOf(index.size, Math.min(term, index.size));
      term = index.han(form.charCodeAt(0), 0);
      if (term >= 0) { out.push(alternative(index, [term], factor, [number], form, { most: idf })); }
      index.holding(form.charCodeAt(0), 300).forEach(function (other) {
        out.push(alternative(index, [other], factor * WAY.single, [number], form, { most: idf }));
      });
      return;
    }
    term = index.han(form.charCodeAt(0), form.charCodeAt(1));
    if (term >= 0) { out.push(alternative(index, [term], factor, [number], form)); }
  }

  /* ---- Repair -------------------------------------------------------------------- */

  /* Letters changed, left out, put in or swapped between two words; `most` + 1 when more. */
  function distance(a, b, most) {
    var before = [], row = [], next, i, j, cost, least, earlier;
    if (Math.abs(a.length - b.length) > most) { return most + 1; }
    for (j = 0; j <= b.length; j++) { row.push(j); }
    for (i = 1; i <= a.length; i++) {
      next = [i];
      least = i;
      for (j = 1; j <= b.length; j++) {
        cost = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + cost);
        if (i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
            a.charCodeAt(i - 2) === b.charCodeAt(j - 1)) {
          earlier = before[j - 2] + 1;
          if (earlier < next[j]) { next[j] = earlier; }
        }
        if (next[j] < least) { least = next[j]; }
      }
      if (least > most) { return most + 1; }
      before = row;
      row = next;
    }
    return row[b.length];
  }

  function letters(word) {
    var mask = 0, i;
    for (i = 0; i < word.length; i++) { mask |= 1 << (word.charCodeAt(i) & 31); }
    return mask;
  }

  function bits(mask) {
    var count = 0;
    while (mask) { mask &= mask - 1; count += 1; }
    return count;
  }

  function repairLatin(read, number, index, factor, out) {
    var form = read.atoms[number].form, most, list, i, other, far, best = [], mask, masks, limit;
    if (form.length < 4 || form.length > 40 || /^[0-9.]+$/.test(form)) { return; }
    most = form.length < 5 ? 1 : form.length < 8 ? 1.5 : 2;
    limit = Math.ceil(most);
    list = index.list();
    masks = index.letters();
    mask = letters(form);
    for (i = 0; i < list.length; i++) {
      if (mask !== masks[i] && bits(mask ^ masks[i]) > 2 * limit) { continue; }
      other = list[i];
      if (Math.abs(other.length - form.length) > limit || other.length < 3) { continue; }
      far = distance(form, other, limit);
      if (far > limit) { continue; }
      if (/[0-9]/.test(form) && form.replace(/[^0-9]+/g, "") !== other.replace(/[^0-9]+/g, "")) {
        continue;
      }
      if (other.charCodeAt(0) !== form.charCodeAt(0)) { far += 0.6; }
      if (far <= most) { best.push({ term: index.latin[other], far: far, name: other }); }
    }
    best.sort(function (a, b) {
      return a.far - b.far || index.frequency(b.term) - index.frequency(a.term);
    });
    best = best.filter(function (one) { return one.far <= best[0].far + 0.3; }).slice(0, 6);
    best.forEach(function (one) {
      out.push(alternative(index, [one.term], factor * WAY.repaired / (1 + 0.25 * (one.far - 1)),
        [number], one.name, { repaired: true }));
    });
  }

  /* Sound of a character: a syllable's number, 0 when unknown. Near sounds share a number. */
  function soundsOf(table) {
    var sounds = new Uint16Array(65536), i, j, line, near = Object.create(null), key, count = 0;
    for (i = 0; i < table.length; i++) {
      line = table[i].split(" ");
      key = line[0].replace(/^([zcs])h/, "$1").replace(/([ei])ng$/, "$1n");
      if (!near[key]) { near[key] = ++count; }
      for (j = 0; j < line[1].length; j++) { sounds[line[1].charCodeAt(j)] = near[key]; }
    }
    return sounds;
  }

  Index.prototype.bySound = function (sounds) {
    var by = this.sounding;
    if (!by) {
      by = this.sounding = Object.create(null);
      this.hans.forEach(function (term, key) {
        var a = sounds[key >>> 16], b = sounds[key & 0xffff], pair = a * 2048 + b;
        if (a && b) { (by[pair] || (by[pair] = [])).push(key); }
      });
    }
    return by;
  };

  function repairHan(engine, read, number, index, factor, out) {
    var form = read.atoms[number].form, a, b, table, found;
    if (form.length !== 2) { return; }
    a = engine.sounding()[form.charCodeAt(0)];
    b = engine.sounding()[form.charCodeAt(1)];
    if (a && b) {
      table = index.bySound(engine.sounding());
      found = (table[a * 2048 + b] || []).filter(function (key) {
        /* One of the two characters is as typed, or the pair stands in a title. */
        return (key >>> 16) === form.charCodeAt(0) || (key & 0xffff) === form.charCodeAt(1) ||
          index.titled[index.hanTerm(key, false)];
      });
      found.sort(function (one, other) {
        return index.frequency(index.hanTerm(other, false)) -
          index.frequency(index.hanTerm(one, false));
      });
      found.slice(0, 4).forEach(function (key) {
        out.push(alternative(index, [index.hanTerm(key, false)], factor * WAY.repaired, [number],
          String.fromCharCode(key >>> 16, key & 0xffff), { repaired: true }));
      });
    }
  }
