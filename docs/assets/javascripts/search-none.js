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
  if (!own || !place || !query || !result || !configured || !window.MutationObserver) { return; }

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
    none: "Nothing found for: ", near: "Nearest topics", all: "See what topics there are", planned: "Planned, not written yet: ",
    ask: "Ask for this note in an issue"
  };

  function make(tag, name, content, href) {
    var element = document.createElement(tag);
    if (name) { element.className = name; }
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
    var all = 0, met = 0;
    for (var pair in some) { all += 1; if (others[pair]) { met += 1; } }
    return all ? met / all : 0;
  }

  function topics() {
    var facets = window.__search_facets && window.__search_facets[zh ? "zh" : "en"];
    return (facets && facets.topics) || [];
  }

  /* {there: addresses of near topics, planned: names}, each best first. */
  function nearest(words) {
    var wanted = pairs(words), there = [], planned = [];
    topics().forEach(function (topic) {
      var name = pairs(topic[0]), near = share(wanted, pairs(topic[0] + " " + topic[2]));
      var named = share(name, wanted);
      if (topic[1]) {
        if (near >= NEAR) { there.push({ name: topic[0], at: topic[1], value: near + named }); }
      } else if (Math.max(named, share(pairs(topic[2]), wanted)) >= NAMED) {
        planned.push({ name: topic[0], value: near + named });
      }
    });
    function best(a, b) { return b.value - a.value; }
    return { there: there.sort(best).slice(0, MOST), planned: planned.sort(best).slice(0, 2) };
  }

  function home(name) {
    return root + (zh ? "" : "en/") + name;
  }

  function draw(words) {
    var near = nearest(words), row;
    var box = make("div", "hb-search__none");
    box.appendChild(make("p", "hb-search__heading", text.none + words));
    near.planned.forEach(function (one) {
      box.appendChild(make("p", "", text.planned + one.name));
    });
    if (near.there.length) {
      box.appendChild(make("p", "hb-search__heading", text.near));
      row = box.appendChild(make("ul"));
      near.there.forEach(function (one) {
        row.appendChild(make("li")).appendChild(make("a", "", one.name, root + one.at));
      });
    } else {
      box.appendChild(make("p")).appendChild(make("a", "", text.all, home("maps/index.html")));
    }
    if (repository && words) {
      box.appendChild(make("p")).appendChild(make("a", "", text.ask, repository +
        "/issues/new?template=new-note.yml&title=" + encodeURIComponent(words) +
        "&question=" + encodeURIComponent(words)));
    }
    return box;
  }

  var shown = null, words = null;

  /* Nothing is found when the list is empty and Material has said how much it holds. */
  function update() {
    var now = asked(), isNone = now && !list.firstElementChild && query.value.trim() !== "" &&
      meta.textContent.trim() !== "" && document.querySelector(".hb-search__loading[hidden]");
    if (isNone && shown && words === now) { return; }
    if (shown) { shown.parentNode.removeChild(shown); shown = null; }
    if (!isNone) { return; }
    words = now;
    shown = draw(now);
    place.appendChild(shown);   // there search-box.js leads the keyboard through it
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
