/**
 * The graph of notes and links, drawn when a reader asks for it: d3-force lays it out (vendored),
 * this draws it. Every note is a link; arrow keys go from note to note. Zooming widens the drawing
 * in a box that scrolls, so that fingers, wheel and keys move it as they move anything else.
 *
 * `?note=ID` draws it at once, with that note chosen. Without this script the page has the tree
 * and a table of the notes with the most links.
 */
(function () {
  "use strict";

  var box = document.querySelector(".graph");
  if (!box) { return; }
  var zh = /^zh/.test(document.documentElement.lang);
  var SVG = "http://www.w3.org/2000/svg";
  var LIBRARY = ["dispatch", "timer", "quadtree", "force"];
  var WIDEST = 4;   /* zoom at most */
  var NAMED = 24;   /* notes whose names are shown from the beginning */
  var own = document.querySelector('script[src*="javascripts/graph.js"]').src;
  var vendor = own.replace(/javascripts\/graph\.js.*$/, "vendor/d3/");
  var notes = [];
  var pairs = [];
  var zoom = 1;
  var chosen = null;
  var byTouch = false;
  var part = {};

  function make(tag, name, text) {
    var node = document.createElement(tag);
    if (name) { node.className = name; }
    if (text) { node.textContent = text; }
    return node;
  }

  function draw(tag, attributes) {
    var node = document.createElementNS(SVG, tag);
    Object.keys(attributes).forEach(function (key) { node.setAttribute(key, attributes[key]); });
    return node;
  }

  function button(text, label, act) {
    var node = make("button", "graph__button", text);
    node.type = "button";
    if (label) { node.setAttribute("aria-label", label); }
    node.addEventListener("click", act);
    return node;
  }

  /** Load scripts one after the other; they are files of this site. */
  function load(sources, then) {
    if (!sources.length) { then(); return; }
    var script = document.createElement("script");
    script.src = sources[0];
    script.onload = function () { load(sources.slice(1), then); };
    script.onerror = function () {
      part.say.textContent = zh ? "没有装入成功：" + sources[0] : "Could not load " + sources[0];
    };
    document.head.appendChild(script);
  }

  /** Where each note lies: near those it is linked with, and in the quarter of its area. */
  function lay(data) {
    var d3 = window.d3;
    var count = data.areas.length;
    notes = data.notes.map(function (row) {
      return { id: row[0], title: row[1], area: row[2], near: [], at: 2 * Math.PI * row[2] / count };
    });
    pairs = data.pairs.map(function (pair) { return { source: pair[0], target: pair[1] }; });
    data.pairs.forEach(function (pair) {
      notes[pair[0]].near.push(notes[pair[1]]);
      notes[pair[1]].near.push(notes[pair[0]]);
    });
    d3.forceSimulation(notes)
      .force("charge", d3.forceManyBody().strength(-200))
      .force("link", d3.forceLink(pairs).distance(60).strength(0.15))
      .force("x", d3.forceX(function (one) { return 330 * Math.cos(one.at); }).strength(0.12))
      .force("y", d3.forceY(function (one) { return 260 * Math.sin(one.at); }).strength(0.14))
      .force("collide", d3.forceCollide(18))
      .stop()
      .tick(300);
  }

  function colour(area, count) {
    return "hsl(" + Math.round(360 * area / count) + ", 55%, 48%)";
  }

  function paint(data) {
    var xs = notes.map(function (one) { return one.x; });
    var ys = notes.map(function (one) { return one.y; });
    var left = Math.min.apply(null, xs) - 60;
    var top = Math.min.apply(null, ys) - 30;
    var width = Math.max.apply(null, xs) + 130 - left;
    var height = Math.max.apply(null, ys) + 30 - top;
    var svg = draw("svg", { viewBox: [left, top, width, height].join(" "), "class": "graph__svg" });
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", zh ? "笔记与链接，方向键移动" : "Notes and links; arrow keys move");
    pairs.forEach(function (pair) {
      var a = pair.source;
      var b = pair.target;
      pair.line = draw("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y });
      svg.appendChild(pair.line);
    });
    var ranked = notes.slice().sort(function (a, b) { return b.near.length - a.near.length; });
    notes.forEach(function (one) {
      var size = 4 + Math.sqrt(one.near.length) * 1.8;
      var link = draw("a", { href: address(one), tabindex: -1 });
      link.appendChild(draw("circle", {
        cx: one.x, cy: one.y, r: size, fill: colour(one.area, data.areas.length)
      }));
      var text = draw("text", { x: one.x + size + 3, y: one.y + 5 });
      text.textContent = one.title;
      one.text = link.appendChild(text);
      if (ranked.indexOf(one) < NAMED) { link.setAttribute("class", "is-named"); }
      link.setAttribute("aria-label", one.title + (zh ? "，" : ", ") + data.areas[one.area]);
      link.addEventListener("focus", function () { choose(one); });
      link.addEventListener("mouseenter", function () { if (!byTouch) { choose(one); } });
      link.addEventListener("click", function (event) {
        /* A finger has no hover: its first touch shows the neighbours, the second goes there. */
        if (byTouch && one.isReady !== true) { event.preventDefault(); }
        notes.forEach(function (other) { other.isReady = other === one; });
        choose(one);
      });
      link.addEventListener("keydown", function (event) { step(event, one); });
      one.link = svg.appendChild(link);
    });
    svg.addEventListener("pointerdown", function (event) {
      byTouch = event.pointerType === "touch";
    });
    ranked[0].link.setAttribute("tabindex", "0");
    part.svg = svg;
    part.scroll.appendChild(svg);
    part.width = width;
  }

  function address(one) { return "../" + one.id + ".html"; }

  /** Show a note, what it is linked with, and the way there. */
  function choose(one) {
    if (chosen === one) { return; }
    chosen = one;
    notes.forEach(function (other) {
      var name = other.link.getAttribute("class") || "";
      var isNear = other === one || one.near.indexOf(other) >= 0;
      name = name.replace(/ ?is-(near|chosen)/g, "") + (isNear ? " is-near" : "");
      other.link.setAttribute("class", name + (other === one ? " is-chosen" : ""));
      other.link.setAttribute("tabindex", other === one ? "0" : "-1");
    });
    pairs.forEach(function (pair) {
      var isNear = pair.source === one || pair.target === one;
      pair.line.setAttribute("class", isNear ? "is-near" : "");
    });
    part.svg.classList.add("is-choosing");
    unclutter();
    part.pick.value = one.id;
    part.panel.textContent = "";
    var head = make("p");
    var count = one.near.length;
    head.appendChild(anchor(one));
    head.appendChild(document.createTextNode(zh ? "，与 " + count + " 篇相连：" : ", linked with " + count + ":"));
    part.panel.appendChild(head);
    var list = make("ul");
    one.near.forEach(function (other) { list.appendChild(make("li")).appendChild(anchor(other)); });
    part.panel.appendChild(list);
  }

  /** Of names that lie over each other one is shown: that of the note chosen, or linked most. */
  function unclutter() {
    var kept = [];
    var ranked = notes.slice().sort(function (a, b) {
      return (b === chosen) - (a === chosen) || b.near.length - a.near.length;
    });
    notes.forEach(function (one) { one.text.removeAttribute("visibility"); });
    var boxes = ranked.map(function (one) { return one.text.getBoundingClientRect(); });
    ranked.forEach(function (one, number) {
      var box = boxes[number];
      var isCovered = kept.some(function (other) {
        return box.left < other.right && other.left < box.right &&
          box.top < other.bottom && other.top < box.bottom;
      });
      if (isCovered) { one.text.setAttribute("visibility", "hidden"); }
      else if (box.width) { kept.push(box); }
    });
  }

  function anchor(one) {
    var node = make("a", "", one.title);
    node.href = address(one);
    return node;
  }

  var WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

  /** The nearest note in the direction of an arrow key. */
  function step(event, one) {
    var way = WAYS[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) { return; }
    var best = null;
    var least = Infinity;
    notes.forEach(function (other) {
      var along = (other.x - one.x) * way[0] + (other.y - one.y) * way[1];
      var aside = Math.abs((other.x - one.x) * way[1] + (other.y - one.y) * way[0]);
      var cost = along + 2 * aside;
      if (other !== one && along > 0 && cost < least) { best = other; least = cost; }
    });
    event.preventDefault();
    if (best) {
      best.link.focus({ preventScroll: true });
      reveal(best);
    }
  }

  /** Scroll the box, not the page, so that a note is in its middle. */
  function reveal(one) {
    var frame = part.scroll.getBoundingClientRect();
    var dot = one.link.querySelector("circle").getBoundingClientRect();
    part.scroll.scrollLeft += dot.left - frame.left - frame.width / 2;
    part.scroll.scrollTop += dot.top - frame.top - frame.height / 2;
  }

  function resize(factor) {
    zoom = Math.min(WIDEST, Math.max(1, factor ? zoom * factor : 1));
    var width = Math.max(part.scroll.clientWidth, 720) * zoom;
    part.svg.style.width = Math.round(width) + "px";
    part.svg.style.fontSize = 12 * part.width / width + "px"; /* as large as it was, however wide */
    part.svg.classList.toggle("is-wide", width / part.width > 1.6);
    unclutter();
    if (chosen) { reveal(chosen); }
  }

  function tools(data) {
    var bar = make("p", "graph__tools");
    var label = make("label", "", zh ? "找一篇：" : "Find a note: ");
    part.pick = make("select");
    part.pick.appendChild(make("option", "", "—")).value = "";
    data.areas.forEach(function (area, number) {
      var group = document.createElement("optgroup");
      group.label = area;
      notes.forEach(function (one) {
        if (one.area === number) { group.appendChild(make("option", "", one.title)).value = one.id; }
      });
      part.pick.appendChild(group);
    });
    part.pick.addEventListener("change", function () { find(part.pick.value); });
    label.appendChild(part.pick);
    bar.appendChild(label);
    bar.appendChild(button("+", zh ? "放大" : "Zoom in", function () { resize(1.5); }));
    bar.appendChild(button("−", zh ? "缩小" : "Zoom out", function () { resize(1 / 1.5); }));
    bar.appendChild(button(zh ? "全图" : "Whole", "", function () { resize(0); }));
    box.appendChild(bar);
    var legend = make("ul", "graph__legend");
    data.areas.forEach(function (area, number) {
      var item = make("li");
      item.appendChild(make("span")).style.backgroundColor = colour(number, data.areas.length);
      item.appendChild(document.createTextNode(area));
      legend.appendChild(item);
    });
    box.appendChild(legend);
  }

  function find(id) {
    notes.forEach(function (one) {
      if (one.id === id) { choose(one); reveal(one); }
    });
  }

  function show(id) {
    part.start.disabled = true;
    load(LIBRARY.map(function (name) { return vendor + "d3-" + name + ".min.js"; })
      .concat(box.getAttribute("data-notes")), function () {
      var data = window.handbookGraph;
      lay(data);
      box.textContent = "";
      tools(data);
      part.scroll = box.appendChild(make("div", "graph__scroll"));
      part.panel = box.appendChild(make("div", "graph__panel"));
      part.panel.setAttribute("aria-live", "polite");
      paint(data);
      resize(0);
      find(id);
      window.addEventListener("resize", function () { resize(1); });
    });
  }

  part.start = box.appendChild(button(zh ? "画出全图" : "Draw the graph", "", function () { show(""); }));
  part.say = box.appendChild(make("p"));
  part.say.setAttribute("role", "status");
  var asked = /[?&]note=([^&#]+)/.exec(window.location.search);
  if (asked) {
    try { show(decodeURIComponent(asked[1])); } catch (malformed) { /* not an id */ }
  }
})();
