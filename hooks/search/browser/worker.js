/*
 * The search engine behind Material's search box, in a Worker over http and, on file://, in the
 * frame that stands in for one. Every page starts it, so it is small: the engine itself (the
 * core) and the index are loaded with the first query.
 *
 * Messages: 0 SETUP, 1 READY, 2 QUERY, 3 RESULT. What is loaded with the first query, or, where
 * SETUP is sent when the search is opened (file://), at once: the core, what pages and
 * sections of the reader's language are called, which answers what titles hold whole, then their
 * texts, and after the first answer the other language, which finds what only it names.
 */
(function (self) {
  "use strict";

  var OPTIONS = /*HANDBOOK_OPTIONS*/{ "language": "", "core": "", "tables": "", "titles": {}, "parts": {} };
  var MOST = 30;             /* sections listed */
  var MOST_EARLY = 10;       /* the same while the texts are being read: soon drawn */

  var inFrame = typeof document !== "undefined";
  var address = inFrame && document.currentScript ? document.currentScript.src : String(self.location);
  var root = address.replace(/assets\/javascripts\/workers\/[^\/]*$/, "");
  var CHARACTERS = 8000;     /* of text, about, between two looks at the clock */
  /* Milliseconds: on file:// the page waits while texts are read. */
  var SLICE = inFrame ? 12 : 40;
  var DRAWING = inFrame ? 60 : 0;   /* the page's, to draw an answer before reading goes on */
  var engine = null;
  var early = null;          /* knows titles only, while the texts are being read */
  var state = "none";        /* none, loading, titles, own (language loaded), more, all */
  var query = "", isDue = false, parts = [], texts = [], drawnAt = 0;

  self.__handbook_tables = function (tables) { engine.tables(tables); };
  self.__handbook_titles = function (titles) { parts = titles; texts = []; };
  self.__handbook_text = function (text) { texts[text[0]] = text[1]; };

  function runScripts(names, done, failed) {
    /* They load side by side and run in order. */
    names.forEach(function (name) {
      var script = document.createElement("script");
      script.charset = "utf-8";
      script["async"] = false;
      script.src = root + name;
      script.onload = function () { done(); };
      script.onerror = function () { failed(new Error("cannot load " + script.src)); };
      document.body.appendChild(script);
    });
  }

  /* Reads them as data: a script would be kept as text as long as the worker lives. */
  function readScripts(names, done, failed) {
    names.forEach(function (name) {
      var request = new XMLHttpRequest();
      request.open("GET", root + name);
      request.onload = function () {
        var text = request.responseText, at = text.indexOf("(");
        if (request.status !== 200) { request.onerror(); return; }
        try {
          self[text.slice(0, at)](JSON.parse(text.slice(at + 1, text.lastIndexOf(")"))));
        } catch (error) {
          failed(error);
          return;
        }
        done();
      };
      request.onerror = function () { failed(new Error("cannot load " + root + name)); };
      request.send();
    });
  }

  /* Takes in files of the index, then `done`, or `failed` once. */
  function run(names, done, failed) {
    var waiting = names.length, isOver = false;
    (inFrame ? runScripts : readScripts)(names, function () {
      waiting -= 1;
      if (!waiting && !isOver) { done(); }
    }, function (error) {
      if (!isOver) { isOver = true; failed(error); }
    });
  }

  /* Makes the loaded parts, which are of one language, into its index, then `done`. */
  function read(done) {
    var step;
    parts.forEach(function (part, number) { part.text = texts[number]; });
    step = parts.length ? engine.gradually(parts, CHARACTERS) : null;
    parts = [];
    texts = [];
    function next() {
      var from = Date.now();
      if (from - drawnAt < DRAWING) { setTimeout(next, DRAWING - (from - drawnAt)); return; }
      do {
        if (!step || step()) { done(); return; }
      } while (Date.now() - from < SLICE);
      setTimeout(next, 0);
    }
    setTimeout(next, 0);
  }

  function complain(error) {
    if (self.console) { self.console.error("search: " + error.message); }
  }

  /* The engine, whose code is a script of its own, then `done`. */
  function start(done, failed) {
    if (self.HandbookSearch) { done(); return; }
    if (inFrame) { runScripts([OPTIONS.core], done, failed); return; }
    try {
      self.importScripts(root + OPTIONS.core);
    } catch (error) {
      failed(error);
      return;
    }
    done();
  }

  function load() {
    if (state !== "none") { return; }
    state = "loading";
    start(loadTitles, function (error) {
      complain(error);
      state = "none";
      answer([], "");
    });
  }

  function loadTitles() {
    var language = OPTIONS.language;
    engine = self.HandbookSearch.create();
    early = null;
    run([OPTIONS.titles[language]], function () {
      early = engine.titles(parts);
      state = "titles";
      asked = null;
      if (query) { respond(); }
      /* After the page has drawn what the titles answer. */
      setTimeout(loadTexts, Math.max(0, DRAWING - (Date.now() - drawnAt)));
    }, function (error) {
      complain(error);
      state = "none";
      answer([], "");
    });
  }

  function loadTexts() {
    run([OPTIONS.tables].concat(OPTIONS.parts[OPTIONS.language]), function () {
      read(function () {
        early = null;
        state = "own";
        due();
      });
    }, function (error) {
      complain(error);
      state = "none";
      answerEarly(true);
    });
  }

  /* The other language, after the first answer has been drawn. */
  function loadOthers() {
    var others = Object.keys(OPTIONS.parts).filter(function (language) {
      return language !== OPTIONS.language;
    });
    state = "more";
    function next() {
      var language = others.shift();
      if (!language) {
        state = "all";
        due();
        return;
      }
      run([OPTIONS.titles[language]], function () {
        run(OPTIONS.parts[language], function () { read(next); }, failed);
      }, failed);
    }
    function failed(error) {
      complain(error);
      next();
    }
    setTimeout(next, DRAWING);
  }

  function answer(items, suggestion) {
    drawnAt = Date.now();
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

  var answered = null, asked = null;

  function ask(engine, most) {
    try {
      return engine.search(query, { language: OPTIONS.language, limit: most });
    } catch (error) {
      complain(error);
      return null;
    }
  }

  /* Titles are only worth showing when they hold all that was typed; at last, in any case. */
  function answerEarly(isLast) {
    var found = ask(early, MOST_EARLY);
    if (found && found.hits.length && isMet(found.read)) {
      answer(engine.arrange(found.hits, !isLast), "");
    } else if (isLast) {
      answer([], "");
    }
  }

  function isEmpty() { return !query.replace(/\s+/g, ""); }

  function respond() {
    var found, isFull, isFound;
    if (isEmpty()) { return; }
    if (state === "none") { load(); return; }
    if (state === "loading") { return; }
    if (state === "titles") {
      if (query !== asked) { asked = query; answerEarly(false); }
      return;
    }
    /* With the other language there only what was not met is worth another answer. */
    if (state === "all" && answered && answered.query === query && answered.isFinal) { return; }
    found = ask(engine, MOST);
    if (!found) { answer([], ""); return; }
    isFull = state === "all";
    isFound = found.hits.length > 0;
    answered = { query: query, isFinal: isFull || (isFound && isMet(found.read)) };
    /* "Nothing found" is not said before the other language has been asked too. */
    if (isFound || isFull) {
      answer(engine.arrange(found.hits, !answered.isFinal), engine.suggest(query, OPTIONS.language));
    }
    if (state === "own") { loadOthers(); }
  }

  function isMet(read) {
    return read.atoms.every(function (atom) {
      return !atom.weight || (atom.found && !atom.repaired);
    });
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
      if (isEmpty()) {
        /* At once: Material takes it for the answer to what is in the box when it arrives. */
        answered = asked = null;
        answer([], "");
      } else {
        due();
      }
    }
  });
})(self);
