/*
 * What the search box offers besides typing: kinds and tags as filters, pages seen lately and
 * queries to try while the box is empty. Material's own box, list and keys stay as they are;
 * without this script, or where it fails, they are what there is. search-keys.js leads the keyboard
 * through all of it and says the number of results.
 *
 * Filters are words of the query (kind:tutorial tag:"fat tree", in Chinese too), so they can be
 * typed, shared by ?q= and taken back like any other word; a chip only writes or removes one.
 * Which there are, and what to try, is in search/facets.js, loaded when the search is first opened
 * (a script, because pages on file:// may not fetch). Pages seen lately stay in this browser's storage.
 */
(function () {
  "use strict";

  var own = document.querySelector("script[data-search-facets]");
  var toggle = document.querySelector("[data-md-toggle=search]");
  var query = document.querySelector("[data-md-component=search-query]");
  var result = document.querySelector("[data-md-component=search-result]");
  var configured = document.getElementById("__config");
  if (!own || !toggle || !query || !result || !configured) { return; }

  var MOST_PAGES = 6, MOST_TAGS = 8;
  var language = /^zh/.test(document.documentElement.lang) ? "zh" : "en";
  var zh = language === "zh";
  var root;
  try {
    root = new URL(JSON.parse(configured.textContent).base + "/", location.href).href;
  } catch (unreadable) {
    return;
  }
  /* Other handbooks, and on file:// all of the reader's folders, share one storage. */
  var STORE = "handbook.recent:" + root.replace(/^https?:\/\/[^\/]*/, "");

  var text = zh ? {
    filters: "筛选", kind: "类型", tag: "标签", recent: "最近看过", clear: "清除记录",
    examples: "试试这样搜", privacy: "只记在这个浏览器里", loading: "正在载入搜索数据……"
  } : {
    filters: "Filters", kind: "kind", tag: "tag", recent: "Recently viewed", clear: "Clear history",
    examples: "Try a search like", privacy: "kept in this browser only", loading: "Loading the search index …"
  };
  /*
   * As overrides/partials/texts/ and hooks/search/browser have them, in Chinese and English; a test
   * compares. The last five are parts of pages: hooks/search/entries.py.
   */
  var KINDS = {
    note: ["笔记", "Notes"], map: ["导览", "Maps"], tutorial: ["教程", "Tutorials"], paper: ["论文", "Papers"],
    interview: ["面试题", "Interview"], questions: ["题库", "Questions"], reference: ["参考", "Reference"],
    term: ["术语", "Terms"], resource: ["资源", "Resources"], question: ["单题", "Single questions"],
    calculator: ["计算器", "Calculators"], figure: ["图表", "Figures"]
  };
  /* As hooks/search reads them: a name, a colon of either width, a word or a quoted phrase. */
  var FILTER = /(^|\s)(kind|tags?|类型|种类|标签)\s?[:：]\s?("[^"]*"|“[^”]*”|[^\s"“]+)/gi;

  function make(tag, attributes, content) {
    var element = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (name) { element.setAttribute(name, attributes[name]); });
    if (content) { element.textContent = content; }
    return element;
  }

  function button(name, label, action) {
    var element = make("button", { type: "button", "class": name }, label);
    element.addEventListener("click", action);
    return element;
  }

  /* Put a query in the box as if it had been typed. */
  function ask(words) {
    query.value = words;
    // Material listens to keyup; not bubbling, so that nothing else takes it for a key.
    query.dispatchEvent(new Event("keyup"));
    update();
  }

  /* ---- Filters in the query -------------------------------------------------------- */

  /* What two spellings of a value share; a query has no way to write a quotation mark in one. */
  function plain(value) {
    return value.replace(/["“”]/g, "").trim().toLowerCase();
  }

  /* {name: "kind" or "tag", value} of a filter as written. */
  function read(name, value) {
    var isTag = /^(?:tag|标签)/i.test(name), small = plain(value);
    return {
      name: isTag ? "tag" : "kind",
      value: !isTag && Object.keys(KINDS).filter(function (kind) { return KINDS[kind][0] === small; })[0] || small
    };
  }

  function has(name, value) {
    var found = false;
    query.value.replace(FILTER, function (all, before, itsName, itsValue) {
      var one = read(itsName, itsValue);
      found = found || (one.name === name && one.value === plain(value));
    });
    return found;
  }

  /* Filters go to the front, where the next letter typed does not become part of them. */
  function turn(name, value) {
    var written = (name === "kind" && zh && KINDS[value] ? KINDS[value][0] : value).replace(/["“”]/g, "").trim();
    var isOn = has(name, value);
    var rest = query.value.replace(FILTER, function (all, before, itsName, itsValue) {
      var one = read(itsName, itsValue);
      // Kinds exclude each other: a page has one.
      return one.name === name && (name === "kind" || one.value === plain(value)) ? before : all;
    }).replace(/\s+/g, " ").trim();
    if (/\s/.test(written)) { written = "\"" + written + "\""; }
    ask((isOn ? "" : text[name] + ":" + written + " ") + rest);
  }

  /* ---- Elements -------------------------------------------------------------------- */

  var box = make("div", { "class": "hb-search" });
  var chips = box.appendChild(make("div", {
    "class": "hb-search__chips", role: "group", "aria-label": text.filters, hidden: ""
  }));
  var start = box.appendChild(make("div", { "class": "hb-search__start", hidden: "" }));
  var loading = box.appendChild(make("p", { "class": "hb-search__loading", hidden: "" }, text.loading));
  result.parentNode.insertBefore(box, result);

  /* On a phone the row is folded but for what is pressed; search.css hides the button elsewhere. */
  var fold = button("hb-search__fold", text.filters, function () {
    fold.setAttribute("aria-expanded", String(chips.classList.toggle("hb-search__chips--open")));
  });
  fold.setAttribute("aria-expanded", "false");

  /* What search/facets.js says of this language: {kinds: [{name, count}], tags, queries}. */
  function known(what) {
    var all = window.__search_facets && window.__search_facets[language];
    return (all && all[what]) || [];
  }

  function chip(name, value, label) {
    var element = button("hb-chip", label, function () { turn(name, value); });
    element.setAttribute("data-filter", name);
    element.setAttribute("data-value", value);
    element.setAttribute("aria-pressed", "false");
    return chips.appendChild(element);
  }

  function showFilters() {
    var kinds = known("kinds"), tags = known("tags");
    chips.textContent = "";
    chips.hidden = kinds.length + tags.length === 0;
    chips.appendChild(fold);
    (kinds.length > 1 ? kinds : []).concat(known("entries")).forEach(function (one) {
      chip("kind", one.name, KINDS[one.name] ? KINDS[one.name][zh ? 0 : 1] : one.name);
    });
    /* Others are shown when they are typed. */
    tags.forEach(function (one, order) {
      var added = chip("tag", one.name, "#" + one.name);
      added.setAttribute("aria-label", text.tag + (zh ? "：" : ": ") + one.name);
      added.hidden = order >= MOST_TAGS;
    });
    update();
  }

  /* ---- Pages seen lately, queries to try ------------------------------------------- */

  function recent(pages) {
    try {
      if (pages) { window.localStorage.setItem(STORE, JSON.stringify(pages)); }
      var kept = JSON.parse(window.localStorage.getItem(STORE) || "[]");
      return Array.isArray(kept) ? kept.filter(function (one) {
        return one && typeof one.path === "string" && typeof one.title === "string" &&
          !/^[a-z][a-z0-9+.-]*:|^\/|\.\./i.test(one.path);
      }) : [];
    } catch (denied) {
      return [];
    }
  }

  var here = location.href.split(/[?#]/)[0];

  function remember() {
    var heading = document.querySelector("article h1"), path = here.slice(root.length);
    if (here.indexOf(root) !== 0 || !heading || /^(?:en\/)?(?:index\.html)?$/.test(path)) { return; }
    heading = heading.cloneNode(true);
    heading.querySelectorAll(".headerlink").forEach(function (link) { link.remove(); });
    recent([{ path: path, title: heading.textContent.trim(), language: language }].concat(
      recent().filter(function (one) { return one.path !== path; })
    ).slice(0, 4 * MOST_PAGES));
  }

  /* A list under a heading, which is no <h2>: the page's outline does not begin in its search box. */
  function section(id, title, items) {
    var group = start.appendChild(make("section", { "aria-labelledby": id }));
    group.appendChild(make("p", { "class": "hb-search__heading", id: id }, title));
    var list = group.appendChild(make("ul", { "class": id }));
    items.forEach(function (item) { list.appendChild(make("li")).appendChild(item); });
    return group;
  }

  function showStart() {
    var group, pages = recent().filter(function (one) {
      return one.language === language && root + one.path !== here;
    }).slice(0, MOST_PAGES);
    start.textContent = "";
    if (pages.length) {
      group = section("hb-recent", text.recent, pages.map(function (one) {
        return make("a", { href: root + one.path }, one.title);
      }));
      group.firstChild.appendChild(make("small", {}, text.privacy));
      group.appendChild(button("hb-search__clear", text.clear, function () {
        recent([]);
        showStart();
        query.focus();
      }));
    }
    if (known("queries").length) {
      section("hb-examples", text.examples, known("queries").map(function (words) {
        return button("hb-chip", words, function () {
          ask(words);
          query.focus();
        });
      }));
    }
  }

  /* ---- State ----------------------------------------------------------------------- */

  var hasAnswered = false;  /* whether the list or the count has changed since something was asked */

  function update() {
    var isEmpty = query.value.trim() === "";
    start.hidden = !isEmpty || !start.firstChild;
    box.className = "hb-search" + (isEmpty ? " hb-search--empty" : "");
    // The index is loaded with the first query: until it answers, the box says so.
    loading.hidden = isEmpty || hasAnswered;
    chips.querySelectorAll("[data-filter]").forEach(function (one) {
      var isOn = has(one.getAttribute("data-filter"), one.getAttribute("data-value"));
      one.setAttribute("aria-pressed", String(isOn));
      if (isOn) { one.hidden = false; }
    });
  }

  function load(name, then) {
    var script = make("script", { src: own.getAttribute(name) });
    script.onload = then || null;
    document.head.appendChild(script);
  }

  var isLoaded = false;

  function opened() {
    showStart();
    update();
    if (isLoaded) { return; }
    isLoaded = true;
    load("data-search-facets", function () {
      showStart();
      showFilters();
      if (!/^https?:$/.test(location.protocol)) { return; }
      // What the first query will need first; file:// has its frame load it.
      known("files").forEach(function (name) {
        var request = new XMLHttpRequest();
        request.open("GET", root + name);
        request.send();
      });
    });
    load("data-search-none");
    load("data-search-messages");
  }

  query.addEventListener("focus", opened);
  toggle.addEventListener("change", function () {
    var active = document.activeElement;
    if (toggle.checked) { opened(); } else if (active && box.contains(active)) { active.blur(); }
  });
  ["keyup", "input"].forEach(function (name) { query.addEventListener(name, update); });
  if (query.form) {
    query.form.addEventListener("reset", function () {
      window.setTimeout(function () { ask(""); });
    });
  }
  new MutationObserver(function () {
    if (query.value.trim() !== "") { hasAnswered = loading.hidden = true; }
    // A page of messages is many screens long on a phone: its title, too, opens the one found.
    result.querySelectorAll("a[href*='/messages/']:not([href*='#'])").forEach(function (page) {
      var section = page.parentNode.querySelector("a[href*='#']");
      if (section) { page.href = section.href; }
    });
  }).observe(result, { childList: true, characterData: true, subtree: true });

  remember();
  if (toggle.checked) { opened(); }
})();
