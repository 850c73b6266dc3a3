/*
 * What the search box shows where nothing is found: the topics nearest to what was typed, whether a
 * note of that name is planned, and, where the site knows its repository, the form that asks for
 * one. The topics are in search/facets.js; search-box.js loads both when the search is first opened.
 * Without this script the list only says that nothing was found.
 */
(function () {
  "use strict";

  var own = document.querySelector("script[data-repository]");
  var query = document.querySelector("[data-md-component=search-query]");
  var result = document.querySelector("[data-md-component=search-result]");
  var configured = document.getElementById("__config");
  var place = document.querySelector(".hb-search");
  if (!own || !place || !query || !result || !configured) { return; }

  var MOST = 4;
  var NEAR = 0.2;         /* share of pairs of characters that a topic has of the query */
  var NAMED = 0.6;        /* the same of a planned name: as good as that name */
  var zh = /^zh/.test(document.documentElement.lang);
  var meta = result.firstElementChild, list = result.lastElementChild;
  var repository = own.getAttribute("data-repository");
  var root = new URL(JSON.parse(configured.textContent).base + "/", location.href).href;
  var text = zh ? {
    none: "没有找到：", near: "相近的主题", all: "看看有哪些主题", planned: "计划中，还没有写：", ask: "想要这篇笔记，提一个 issue"
  } : {
    none: "Nothing found for: ", near: "Nearest topics", all: "See what topics there are",
    planned: "Planned, not written yet: ", ask: "Ask for this note in an issue"
  };

  function add(parent, tag, content, href) {
    var element = parent.appendChild(document.createElement(tag));
    if (content) { element.textContent = content; }
    if (href) { element.href = href; }
    return element;
  }

  /* What was typed, without filters and signs. */
  function asked() {
    return query.value.replace(/(^|\s)\S+\s?[:：]\s?("[^"]*"|“[^”]*”|[^\s"“]+)/g, " ")
      .replace(/["“”!]/g, " ").replace(/\s+/g, " ").trim();
  }

  /* Pairs of characters of each word: near for both languages, and after a slip. */
  function pairs(words) {
    var found = Object.create(null);
    words.toLowerCase().split(/[^0-9a-z\u3400-\u9fff]+/).forEach(function (word) {
      for (var at = 0; at + 1 < word.length; at++) { found[word.substr(at, 2)] = true; }
    });
    return found;
  }

  /* The share of the first pairs that are among the second. */
  function share(some, others) {
    var all = Object.keys(some);
    return all.filter(function (pair) { return others[pair]; }).length / (all.length || 1);
  }

  /* The topics nearest to what was typed, best first: {topic: [name, address, words], value}. */
  function nearest(words) {
    var wanted = pairs(words), facets = window.__search_facets && window.__search_facets[zh ? "zh" : "en"];
    return ((facets && facets.topics) || []).map(function (topic) {
      var near = share(wanted, pairs(topic[0] + " " + topic[2])), named = share(pairs(topic[0]), wanted);
      /* What is planned has no address. */
      var isNear = topic[1] ? near >= NEAR : Math.max(named, share(pairs(topic[2]), wanted)) >= NAMED;
      return { topic: topic, value: isNear ? near + named : 0 };
    }).filter(function (one) { return one.value; }).sort(function (a, b) { return b.value - a.value; });
  }

  function draw(words) {
    var all = nearest(words), box = add(place, "div"), row;   // there search-keys.js leads through it
    var near = all.filter(function (one) { return one.topic[1]; }).slice(0, MOST);
    box.className = "hb-search__none";
    add(box, "p", text.none + words).className = "hb-search__heading";
    all.filter(function (one) { return !one.topic[1]; }).slice(0, 2).forEach(function (one) {
      add(box, "p", text.planned + one.topic[0]);
    });
    if (near.length) {
      add(box, "p", text.near).className = "hb-search__heading";
      row = add(box, "ul");
      near.forEach(function (one) { add(add(row, "li"), "a", one.topic[0], root + one.topic[1]); });
    } else {
      add(add(box, "p"), "a", text.all, root + (zh ? "" : "en/") + "maps/index.html");
    }
    if (repository) {
      add(add(box, "p"), "a", text.ask, repository + "/issues/new?template=new-note.yml&title=" +
        encodeURIComponent(words) + "&question=" + encodeURIComponent(words));
    }
    return box;
  }

  var shown = null, words = null;

  /* Nothing is found when the list is empty and Material has said how much it holds. */
  function update() {
    var now = asked(), isNone = now && !list.firstElementChild &&
      meta.textContent.trim() !== "" && document.querySelector(".hb-search__loading[hidden]");
    if (isNone && shown && words === now) { return; }
    if (shown) { shown.remove(); shown = null; }
    if (isNone) { words = now; shown = draw(now); }
  }

  var waiting = 0;
  function soon() {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(update, 150);
  }
  new MutationObserver(soon).observe(result, { childList: true, characterData: true, subtree: true });
  ["keyup", "input"].forEach(function (name) { query.addEventListener(name, soon); });
  soon();   // something may have been typed and answered before this script came
})();
