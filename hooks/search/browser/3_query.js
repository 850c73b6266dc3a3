  /* ---- Reading a query ----------------------------------------------------------- */

  /* Asked with, not asked for. Escapes only: this file is ASCII. */
  var HARD_ZH = (
    "\u4ec0\u4e48\u662f \u662f\u4ec0\u4e48 \u4e3a\u4ec0\u4e48 \u600e\u4e48\u6837 " +
    "\u600e\u4e48\u529e \u600e\u4e48 \u600e\u6837 \u5982\u4f55 \u4e3a\u4f55 \u54ea\u4e9b " +
    "\u54ea\u4e2a \u54ea\u79cd \u54ea\u91cc \u591a\u5c11 \u4ec0\u4e48 \u662f\u5426 " +
    "\u80fd\u4e0d\u80fd \u53ef\u4e0d\u53ef\u4ee5 \u6709\u6ca1\u6709 \u662f\u4e0d\u662f " +
    "\u53ef\u4ee5 \u5e94\u8be5 \u8bf7\u95ee \u4e00\u4e0b \u4e4b\u95f4 \u4ee5\u53ca " +
    "\u6709\u4f55 \u591a\u5927 \u591a\u5feb \u591a\u957f \u4e00\u4e2a \u4e00\u79cd " +
    "\u5230\u5e95 \u90a3\u4e48 \u8fd9\u4e48 \u8fd8\u80fd \u51e0\u4e2a \u51e0\u79cd \u51e0\u6761 \u4e3a\u5565 \u8981\u4e0d\u8981 \u4f1a\u4e0d\u4f1a \u8be5\u4e0d\u8be5 \u662f\u600e\u4e48 " +
    "\u6211\u60f3 \u591f\u4e0d\u591f \u544a\u8bc9\u6211 \u5565 \u548b").split(" ");
  var SOFT_ZH = (
    "\u533a\u522b \u4e0d\u540c \u4f5c\u7528 \u539f\u7406 \u65b9\u6cd5 \u5173\u7cfb " +
    "\u610f\u601d \u4f18\u7f3a\u70b9 \u4ecb\u7ecd \u4f7f\u7528 \u95ee\u9898 \u60c5\u51b5 " +
    "\u6b65\u9aa4 \u6982\u5ff5 \u89e3\u91ca \u8bf4\u660e \u5dee\u522b \u5dee\u5f02 " +
    "\u9700\u8981 \u65f6\u5019 \u5b9e\u73b0 \u8fdb\u884c \u65b9\u5f0f \u6709\u5173").split(" ");
  /* The particles: of, and, is, at, has, which, ... */
  var PARTICLES = "\u7684\u4e86\u5417\u5462\u5427\u662f\u5728\u6709\u548c\u4e0e\u8ddf\u628a" +
    "\u88ab\u8ba9\u6211\u4f60\u5b83\u4f1a\u8981\u4ece\u6216\u53ca\u65f6\u7ed9\u7b49\u5c31" +
    "\u4e5f\u90fd\u5f88\u8fd9\u90a3\u5219\u4e4b\u5bf9\u80fd\u4e3a\u5230\u4e2d\u4e0a\u91cc";
  var ASKING = new RegExp("\u4ec0\u4e48|\u4e3a\u4f55|\u4e3a\u5565|\u600e\u4e48|\u600e\u6837|\u5982\u4f55|\u54ea|" +
    "\u591a\u5c11|\u591a\u5927|\u591a\u5feb|\u591a\u957f|\u591a\u4e45|\u662f\u5426|" +
    "\u80fd\u4e0d\u80fd|\u53ef\u4e0d\u53ef\u4ee5|\u6709\u6ca1\u6709|\u662f\u4e0d\u662f|" +
    "\u8981\u4e0d\u8981|\u4f1a\u4e0d\u4f1a|\u8be5\u4e0d\u8be5|\u51e0\u4e2a|\u51e0\u79cd|" +
    "\u51e0\u6761|\u591f\u4e0d\u591f|\u8bf7\u95ee|\u5417|\u5462|\u5565|\u548b");
  /* What asks for a definition. */
  var DEFINITION = /\u4ec0\u4e48\u662f|\u662f\u4ec0\u4e48|\u4ec0\u4e48\u610f\u601d|\b(?:what (?:is|are|does)|meaning|defin)/i;
  /* The same in questions: do, some, how many, again, only, more, want, go, still, use, good, ... */
  var COLLOQUIAL = "\u505a\u4e9b\u51e0\u4e2a\u79cd\u518d\u624d\u53c8\u66f4\u53ef\u60f3\u53bb\u6765\u8be5\u8fd8\u7528\u53ea\u597d\u591a";
  var LONG = 8;             /* characters of a run that is more than a term */
  var STOP_EN = Object.create(null), SOFT_EN = Object.create(null);
  ("a an the of to in for on at by with and or is are was were be been being do does did how what " +
   "why when where which who whose can could should would will may might must it its this that " +
   "these those there i my me we our you your they their as from into about between than then " +
   "vs so if not no whether rather but have has had get got some any s t per each via within without " +
   "after before during over under up down out off all more most also only just very too")
    .split(" ").forEach(function (word) { STOP_EN[word] = true; });
  ("difference differences use used using work works mean means meaning need make explain " +
   "example way between versus compare compared happens happen called tell much many")
    .split(" ").forEach(function (word) { SOFT_EN[word] = true; });

  /* kind:paper, tag:"x y", and the same in Chinese (leixing, biaoqian). */
  var FILTER = new RegExp("(^|\\s)(kind|tag|tags|\u7c7b\u578b|\u79cd\u7c7b|\u6807\u7b7e)\\s?[:\uff1a]" +
    "\\s?(\"[^\"]*\"|\u201c[^\u201d]*\u201d|[^\\s\"\u201c]+)", "gi");
  var KINDS = {
    "\u7b14\u8bb0": "note", "\u5730\u56fe": "map", "\u6559\u7a0b": "tutorial",
    "\u8bba\u6587": "paper", "\u9762\u8bd5": "interview", "\u53c2\u8003": "reference",
    "\u5bfc\u89c8": "map", "\u9762\u8bd5\u9898": "interview",
    "\u8d44\u6599": "reference", "\u9898\u5e93": "questions",
    "\u672f\u8bed": "term", "\u8d44\u6e90": "resource", "\u5355\u9898": "question",
    "\u8ba1\u7b97\u5668": "calculator", "\u56fe\u8868": "figure"
  };

  /* Control characters and halves of characters are blanks; NFKC makes one form of each sign. */
  function tidy(query) {
    var text = String(query === null || query === undefined ? "" : query);
    text = text.slice(0, MAX_QUERY * 4);
    text = text.replace(/[\ud800-\udbff](?![\udc00-\udfff])/g, " ")
      .replace(/(^|[^\ud800-\udbff])[\udc00-\udfff]/g, "$1 ");
    if (text.normalize) { text = text.normalize("NFKC"); }
    return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060\ufeff]/g, " ")
      .replace(/[\ue000-\ue00f]/g, " ").slice(0, MAX_QUERY);
  }

  function readFilters(text) {
    var filters = { kinds: [], tags: [] };
    var rest = text.replace(FILTER, function (all, before, name, value) {
      value = value.replace(/^["\u201c]|["\u201d]$/g, "").trim().toLowerCase();
      if (!value) { return before; }
      if (/^(?:tag|\u6807)/i.test(name)) {
        filters.tags.push(value);
      } else {
        filters.kinds.push(KINDS[value] || value);
      }
      return before;
    });
    filters.any = filters.kinds.length + filters.tags.length > 0;
    return { filters: filters, text: rest };
  }

  /*
   * Tokens of a text in order: {han, form, raw, at, end}. A Han run is one token.
   */
  function tokensOf(text, folder) {
    var tokens = [], pattern = new RegExp(TOKENS, "g"), folded = folder.text(text), match, han, raw;
    while ((match = pattern.exec(folded))) {
      han = isHan(match[0]);
      raw = text.slice(match.index, pattern.lastIndex);
      tokens.push({ han: han, form: han ? match[0] : joined(raw, folder).slice(0, MAX_NAME), raw: raw,
        at: match.index, end: pattern.lastIndex });
    }
    return tokens;
  }

  /* For each character of a Han run how much it is asked for: 1, or less for how one asks. */
  function weighHan(form, isAsked, light) {
    var weights = [], i, j, k, words, word, value, n = form.length;
    for (i = 0; i < n; i++) {
      weights.push(PARTICLES.indexOf(form.charAt(i)) === -1 ? 1 : 0.35);
    }
    for (k = 0; k < (isAsked ? 3 : 2); k++) {
      words = k === 0 ? HARD_ZH : k === 1 ? SOFT_ZH : light;
      value = k === 0 ? 0 : k === 1 ? 0.5 : LIGHT;
      for (j = 0; j < words.length; j++) {
        word = words[j];
        i = form.indexOf(word);
        while (i !== -1) {
          for (var at = i; at < i + word.length; at++) { weights[at] = Math.min(weights[at], value); }
          i = form.indexOf(word, i + word.length);
        }
      }
    }
    if (isAsked) {
      for (i = 0; i < n; i++) {
        if (COLLOQUIAL.indexOf(form.charAt(i)) !== -1) { weights[i] = Math.min(weights[i], 0.35); }
      }
    }
    return weights;
  }

  /*
   * The query as atoms: {han, form, weight, at, token}. A Han atom is two characters (or one,
   * when the run is one); a Latin atom is a name.
   */
  function readQuery(query, folder, light) {
    var tidied = tidy(query), found = readFilters(tidied), text = found.text;
    var read = {
      text: text, filters: found.filters, atoms: [], tokens: [], singles: [], excluded: [], phrases: [], patterns: {},
      typing: /[^\s"]$/.test(text)
    };
    /* Words to leave out: !word. -word too, but only Chinese: -m and -fopenmp are options. */
    text = text.replace(/(^|\s)(?:!|-(?=[\u3400-\u9fff]))([^\s"!-][^\s"]*)/g, function (all, before, word) {
      var tokens = tokensOf(word, folder);
      tokens.forEach(function (token) { read.excluded.push(token); });
      return tokens.length ? before : all;
    });
    text = text.replace(/"([^"]+)"/g, function (all, phrase) {
      var folded = folder.text(phrase).replace(/\s+/g, " ").trim();
      if (tokensOf(phrase, folder).length) { read.phrases.push(folded); }
      return " " + phrase + " ";
    });
    read.text = text;
    read.tokens = tokensOf(text, folder).slice(0, MAX_ATOMS);
    read.tokens.forEach(function (token, index) {
      var n, weights, i, weight, share, room = MAX_ATOMS - read.atoms.length;
      if (token.han && token.form.length > room) { token.form = token.form.slice(0, Math.max(room, 0)); }
      n = room > 0 ? token.form.length : 0;
      token.first = read.atoms.length;
      token.isLast = index === read.tokens.length - 1 && read.typing &&
        token.end >= text.replace(/\s+$/, "").length;
      if (token.han) {
        token.isAsked = n > LONG || ASKING.test(token.form);
        weights = weighHan(token.form, token.isAsked, light || []);
        token.weights = weights;
        if (n === 1) {
          read.atoms.push(atomOf(token, index, token.form, weights[0] * 0.8, token.at));
        }
        /* A long run has more pairs than words. */
        share = n > 2 ? SHARE : 1;
        for (i = 0; i + 1 < n; i++) {
          weight = Math.min(weights[i], weights[i + 1]);
          if (weights[i] !== weights[i + 1]) { weight *= 0.4; }
          read.atoms.push(atomOf(token, index, token.form.substr(i, 2), weight * share, token.at + i));
        }
        token.after = read.atoms.length;
        /* A word of one character among words that only ask. */
        for (i = 0; i < n && n > 1; i++) {
          if (weights[i] === 1 && (i === 0 || weights[i - 1] < 0.5) &&
              (i + 1 === n || weights[i + 1] < 0.5)) {
            read.singles.push(atomOf(token, index, token.form.charAt(i), 0.5, token.at + i));
          }
        }
      } else if (n) {
        weight = STOP_EN[token.form] ? 0 : SOFT_EN[token.form] ? 0.4 : 1;
        if (token.form.length === 1 && weight === 1 && !/[0-9]/.test(token.form)) { weight = 0.5; }
        read.atoms.push(atomOf(token, index, token.form, weight, token.at));
      }
      token.after = read.atoms.length;
    });
    read.tokens = read.tokens.filter(function (token) { return token.after > token.first; });
    read.atoms = read.atoms.concat(read.singles.slice(0, 4));
    /* Asked with nothing but such words: then they are what is asked for. */
    if (!read.atoms.some(function (atom) { return atom.weight >= 0.4; })) {
      read.atoms.forEach(function (atom) { atom.weight = 1; });
    }
    return read;
  }

  var SHARE = 0.8, LIGHT = 0.6;

  function atomOf(token, index, form, weight, at) {
    return {
      han: token.han, form: form, raw: token.raw, weight: weight, at: at, token: index,
      found: false, repaired: false, alternatives: []
    };
  }
