/*
 * The search engine behind Material's search box; runs after the core in one file, in a Worker
 * over http and, on file://, in the frame that stands in for one.
 *
 * Messages: 0 SETUP, 1 READY, 2 QUERY, 3 RESULT. The index is loaded with the first query, or,
 * where SETUP is sent when the search is opened (file://), at once: first the reader's
 * language, after the first answer the other one, which finds what only it names.
 */
(function (self) {
  "use strict";

  var OPTIONS = /*HANDBOOK_OPTIONS*/{ "language": "", "tables": "", "parts": {} };
  var MOST = 30;             /* sections listed */
  var VISIBLE = 4;           /* sections of a page shown without opening "N more" */

  var inFrame = typeof document !== "undefined";
  var address = inFrame && document.currentScript ? document.currentScript.src : String(self.location);
  var root = address.replace(/assets\/javascripts\/workers\/[^\/]*$/, "");
  var CHARACTERS = 40000;    /* of text read at a time: on file:// the page waits meanwhile */
  var engine = HandbookSearch.create();
  var early = null;          /* knows titles only, while the texts are being read */
  var state = "none";        /* none, loading, titles, own (language loaded), more, all */
  var query = "", isDue = false, parts = [];

  self.__handbook_tables = function (tables) { engine.tables(tables); };
  self.__handbook_part = function (part) { parts.push(part); };

  /* Runs scripts of the index in order, then `done`, or `failed` once. */
  function run(names, done, failed) {
    var waiting = names.length, isOver = false;
    if (!names.length) { done(); return; }
    if (!inFrame) {
      try {
        self.importScripts.apply(self, names.map(function (name) { return root + name; }));
      } catch (error) {
        failed(error);
        return;
      }
      done();
      return;
    }
    /* They load side by side and run in order. */
    names.forEach(function (name) {
      var script = document.createElement("script");
      script.charset = "utf-8";
      script["async"] = false;
      script.src = root + name;
      script.onload = function () {
        waiting -= 1;
        if (!waiting && !isOver) { done(); }
      };
      script.onerror = function () {
        if (!isOver) { isOver = true; failed(new Error("cannot load " + script.src)); }
      };
      document.body.appendChild(script);
    });
  }

  /* Makes the loaded parts, which are of one language, into its index, then `done`. */
  function read(done) {
    var step = parts.length ? engine.gradually(parts, CHARACTERS) : null;
    parts = [];
    function next() {
      if (!step || step()) { done(); return; }
      setTimeout(next, 0);
    }
    setTimeout(next, 0);
  }

  function failed(error) {
    state = "none";
    if (self.console) { self.console.error("search: " + error.message); }
    answer([], "");
  }

  function load() {
    if (state !== "none") { return; }
    state = "loading";
    engine = HandbookSearch.create();
    parts = [];
    run([OPTIONS.tables].concat(OPTIONS.parts[OPTIONS.language] || []), function () {
      early = engine.titles(parts);
      state = "titles";
      due();
      read(function () {
        early = null;
        state = "own";
        due();
      });
    }, failed);
  }

  /* The other language, a part at a time so that typing is not held up. */
  function loadOthers() {
    var names = [], language;
    for (language in OPTIONS.parts) {
      if (language !== OPTIONS.language) { names = names.concat(OPTIONS.parts[language]); }
    }
    function finished() {
      state = "all";
      due();
    }
    state = "more";
    if (!names.length) { finished(); return; }
    setTimeout(function () {
      run(names, function () { read(finished); }, function (error) {
        state = "all";
        if (self.console) { self.console.error("search: " + error.message); }
      });
    }, 0);
  }

  function answer(items, suggestion) {
    self.postMessage({ type: 3, data: { items: items, suggest: suggestion ? [suggestion] : [] } });
  }

  /* Only the latest of several queries that wait is answered. */
  function due() {
    if (isDue) { return; }
    isDue = true;
    setTimeout(function () {
      isDue = false;
      respond();
    }, 0);
  }

  var answered = null;

  function respond() {
    var found;
    if (!query.replace(/\s+/g, "")) { answered = null; answer([], ""); return; }
    if (state === "none") { load(); return; }
    if (state === "loading") { return; }
    /* With the other language there only what was not met is worth another answer. */
    if (state === "all" && answered && answered.query === query &&
        (answered.isAll || answered.isMet)) { return; }
    try {
      found = (early || engine).search(query, { language: OPTIONS.language, limit: MOST });
    } catch (error) {
      if (self.console) { self.console.error("search: " + error.message); }
      answer([], "");
      return;
    }
    /* Titles are only worth showing when they hold all that was typed. */
    if (state === "titles") {
      if (found.hits.length && isMet(found.read)) { answer(arrange(found.hits), ""); }
      return;
    }
    answered = {
      query: query, isAll: state === "all",
      isMet: found.hits.length > 0 && isMet(found.read)
    };
    answer(arrange(found.hits), engine.suggest(query, OPTIONS.language));
    if (state === "own") { loadOthers(); }
  }

  function isMet(read) {
    return read.atoms.every(function (atom) {
      return !atom.weight || (atom.found && !atom.repaired);
    });
  }

  function escapeHtml(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  }

  function crumbs(names) {
    return names.map(escapeHtml).join(" \u203a ");
  }

  function itemOf(hit, score) {
    var terms = {}, text = "";
    hit.terms.forEach(function (term) { terms[term] = true; });
    hit.missing.forEach(function (word) { terms[word] = false; });
    if (hit.path.length) { text += "<p class=\"search-crumbs\">" + crumbs(hit.path) + "</p>"; }
    if (hit.weak) {
      text += "<p class=\"search-weak\">\u2248 " + hit.repairs.map(escapeHtml).join(", ") + "</p>";
    }
    if (hit.excerpt_html) { text += "<p>" + hit.excerpt_html + "</p>"; }
    return {
      location: hit.location, title: hit.title_html, text: text, score: score, terms: terms
    };
  }

  /*
   * Sections by page, a page where its best section is. Scores fall along the list as shown,
   * because Enter opens the highest one.
   */
  function arrange(hits) {
    var groups = [], byPage = Object.create(null);
    hits.forEach(function (hit) {
      var group = byPage[hit.page];
      if (!group) {
        group = byPage[hit.page] = { hits: [], best: hit.score };
        groups.push(group);
      }
      group.hits.push(hit);
    });
    return groups.map(function (group, index) {
      var top = 2 * (groups.length - index), article = false, shown = 0, first = group.hits[0];
      var items = group.hits.map(function (hit, at) {
        var isPage = hit.location.indexOf("#") === -1;
        var visible = at === 0 || isPage || (shown < VISIBLE && hit.score >= group.best * 0.3);
        var item = itemOf(hit, visible ? top : top - 1);
        article = article || isPage;
        shown += visible ? 1 : 0;
        if (isPage) { dress(item, hit); }
        return item;
      });
      var page;
      /* The list puts sections below their page, so there must be one. */
      if (!article) {
        page = {
          location: first.location.split("#")[0], title: escapeHtml(first.page_title), text: "",
          score: 0, terms: itemOf(first, 0).terms
        };
        items.push(dress(page, first));
      }
      return items;
    });
  }

  /* What a page shows besides its title: where it stands, and its tags. */
  function dress(item, hit) {
    if (hit.trail.length) {
      item.title += " <small class=\"search-crumbs\">" + crumbs(hit.trail) + "</small>";
    }
    if (hit.tags.length) { item.tags = hit.tags.map(escapeHtml); }
    return item;
  }

  self.addEventListener("message", function (event) {
    var message = event.data;
    if (!message) { return; }
    if (message.type === 0) {
      if (inFrame) { load(); }
      self.postMessage({ type: 1 });
    }
    if (message.type === 2) {
      query = String(message.data);
      due();
    }
  });
})(self);
