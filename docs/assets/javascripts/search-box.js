/*
 * What the search box offers besides typing: kinds and tags as filters, pages seen lately and
 * queries to try while the box is empty, the number of results said aloud, and the keyboard on
 * all of it. Material's own box, list and keys stay as they are; without this script, or where it
 * fails, they are what there is.
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

  var MOST_PAGES = 6;
  var MOST_TAGS = 8;
  var language = /^zh/.test(document.documentElement.lang) ? "zh" : "en";
  var zh = language === "zh";
  var meta = result.firstElementChild;
  var list = result.lastElementChild;
  var root;
  try {
    root = new URL(JSON.parse(configured.textContent).base + "/", location.href).href;
  } catch (unreadable) {
    return;
  }
  /* Other handbooks, and on file:// all of the reader's folders, share one storage. */
  var STORE = "handbook.recent:" + root.replace(/^https?:\/\/[^\/]*/, "");

  var text = zh ? {
    filters: "筛选", kind: "类型", tag: "标签", more: "全部标签", less: "收起标签",
    recent: "最近看过", clear: "清除记录", cleared: "记录已清除", examples: "试试这样搜",
    privacy: "只记在这个浏览器里",
    none: "没有结果", one: "1 个页面有结果", many: "# 个页面有结果",
    weak: "，都不完全符合", loading: "正在载入搜索数据……"
  } : {
    filters: "Filters", kind: "kind", tag: "tag", more: "All tags", less: "Fewer tags",
    recent: "Recently viewed", clear: "Clear history", cleared: "History cleared",
    examples: "Try a search like", privacy: "kept in this browser only",
    none: "No results", one: "Results on 1 page", many: "Results on # pages",
    weak: ", none of them an exact match", loading: "Loading the search index …"
  };
  /* As overrides/partials/texts/ and hooks/search/browser have them; a test compares. */
  var KINDS = {
    note: "笔记", map: "导览", tutorial: "教程", paper: "论文", interview: "面试题", questions: "题库", reference: "参考"
  };
  /* Entries, which are parts of pages: hooks/search/entries.py. */
  var ENTRIES = {
    term: "术语", resource: "资源", question: "单题", calculator: "计算器", figure: "图表"
  };
  var ENTRIES_EN = {
    term: "Terms", resource: "Resources", question: "Single questions", calculator: "Calculators",
    figure: "Figures"
  };
  var KINDS_EN = {
    note: "Notes", map: "Maps", tutorial: "Tutorials", paper: "Papers", interview: "Interview",
    questions: "Questions", reference: "Reference"
  };
  /* As hooks/search reads them: a name, a colon of either width, a word or a quoted phrase. */
  var FILTER = /(^|\s)(kind|tags?|类型|种类|标签)\s?[:：]\s?("[^"]*"|“[^”]*”|[^\s"“]+)/gi;

  /* ---- Small things ---------------------------------------------------------------- */

  function make(tag, attributes, content) {
    var element = document.createElement(tag);
    for (var name in attributes) {
      if (Object.prototype.hasOwnProperty.call(attributes, name)) {
        element.setAttribute(name, attributes[name]);
      }
    }
    if (content) { element.textContent = content; }
    return element;
  }

  function button(name, label, action) {
    var element = make("button", { type: "button", "class": name }, label);
    element.addEventListener("click", action);
    return element;
  }

  function empty(element) {
    while (element.firstChild) { element.removeChild(element.firstChild); }
  }

  function each(elements, action) {
    Array.prototype.forEach.call(elements, action);
  }

  /* Put a query in the box as if it had been typed. */
  function ask(words) {
    query.value = words;
    // Material listens to keyup; not bubbling, so that nothing else takes it for a key.
    query.dispatchEvent(new Event("keyup"));
    update();
  }

  /* ---- Filters in the query -------------------------------------------------------- */

  function kindOf(word) {
    var small = word.toLowerCase();
    for (var kind in KINDS) {
      if (KINDS[kind] === word || kind === small) { return kind; }
    }
    for (var entry in ENTRIES) {
      if (ENTRIES[entry] === word) { return entry; }
    }
    return small;
  }

  /* What two spellings of a value share; a query has no way to write a quotation mark in one. */
  function plain(value) {
    return value.replace(/["“”]/g, "").trim().toLowerCase();
  }

  /* {name: "kind" or "tag", value} of a filter as written. */
  function read(name, value) {
    var isTag = /^(?:tag|标签)/i.test(name);
    return { name: isTag ? "tag" : "kind", value: isTag ? plain(value) : kindOf(plain(value)) };
  }

  function filters() {
    var found = [], match;
    FILTER.lastIndex = 0;
    while ((match = FILTER.exec(query.value))) { found.push(read(match[2], match[3])); }
    return found;
  }

  function has(name, value) {
    return filters().some(function (one) {
      return one.name === name && one.value === plain(value);
    });
  }

  /* Filters go to the front, where the next letter typed does not become part of them. */
  function turn(name, value) {
    var written = name === "kind" ? (zh && (KINDS[value] || ENTRIES[value])) || value : value;
    var isOn = has(name, value);
    var rest = query.value.replace(FILTER, function (all, before, itsName, itsValue) {
      var one = read(itsName, itsValue);
      // Kinds exclude each other: a page has one.
      return one.name === name && (name === "kind" || one.value === plain(value))
        ? before : all;
    }).replace(/\s+/g, " ").trim();
    written = written.replace(/["“”]/g, "").trim();
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
  var live = make("div", { "class": "hb-search__live", role: "status", "aria-live": "polite" });
  result.parentNode.insertBefore(box, result);
  result.parentNode.appendChild(live);

  /* On a phone the row is folded but for what is pressed; search.css hides the button elsewhere. */
  var fold = button("hb-search__fold", text.filters, function () {
    var isOpen = chips.classList.toggle("hb-search__chips--open");
    fold.setAttribute("aria-expanded", String(isOpen));
  });
  fold.setAttribute("aria-expanded", "false");

  /* What search/facets.js says of this language: {kinds: [{name, count}], tags, queries}. */
  function known(what) {
    var all = window.__search_facets && window.__search_facets[language];
    return (all && all[what]) || [];
  }

  function nameOf(one) {
    return one.name;
  }

  function chip(name, value, label) {
    var element = button("hb-chip", label, function () { turn(name, value); });
    element.setAttribute("data-filter", name);
    element.setAttribute("data-value", value);
    element.setAttribute("aria-pressed", "false");
    chips.appendChild(element);
    return element;
  }

  function showFilters() {
    var kinds = known("kinds").map(nameOf), tags = known("tags").map(nameOf), rest = [], more;
    empty(chips);
    chips.hidden = kinds.length + tags.length === 0;
    chips.appendChild(fold);
    if (kinds.length > 1) {
      kinds.forEach(function (kind) {
        chip("kind", kind, (zh ? KINDS : KINDS_EN)[kind] || kind);
      });
    }
    known("entries").map(nameOf).forEach(function (entry) {
      chip("kind", entry, (zh ? ENTRIES : ENTRIES_EN)[entry] || entry);
    });
    tags.forEach(function (tag, order) {
      var one = chip("tag", tag, "#" + tag);
      one.setAttribute("aria-label", text.tag + (zh ? "：" : ": ") + tag);
      if (order >= MOST_TAGS) { one.hidden = true; rest.push(one); }
    });
    if (rest.length) {
      more = button("hb-chip hb-chip--more", text.more, function () {
        var isOpen = more.getAttribute("aria-expanded") === "true";
        more.setAttribute("aria-expanded", String(!isOpen));
        more.textContent = isOpen ? text.more : text.less;
        chips.classList.toggle("hb-search__chips--all", !isOpen);
        rest.forEach(function (one) {
          one.hidden = isOpen && one.getAttribute("aria-pressed") !== "true";
        });
      });
      more.setAttribute("aria-expanded", "false");
      chips.appendChild(more);
    }
    update();
  }

  /* ---- Pages seen lately, queries to try ------------------------------------------- */

  function recent(pages) {
    try {
      if (pages) { window.localStorage.setItem(STORE, JSON.stringify(pages)); return pages; }
      var kept = JSON.parse(window.localStorage.getItem(STORE) || "[]");
      return Array.isArray(kept) ? kept.filter(function (one) {
        return one && typeof one.path === "string" && typeof one.title === "string" &&
          !/^[a-z][a-z0-9+.-]*:|^\/|\.\./i.test(one.path);
      }) : [];
    } catch (denied) {
      return [];
    }
  }

  function remember() {
    var here = location.href.split(/[?#]/)[0];
    var heading = document.querySelector("article h1"), title;
    if (here.indexOf(root) !== 0 || !heading || /^(?:en\/)?(?:index\.html)?$/.test(here.slice(root.length))) {
      return;
    }
    heading = heading.cloneNode(true);
    each(heading.querySelectorAll(".headerlink"), function (link) { link.parentNode.removeChild(link); });
    title = heading.textContent.trim();
    var path = here.slice(root.length);
    recent([{ path: path, title: title, language: language }].concat(recent().filter(function (one) {
      return one.path !== path;
    })).slice(0, 4 * MOST_PAGES));
  }

  /* No <h2>: the page's outline does not begin in its search box. */
  function heading(title, id) {
    return make("p", { "class": "hb-search__heading", id: id }, title);
  }

  function showStart() {
    var here = location.href.split(/[?#]/)[0];
    var pages = recent().filter(function (one) {
      return one.language === language && root + one.path !== here;
    }).slice(0, MOST_PAGES);
    var examples = known("queries"), group, items;
    empty(start);
    if (pages.length) {
      group = start.appendChild(make("section", { "aria-labelledby": "hb-recent" }));
      group.appendChild(heading(text.recent, "hb-recent"))
        .appendChild(make("small", {}, text.privacy));
      items = group.appendChild(make("ul"));
      pages.forEach(function (one) {
        items.appendChild(make("li")).appendChild(make("a", { href: root + one.path }, one.title));
      });
      group.appendChild(button("hb-search__clear", text.clear, function () {
        recent([]);
        try { window.localStorage.removeItem(STORE); } catch (denied) { /* nothing kept */ }
        showStart();
        live.textContent = text.cleared;
        query.focus();
      }));
    }
    if (examples.length) {
      group = start.appendChild(make("section", { "aria-labelledby": "hb-examples" }));
      group.appendChild(heading(text.examples, "hb-examples"));
      items = group.appendChild(make("ul", { "class": "hb-search__examples" }));
      examples.forEach(function (words) {
        items.appendChild(make("li")).appendChild(button("hb-chip", words, function () {
          ask(words);
          query.focus();
        }));
      });
    }
  }

  /* ---- Loading --------------------------------------------------------------------- */

  var hasAnswered = false;  /* whether the list or the count has changed since something was asked */

  /* The index is loaded with the first query: until it answers, the box says so. */
  function answeredNow() {
    if (query.value.trim() === "") { return; }
    hasAnswered = true;
    loading.hidden = true;
  }

  /* What the first query will need first; file:// has its frame load it. */
  function askAhead() {
    if (!/^https?:$/.test(location.protocol)) { return; }
    known("files").forEach(function (name) {
      var request = new XMLHttpRequest();
      request.open("GET", root + name);
      request.send();
    });
  }

  /* ---- State ----------------------------------------------------------------------- */

  function update() {
    var isEmpty = query.value.trim() === "";
    start.hidden = !isEmpty || !start.firstChild;
    box.className = "hb-search" + (isEmpty ? " hb-search--empty" : "");
    loading.hidden = isEmpty || hasAnswered;
    each(chips.querySelectorAll("[data-filter]"), function (one) {
      var isOn = has(one.getAttribute("data-filter"), one.getAttribute("data-value"));
      one.setAttribute("aria-pressed", String(isOn));
      if (isOn) { one.hidden = false; }
    });
  }

  /*
   * Said after the reader pauses, not at every letter, and not of an answer from titles or from one
   * language, which the worker marks: a fuller one follows, unless a file could not be loaded.
   */
  var saying = null, PAUSE = 700, PATIENCE = 8000;
  function announce() {
    var isEarly = list.querySelector(".search-early");
    // What changed may be the answer to an empty box, though something has been typed since.
    var isAnswer = query.value.trim() !== "";
    window.clearTimeout(saying);
    saying = window.setTimeout(function () {
      if (!toggle.checked || query.value.trim() === "") { live.textContent = ""; return; }
      if (!isAnswer) { return; }
      // Material adds items while the list is scrolled, so the list is no measure of all there are.
      var said = meta.textContent.match(/[0-9][0-9.,k]*/);
      var shown = list.children.length;
      var words = shown === 0 ? text.none : shown === 1 ? text.one
        : text.many.replace("#", said ? said[0] : String(shown));
      // The first page stands for all: weak results come after the others.
      live.textContent = words +
        (list.firstElementChild && list.firstElementChild.querySelector(".search-weak") ? text.weak : "");
    }, isEarly ? PATIENCE : PAUSE);
  }

  /* ---- Results that are replaced while the reader is on one ------------------------- */

  var held = null;        /* address of the result that has the focus */
  var pressed = null;     /* the result that a button or finger is on */
  var isRedirected = false;

  /* Without the words to mark, which the next answer may have more of. */
  function addressOf(link) {
    return link.href.replace(/\?[^#]*/, "");
  }

  function linkOf(target) {
    return target && target.closest && result.contains(target)
      ? target.closest(".md-search-result__link") : null;
  }

  function linkTo(address) {
    return Array.prototype.filter.call(
      result.querySelectorAll(".md-search-result__link"), function (link) {
        return addressOf(link) === address;
      }
    )[0];
  }

  /* The focus stays on its result where the new list has it, else it goes to the box. */
  function keepFocus() {
    var active = document.activeElement, link, more;
    if (!held || !toggle.checked || (active && active !== document.body)) { return; }
    link = linkTo(held);
    more = link && link.closest("details");
    if (more) { more.open = true; }
    (link || query).focus(link ? { preventScroll: true } : undefined);
  }

  document.addEventListener("focusin", function (event) {
    var link = linkOf(event.target);
    held = link ? addressOf(link) : null;
  });

  /* A press opens what was under it when it began, whatever has taken its place since. */
  document.addEventListener("pointerdown", function (event) {
    var link = linkOf(event.target);
    var isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link) { held = null; }
    isRedirected = false;
    pressed = link && isPlain ? { link: link, x: event.clientX, y: event.clientY } : null;
  }, true);
  document.addEventListener("pointercancel", function () { pressed = null; }, true);
  document.addEventListener("pointerup", function (event) {
    var old = pressed;
    pressed = null;
    if (!old || document.contains(old.link) ||
        Math.abs(event.clientX - old.x) + Math.abs(event.clientY - old.y) > 12) { return; }
    isRedirected = true;
    var link = linkTo(addressOf(old.link));
    if (link) { link.click(); } else { location.href = old.link.href; }
  }, true);
  document.addEventListener("click", function (event) {
    if (isRedirected && event.isTrusted && result.contains(event.target)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);

  function load(name, then) {
    var script = make("script", { src: own.getAttribute(name) });
    script.onload = then || null;
    document.head.appendChild(script);
  }

  var opener = null;      /* what had the focus before the search was opened */
  var isLoaded = false;

  function opened() {
    showStart();
    update();
    if (isLoaded) { return; }
    isLoaded = true;
    load("data-search-facets", function () {
      showStart();
      showFilters();
      askAhead();
    });
    load("data-search-none");
  }

  function closed() {
    var active = document.activeElement;
    // Nothing that is no longer seen keeps the focus.
    if (active && active !== document.body && box.contains(active)) { active.blur(); }
    live.textContent = "";
    held = null;
  }

  /* ---- Keyboard -------------------------------------------------------------------- */

  function shownIn(element, selector) {
    return Array.prototype.filter.call(element.querySelectorAll(selector), function (one) {
      return one.offsetParent !== null;
    });
  }

  function go(element, event) {
    if (!element) { return; }
    element.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  function key(event) {
    var active = document.activeElement, name = event.key;
    var inBox = box.contains(active), inResult = result.contains(active);
    if (!toggle.checked || event.isComposing || (!inBox && !inResult && active !== query)) { return; }
    // Material takes any key it does not know for a letter and leads back to the box, which would
    // leave no way to press Shift and Tab.
    if (/^(?:Shift|Alt|AltGraph|CapsLock)$/.test(name) && active !== query) { event.stopPropagation(); }
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    var items = shownIn(box, "button, a[href]");
    var own = shownIn(chips, "button").length;
    var first = shownIn(result, ".md-search-result__link")[0];
    var at = items.indexOf(active);
    if (name === "Escape") {
      if (opener && document.contains(opener)) {
        // After Material has closed the search.
        window.setTimeout(function () { opener.focus(); opener = null; });
      }
    } else if (name === "Tab") {
      // Material closes the search on Tab; here it leads through what can be chosen first.
      if (event.shiftKey) {
        if (at > 0) { go(items[at - 1], event); }
        else if (at === 0 || inResult) { go(query, event); }
      } else if (active === query) {
        go(items[0] || first, event);
      } else if (inBox) {
        go(items[at + 1] || first, event);
      }
    } else if (inBox) {
      if (name === " " || name === "Enter") {
        event.stopPropagation();   // presses the button; Material would lead back to the box
      } else if (name === "ArrowRight" || name === "ArrowLeft") {
        go(items[at + (name === "ArrowRight" ? 1 : -1)], event);
        event.stopPropagation();
      } else if (name === "ArrowDown") {
        go(at < own ? items[own] || first : items[at + 1] || first, event);
        event.stopPropagation();
      } else if (name === "ArrowUp") {
        go(at <= own ? query : items[at - 1], event);
      }
    } else if (active === query && name === "ArrowDown" && !first && items.length > own) {
      go(items[own], event);
    }
  }

  /* Ctrl+K and, on a Mac, Command+K; not from a field that the reader types into. */
  function shortcut(event) {
    var active = document.activeElement;
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "k") { return; }
    if (active !== query && (/^(?:input|textarea|select)$/i.test(active.tagName) || active.isContentEditable)) { return; }
    event.preventDefault();
    query.focus();
    query.select();
  }
  query.placeholder += /Mac|iP(?:hone|ad)/.test(navigator.platform) ? " (\u2318K)" : " (Ctrl+K)";

  document.addEventListener("keydown", shortcut);
  document.addEventListener("keydown", key, true);
  document.addEventListener("focusin", function (event) {
    if (!toggle.checked && event.target !== query) { opener = event.target; }
  });
  query.addEventListener("focus", opened);
  toggle.addEventListener("change", function () {
    if (toggle.checked) { opened(); } else { closed(); }
  });
  ["keyup", "input"].forEach(function (name) { query.addEventListener(name, update); });
  if (query.form) {
    query.form.addEventListener("reset", function () {
      window.setTimeout(function () { ask(""); });
    });
  }
  if (window.MutationObserver) {
    new MutationObserver(function () {
      keepFocus();
      answeredNow();
      announce();
    }).observe(result, { childList: true, characterData: true, subtree: true });
  }

  remember();
  if (toggle.checked) { opened(); }
})();
