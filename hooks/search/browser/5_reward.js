  /* ---- What title and text add ------------------------------------------------------ */

  /* "References" and the like, in both languages: they name things without explaining them. */
  var REFERENCES = new RegExp("^(?:\u53c2\u8003(?:\u8d44\u6599|\u6587\u732e|\u94fe\u63a5)?" +
    "(?:\u4e0e\u6ce8\u91ca)?|\u5916\u90e8\u94fe\u63a5|\u5ef6\u4f38\u9605\u8bfb|\u6269\u5c55\u9605\u8bfb|" +
    "\u672a\u6838\u5b9e|not verified|references|bibliography|see also|further reading|external links)$", "i");
  /* Lists that a build makes, and tables of questions: they name much and explain little. */
  var BESIDE = /^(?:tags|maps|messages)(?:\/|$)/, ANSWERS = /\/faq/, FEW = 4; /* words that are no question */
  var TWIN = 0.85, QUESTIONED = 0.7; /* the other language's title, and a question, beside the own title */
  var FOREIGN = 0.4;        /* for a section that the reader's language lacks */
  /*
   * What counts by how much: a title that holds the query, the page's title and the section's
   * together, runs of the query as typed, one paragraph that holds it, a row or definition that
   * begins with a word of it, all sections of the page together, how much of the query the
   * section holds, a heading that many pages have.
   */
  var MIX = { title: 0.9, above: 0.7, phrase: 0.25, block: 0.5, heading: 0.45, page: 1.5, cover: 0.75,
    stock: 0.9 };
  /* The same for a question in words of every day: fewer of them will be met. */
  var ASKED = { title: 1.5, above: 0.7, phrase: 0.5, block: 0.5, heading: 0.45, page: 0.8, cover: 0.6,
    stock: 0.9, kin: 0.8, kinAbove: 0.3 };
  var BLOCKS = 400;         /* paragraphs of a section that are looked at */
  /* How much more a section counts that defines a term of the query; where that is asked for. */
  var DEFINED = 0.5, ASKED_DEFINITION = 2;

  /* Forms under which atoms may stand in a text: [[pattern, atoms, weight], ...]. */
  function formsAsked(read, ways) {
    var seen = Object.create(null), forms = [];
    read.atoms.forEach(function (atom, number) {
      if (atom.weight > 0) { put(atom.form, [number], 1); }
    });
    ways.forEach(function (way) {
      if (!way.prefix || way.weight > 0.5) { put(way.form, way.atoms, Math.min(1, way.weight + 0.2)); }
    });
    function put(form, atoms, weight) {
      var key = form + "|" + atoms.join();
      if (seen[key] || forms.length > 160) { return; }
      seen[key] = true;
      forms.push({ form: form, flat: form.replace(/[\s\-_]+/g, ""), atoms: atoms, weight: weight,
        han: isHan(form) });
    }
    return forms;
  }

  /* How much of what is asked a text holds, 0 to 1; flat: without blanks and joints. */
  function covered(text, forms, asked, total, count) {
    var best = [], i, j, sum = 0, form;
    for (i = 0; i < count; i++) { best.push(0); }
    for (i = 0; i < forms.length; i++) {
      form = forms[i];
      if (!holdsForm(text, form)) { continue; }
      for (j = 0; j < form.atoms.length; j++) {
        if (form.weight > best[form.atoms[j]]) { best[form.atoms[j]] = form.weight; }
      }
    }
    for (i = 0; i < count; i++) { sum += best[i] * asked[i]; }
    return total ? sum / total : 0;
  }

  function holdsForm(text, form) {
    var at, end;
    if (form.han) { return text.indexOf(form.form) !== -1; }
    /* A short name is a word of its own: GDR is not in GDRCopy. */
    for (at = text.indexOf(form.flat); at !== -1; at = text.indexOf(form.flat, at + 1)) {
      end = at + form.flat.length;
      if (form.flat.length > 3 || (!isPlain(text.charCodeAt(at - 1)) && !/^[a-z]{2}/.test(text.substr(end, 2)))) {
        return true;
      }
    }
    return false;
  }

  function isPlain(code) { return (code >= 97 && code <= 122) || (code >= 48 && code <= 57); }

  function flatten(text) { return text.replace(/[-_]+/g, ""); }

  /* Whether code at `at` begins a block without being all of it. */
  function opensBlock(text, at) {
    var end = text.indexOf(CODE_CLOSE, at);
    return (at === 0 || text.charCodeAt(at - 1) === 10) && end !== -1 && end + 1 < text.length &&
      text.charCodeAt(end + 1) !== 10 && text.slice(at, end).indexOf("\n") === -1;
  }

  /* How much of a title is asked for, 0 to 1. */
  function explained(title, forms) {
    var mask = [], i, j, at, form, all = 0, met = 0;
    for (i = 0; i < forms.length; i++) {
      form = forms[i].han ? forms[i].form : forms[i].flat;
      if (forms[i].weight < 0.5 || !form) { continue; }
      for (at = title.indexOf(form); at !== -1; at = title.indexOf(form, at + 1)) {
        for (j = at; j < at + form.length; j++) { mask[j] = true; }
      }
    }
    for (i = 0; i < title.length; i++) {
      if (/[0-9a-z\u00aa-\uffff]/.test(title.charAt(i))) {
        /* A Han character is about as much as two letters. */
        j = title.charCodeAt(i) >= 0x2e80 ? 2 : 1;
        all += j;
        met += mask[i] ? j : 0;
      }
    }
    return all ? met / all : 0;
  }

  /* How much of what is asked begins a block, as a row of a table or a definition does. */
  function heading(text, forms, asked, total) {
    var sum = 0, seen = [], i, j, at, form, before;
    for (i = 0; i < forms.length; i++) {
      form = forms[i];
      if (form.weight < 0.9) { continue; }
      at = text.indexOf(form.form);
      while (at !== -1) {
        before = text.charCodeAt(at - 1);
        if (at === 0 || before === 10 || (before === 0xe001 && opensBlock(text, at - 1))) {
          for (j = 0; j < form.atoms.length; j++) {
            if (!seen[form.atoms[j]]) { sum += asked[form.atoms[j]]; seen[form.atoms[j]] = true; }
          }
          break;
        }
        at = text.indexOf(form.form, at + 1);
      }
    }
    return total ? Math.min(1, sum / total) : 0;
  }

  /* The query without blanks and joints, repaired where it was. */
  function meantPhrase(read) {
    return read.tokens.map(function (token) {
      var form = token.form, i, atom, at;
      for (i = token.first; i < token.after; i++) {
        atom = read.atoms[i];
        at = i - token.first;
        if (atom.repaired && !token.han) { form = atom.repaired; }
        else if (atom.repaired) { form = form.slice(0, at) + atom.repaired + form.slice(at + 2); }
      }
      return form;
    }).join("").replace(/[-_]+/g, "");
  }

  /* What the text adds to a hit: phrases, words in one paragraph, definitions. */
  Engine.prototype.readText = function (hit, read, asked, total) {
    var texts = this.foldedText(hit.index, hit.number), forms = read.forms, run, value, i;
    var flatText, phrase, blocks, best = 0;
    if (!texts.blocks) {
      texts.flat = flatten(texts.text);
      texts.blocks = texts.flat.split("\n");
    }
    flatText = texts.flat + "\n" + flatten(texts.title);
    forms = forms.filter(function (form) { return holdsForm(texts.flat, form); });
    /* Runs of the query that stand in the section as they were typed. */
    run = 0;
    value = 0;
    for (i = 0; i < read.meant.length; i++) {
      if (read.meant[i].han && read.meant[i].form.length < 3) { continue; }
      run += read.meant[i].form.length;
      if (read.meant[i].han) {
        if (texts.text.indexOf(read.meant[i].form) !== -1 || texts.title.indexOf(read.meant[i].form) !== -1) {
          value += read.meant[i].form.length;
        }
      } else {
        if (flatText.indexOf(read.meant[i].form) !== -1) { value += read.meant[i].form.length; }
      }
    }
    phrase = run ? value / run : 0;
    if (read.atoms.length > 1) {
      blocks = texts.blocks;
      for (i = 0; i < blocks.length && i < BLOCKS && forms.length; i++) {
        if (blocks[i].length > 3) {
          value = covered(blocks[i], forms, asked, total, read.atoms.length);
          if (blocks[i].charCodeAt(0) === 0xe003) { value *= 0.5; }
          if (value > best) { best = value; }
        }
      }
    } else {
      best = hit.cover;
    }
    hit.textValue = read.mix.phrase * phrase + read.mix.block * best * best +
      read.mix.heading * heading(texts.text, forms, asked, total);
  };

  /*
   * How many of the characters that a question asks with stand in a title, the rare ones for more,
   * 0 to 1: words of one meaning often share a character.
   */
  function kinship(read, index, title) {
    var sum = 0, i, all = 0;
    if (!read.characters) { read.characters = charactersOf(read, index); }
    for (i = 0; i < read.characters.length; i++) {
      all += read.characters[i][1];
      if (title.indexOf(read.characters[i][0]) !== -1) { sum += read.characters[i][1]; }
    }
    return all ? sum / all : 0;
  }

  function charactersOf(read, index) {
    var seen = Object.create(null), out = [];
    read.tokens.forEach(function (token) {
      var i, char, code, weight;
      for (i = 0; token.han && i < token.form.length; i++) {
        char = token.form.charAt(i);
        code = token.form.charCodeAt(i);
        weight = token.weights[i] < 0.4 ? 0 : token.weights[i];
        if (!weight || seen[char]) { continue; }
        seen[char] = true;
        out.push([char, weight * Math.log(1 + index.pairs / (1 + index.begins[code] + index.ends[code]))]);
      }
    });
    return out;
  }

  /* What the title adds to a hit. */
  Engine.prototype.reward = function (hit, read, ways, asked, total, own, twin) {
    var texts = this.folded(hit.index, hit.number), forms, title, share, names, i;
    var section = hit.index.sections[hit.number], other, value, meant, above;
    if (!read.forms) {
      read.forms = formsAsked(read, ways);
      read.phrase = meantPhrase(read);
      read.meant = read.tokens.filter(function (token) {
        return token.han ? true : !STOP_EN[token.form];
      });
    }
    forms = read.forms;
    title = flatten(texts.title);
    share = covered(title, forms, asked, total, read.atoms.length);
    names = [texts.title].concat(texts.asked);
    if (hit.index === own && twin && twin.sections[hit.number]) {
      other = this.folded(twin, hit.number);
      names = [other.title].concat(texts.asked, other.asked);
    }
    /* What else it is called for: its title in the other language, and what people ask. */
    for (i = 0; i < names.length; i++) {
      other = flatten(names[i]);
      value = (i ? QUESTIONED : TWIN) * covered(other, forms, asked, total, read.atoms.length);
      if (value > share) { share = value; title = other; }
    }
    share = Math.min(1, share);
    meant = explained(title, forms);
    if (hit.index.isStock(section)) { share *= 0.4; }
    /* The page's name and the section's together. */
    above = share;
    if (share > 0.2) {
      above = covered(flatten(texts.above + "\n" + texts.title), forms, asked, total, read.atoms.length);
    }
    value = 1 + read.mix.title * share * share * (0.4 + 0.6 * meant) +
      read.mix.above * Math.max(0, above * above - share * share) * (0.3 + 0.7 * meant);
    if (read.isAsked) {
      value += ASKED.kin * kinship(read, hit.index, texts.title) +
        ASKED.kinAbove * kinship(read, hit.index, texts.above);
    }
    if (read.phrase.length > 1 && title.replace(/\s+/g, "") === read.phrase) { value += 0.8; }
    hit.titleValue = value;
    value = read.defining[hit.number] || 0;
    hit.score *= 1 + (DEFINITION.test(read.text) ? ASKED_DEFINITION : DEFINED) * value * value;
    if (hit.index !== own) { hit.score *= FOREIGN; }
    /* A definition is first where one is asked for. */
    if (section.kind && !(value > 0.9 && DEFINITION.test(read.text))) { hit.score *= section.kind[1]; }
    if (section.page.kind === "map") { hit.score *= 0.7; }
    if (BESIDE.test(section.page.key)) { hit.score *= 0.6; }
    if (section.page.kind === "questions" ||
        (!read.isAsked && read.atoms.length < FEW && ANSWERS.test(section.page.key))) { hit.score *= 0.5; }
    if (REFERENCES.test(section.title)) { hit.score *= 0.45; }
    else if (hit.index.isStock(section)) { hit.score *= read.mix.stock; }
  };
