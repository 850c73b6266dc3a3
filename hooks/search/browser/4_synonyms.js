  /* ---- Synonyms, in either language ---------------------------------------------- */

  /* "zero-copy", "zero copy", "Zero Copy" -> zerocopy. */
  function flat(text, folder) {
    return folder.text(text).replace(/[\s\-_]+/g, "");
  }

  /*
   * groups: [[[forms], [sections that define them]], ...] -> {byForm: flat form -> group numbers, groups}.
   */
  function readGroups(groups, folder) {
    var byForm = Object.create(null);
    groups.forEach(function (group, number) {
      group[0].forEach(function (form) {
        var key = flat(form, folder);
        if (!byForm[key]) { byForm[key] = []; }
        if (byForm[key].indexOf(number) === -1) { byForm[key].push(number); }
      });
    });
    return { byForm: byForm, groups: groups };
  }

  /* The spans of a query that are known terms: {from, to (atoms), groups}, longest first. */
  function knownSpans(read, synonyms, folder) {
    var spans = [], tokens = read.tokens, i, j, k, key, groups, n;
    function take(from, to, key) {
      groups = synonyms.byForm[key];
      if (groups && to > from) { spans.push({ from: from, to: to, groups: groups, key: key }); }
    }
    for (i = 0; i < tokens.length; i++) {
      key = "";
      for (j = i; j < tokens.length && j < i + 5; j++) {
        key += tokens[j].form;
        if (!(tokens[j].han && i === j)) {
          take(tokens[i].first, tokens[j].after, key.replace(/[-_]/g, ""));
        }
      }
      if (!tokens[i].han) { continue; }
      n = tokens[i].form.length;
      for (j = 0; j < n; j++) {
        for (k = j + 2; k <= n && k <= j + 10; k++) {
          take(tokens[i].first + j, tokens[i].first + k - 1, tokens[i].form.slice(j, k));
        }
      }
    }
    spans.sort(function (a, b) { return (b.to - b.from) - (a.to - a.from) || a.from - b.from; });
    return spans.filter(function (span, index) {
      return !spans.slice(0, index).some(function (other) {
        return other.from <= span.from && other.to >= span.to &&
          (other.to - other.from > span.to - span.from);
      });
    }).slice(0, 12);
  }

  function meetSynonyms(engine, read, index, factor, out) {
    var synonyms = engine.meaning(), folder = engine.folder;
    function addForms(span, group, weight) {
      var atoms = [], i;
      for (i = span.from; i < span.to && i < read.atoms.length; i++) { atoms.push(i); }
      group[0].forEach(function (form) {
        var key = flat(form, folder), terms;
        if (key === span.key) { return; }
        terms = index.find(key) >= 0 ? [index.find(key)] : null;
        if (terms) {
          out.push(alternative(index, terms, factor * weight, atoms, key, { synonym: form }));
        }
        terms = termsOf(index, form, folder);
        if (terms) {
          out.push(alternative(index, terms, factor * weight, atoms, folder.text(form),
            { synonym: form, check: terms.length > 1 }));
        }
      });
    }
    read.spans.forEach(function (span) {
      span.groups.forEach(function (number) {
        addForms(span, synonyms.groups[number], WAY.synonym);
      });
    });
  }

  /* ---- Everyday words -------------------------------------------------------------- */

  var MAX_SPAN = 6;         /* characters of an everyday word */

  /*
   * table: {light: "words", same: ["word word ...", ...]} -> {light: words, byForm, groups}.
   */
  function readEveryday(table, folder) {
    var byForm = Object.create(null), groups = [];
    (table.same || []).forEach(function (line, number) {
      groups.push(line.split(" ").map(function (form) { return folder.text(form); }));
      groups[number].forEach(function (form) {
        (byForm[form] || (byForm[form] = [])).push(number);
      });
    });
    return {
      light: (table.light || "").split(" ").filter(Boolean).map(function (word) { return folder.text(word); }),
      byForm: byForm, groups: groups
    };
  }

  /*
   * Everyday words of a query: {key, atoms, groups}, those inside longer ones too. One of a single character counts where it joins neither
   * neighbour to a word; it gets an atom of its own.
   */
  function everydaySpans(read, everyday, isWord) {
    var spans = [];
    function inside(from, to) {
      return read.spans.some(function (span) { return span.from <= from && span.to >= to; });
    }
    read.tokens.forEach(function (token) {
      var n = token.form.length, i, k, groups, atoms, taken = 0;
      if (!token.han) {
        groups = everyday.byForm[token.form];
        if (groups && !inside(token.first, token.first + 1)) {
          spans.push({ key: token.form, atoms: [token.first], groups: groups });
        }
        return;
      }
      for (i = 0; i < n; i++) {
        for (k = Math.min(n, i + MAX_SPAN); k > i; k--) {
          groups = everyday.byForm[token.form.slice(i, k)];
          if (!groups || (k <= taken && k - i < 2) || (k - i > 1 && inside(token.first + i, token.first + k - 1))) { continue; }
          if (k - i === 1) {
            if ((i > 0 && isWord(read.atoms[token.first + i - 1])) ||
                (k < n && isWord(read.atoms[token.first + i]))) { continue; }
            atoms = [loneAtom(read, token, i)];
          } else {
            atoms = [];
            for (var at = token.first + i; at < token.first + k - 1; at++) { atoms.push(at); }
          }
          /* Words that only ask are not looked for. */
          if (atoms.every(function (number) { return read.atoms[number].weight < 0.1; })) { continue; }
          spans.push({ key: token.form.slice(i, k), atoms: atoms, groups: groups });
          taken = Math.max(taken, k);
          if (k - i < 2) { break; }
        }
      }
    });
    return spans;
  }

  /* The atom of one character at a place of a run, made when there is none. */
  function loneAtom(read, token, i) {
    var number, atom;
    for (number = 0; number < read.atoms.length; number++) {
      atom = read.atoms[number];
      if (atom.form.length === 1 && atom.at === token.at + i) { return number; }
    }
    read.atoms.push(atomOf(token, read.atoms[token.first].token, token.form.charAt(i), LONE, token.at + i));
    return read.atoms.length - 1;
  }

  /* How rare a word is together with all that ask for the same. */
  function meetEveryday(read, spans, everyday, index, folder, factor, out) {
    spans.forEach(function (span) {
      var found = [], count = 0, seen = Object.create(null);
      span.groups.forEach(function (number) {
        everyday.groups[number].forEach(function (form) {
          var terms;
          if (seen[form]) { return; }
          seen[form] = true;
          terms = form.length > 1 ? termsOf(index, form, folder) : null;
          if (terms) {
            count += Math.min.apply(null, terms.map(function (term) { return index.frequency(term); }));
            if (form !== span.key) { found.push([form, terms]); }
          }
        });
      });
      found.forEach(function (one) {
        out.push(alternative(index, one[1], factor * WAY.everyday, span.atoms, one[0],
          { synonym: one[0], everyday: true, most: idfOf(index.size, Math.min(count, index.size)) }));
      });
    });
  }

