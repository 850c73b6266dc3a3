/*
 * Draws a diagram with mermaid in a browser and returns plain SVG: real text, no style sheet, no
 * class, no HTML inside. Every colour is a variable of the page with the light value behind it, so
 * the drawing follows light and dark, and shows by itself in a book. `make diagrams` runs this;
 * its text is part of each drawing's name, so a change here draws all of them anew.
 */
window.drawDiagram = (function () {
  "use strict";

  /* The variables of the page that drawings use, and their light values. */
  var COLOURS = {
    "#ffffff": "paper", "#1f2328": "ink", "#59636e": "muted", "#8c959f": "line",
    "#e4f0f2": "node", "#2c6470": "node-line", "#f3f6f4": "group",
    "#f3e1c0": "cpu", "#e6e6e6": "storage", "#ead6f2": "nic", "#cfe0f5": "switch",
    "#b35900": "pcie"
  };
  var PAPER = "#ffffff", INK = "#1f2328", MUTED = "#59636e", LINE = "#8c959f";
  var NODE = "#e4f0f2", EDGE = "#2c6470", GROUP = "#f3f6f4";
  var NOTE = "#f3e1c0", DONE = "#e6e6e6", CRITICAL = "#b35900", ACTIVE = "#cfe0f5";
  var FONT = "'Liberation Sans', Arial, 'Noto Sans CJK SC', 'PingFang SC', sans-serif";

  var SETTINGS = {
    startOnLoad: false, securityLevel: "strict", theme: "base", fontFamily: FONT, fontSize: 16,
    htmlLabels: false, deterministicIds: true,
    flowchart: { htmlLabels: false, padding: 12, wrappingWidth: 240 }, sequence: {},
    class: { htmlLabels: false },
    state: { htmlLabels: false },
    gantt: { useWidth: 520, fontSize: 14, sectionFontSize: 14, barHeight: 26 },
    themeVariables: {
      fontFamily: FONT, background: PAPER, primaryColor: NODE, primaryTextColor: INK,
      primaryBorderColor: EDGE, secondaryColor: GROUP, secondaryTextColor: INK,
      secondaryBorderColor: LINE, tertiaryColor: GROUP, tertiaryTextColor: INK,
      tertiaryBorderColor: LINE, lineColor: MUTED, textColor: INK, mainBkg: NODE,
      nodeBorder: EDGE, clusterBkg: GROUP, clusterBorder: LINE, titleColor: INK,
      edgeLabelBackground: PAPER, nodeTextColor: INK, noteBkgColor: NOTE, noteTextColor: INK,
      noteBorderColor: LINE, actorBkg: NODE, actorBorder: EDGE, actorTextColor: INK,
      actorLineColor: LINE, signalColor: MUTED, signalTextColor: INK, labelBoxBkgColor: GROUP,
      labelBoxBorderColor: LINE, labelTextColor: INK, loopTextColor: INK,
      activationBkgColor: ACTIVE, activationBorderColor: EDGE, sequenceNumberColor: PAPER,
      sectionBkgColor: GROUP, altSectionBkgColor: PAPER, sectionBkgColor2: GROUP,
      taskBkgColor: NODE, taskBorderColor: EDGE, taskTextColor: INK, taskTextLightColor: INK,
      taskTextDarkColor: INK, taskTextOutsideColor: INK, taskTextClickableColor: INK,
      activeTaskBkgColor: ACTIVE, activeTaskBorderColor: EDGE, doneTaskBkgColor: DONE,
      doneTaskBorderColor: LINE, critBkgColor: NOTE, critBorderColor: CRITICAL,
      gridColor: LINE, pie1: NODE, pie2: NOTE, pie3: ACTIVE, pie4: "#ead6f2", pie5: DONE, todayLineColor: CRITICAL, transitionColor: MUTED, labelColor: INK,
      transitionLabelColor: INK, stateBkg: NODE, altBackground: GROUP, compositeBackground: PAPER,
      compositeTitleBackground: GROUP, innerEndBackground: EDGE, specialStateColor: MUTED,
      errorBkgColor: GROUP, errorTextColor: INK, classText: INK
    },
    /* The reader's letters may be wider than these: a little room for them. */
    themeCSS: "text{letter-spacing:.02em}.messageLine0,.messageLine1{stroke-width:1.5}" +
      ".grid .tick{stroke:" + LINE + ";stroke-opacity:.6}.grid .tick text{font-size:14px}" +
      ".today{display:none}.edgeLabel,.edgeLabel rect,.labelBkg{opacity:1!important}" +
      ".edgeLabel rect,.edgeLabel .label rect{fill:" + PAPER + "!important}"
  };

  /* Wider than this, a phone shows its text below 9 pixels: it is drawn closer, step by step. */
  var WIDEST = 630;
  var STEPS = [
    {},
    { wrappingWidth: 170, padding: 10, nodeSpacing: 24, rankSpacing: 36, width: 130, actorMargin: 100 },
    { wrappingWidth: 130, padding: 10, nodeSpacing: 16, rankSpacing: 32, width: 120, actorMargin: 60 },
    { wrappingWidth: 116, padding: 8, nodeSpacing: 12, rankSpacing: 32, width: 110, actorMargin: 40 },
    { wrappingWidth: 100, padding: 8, nodeSpacing: 10, rankSpacing: 32, width: 90, actorMargin: 16 }
  ];

  /* Mermaid asks for the letters of a line that is too long; it gets words, with the marks they hold. */
  var WORDS = /[（「《“(]*(?:[\w.:/%@+=×…'\u00c0-\u024f]+-?|[^])[，。、；：？！）」》”,;:?!)]*/g;
  Intl.Segmenter = function () {
    this.segment = function (text) {
      return (text.match(WORDS) || []).map(function (word) { return { segment: word }; });
    };
  };

  var SHAPES = /^(?:path|rect|circle|ellipse|polygon|polyline|line)$/;
  var GEOMETRY = {
    path: "d", rect: "x y width height rx ry", circle: "cx cy r", ellipse: "cx cy rx ry",
    polygon: "points", polyline: "points", line: "x1 y1 x2 y2", text: "x y dx dy",
    tspan: "x y dx dy",
    marker: "id viewBox refX refY markerUnits markerWidth markerHeight orient"
  };
  /* CSS property -> what SVG takes for granted. */
  var SHAPE_STYLE = {
    fill: "black", stroke: "none", "stroke-width": "1", "stroke-dasharray": "none",
    "fill-opacity": "1", "stroke-opacity": "1", opacity: "1", "stroke-linecap": "butt"
  };
  var TEXT_STYLE = {
    fill: "ink", "font-size": "16", "font-weight": "400", "font-style": "normal",
    "text-anchor": "start", "dominant-baseline": "auto", opacity: "1", "text-decoration-line": "none"
  };

  function escape(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
  }

  /* Numbers with one decimal: finer than anybody sees. */
  function short(text) {
    return text.replace(/-?\d*\.\d+(?:e-?\d+)?/g, function (number) {
      return String(Math.round(Number(number) * 10) / 10);
    }).replace(/\s+/g, " ").trim();
  }

  function hex(colour) {
    var parts = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(colour);
    if (!parts || parts[4] === "0") { return null; }
    return "#" + parts.slice(1, 4).map(function (part) {
      return ("0" + Number(part).toString(16)).slice(-2);
    }).join("");
  }

  /* The variable of the page that is this colour, or nearest to what mermaid mixed of them. */
  function variable(colour) {
    var wanted = hex(colour), best = null, least = Infinity;
    if (!wanted) { return "none"; }
    Object.keys(COLOURS).forEach(function (known) {
      var far = 0;
      for (var at = 1; at < 7; at += 2) {
        far += Math.abs(parseInt(known.substr(at, 2), 16) - parseInt(wanted.substr(at, 2), 16));
      }
      if (far < least) { least = far; best = known; }
    });
    return "var(--fig-" + COLOURS[best] + ", " + best + ")";
  }

  function styleOf(element, table) {
    var seen = window.getComputedStyle(element), made = "";
    Object.keys(table).forEach(function (name) {
      var value = seen.getPropertyValue(name), plain = table[name];
      if (name === "fill" && element.localName === "line") { return; }
      if (name === "fill" && element.localName === "text" && element.firstElementChild) {
        // Mermaid colours the lines of a text, not the text.
        value = window.getComputedStyle(element.firstElementChild).fill;
      }
      if (name === "fill" || name === "stroke") {
        value = variable(value);
        if (plain === "ink" && value === "var(--fig-ink, " + INK + ")") { return; }
      } else {
        value = short(value.replace(/px/g, ""));
      }
      if (/^stroke-/.test(name) && variable(seen.stroke) === "none") { return; }
      if (/^(?:0|1, 0|alphabetic)$/.test(value) && /dasharray|baseline/.test(name)) { return; }
      if (value !== plain) {
        made += " " + (name === "text-decoration-line" ? "text-decoration" : name) + "=\"" + escape(value) + "\"";
      }
    });
    return made;
  }

  function geometry(element) {
    var made = "";
    (GEOMETRY[element.localName] || "").split(" ").concat("transform").forEach(function (name) {
      var value = name && element.getAttribute(name);
      if (value && !(name === "transform" && /^translate\(0(?:, ?0)?\)$/.test(value))) {
        made += " " + name + "=\"" + escape(name === "id" ? value : short(value)) + "\"";
      }
    });
    return made;
  }

  function isUnseen(element) {
    var seen = window.getComputedStyle(element);
    return seen.display === "none" || seen.visibility === "hidden";
  }

  function shape(element) {
    var box = element.getBBox();
    if (!box.width && !box.height || element.localName === "rect" && !(box.width * box.height)) { return ""; }
    if (variable(window.getComputedStyle(element).fill) === "none" &&
        variable(window.getComputedStyle(element).stroke) === "none") { return ""; }
    var ends = "";
    ["marker-start", "marker-mid", "marker-end"].forEach(function (name) {
      var value = window.getComputedStyle(element).getPropertyValue(name);
      var id = /#([^")]+)/.exec(value);
      if (id) { ends += " " + name + "=\"url(#" + escape(id[1]) + ")\""; }
    });
    return "<" + element.localName + geometry(element) + styleOf(element, SHAPE_STYLE) + ends + "/>";
  }

  /* Mermaid has a tspan for each word; one a line is enough, unless a word is bold. */
  function line(tspan) {
    var words = Array.prototype.slice.call(tspan.children);
    if (!words.length) { return escape(tspan.textContent); }
    return words.map(function (word) {
      var own = styleOf(word, { "font-weight": "400", "font-style": "normal" });
      var text = escape(word.textContent);
      return own ? "<tspan" + own + ">" + text + "</tspan>" : text;
    }).join("");
  }

  function text(element) {
    if (!element.textContent.trim()) { return ""; }
    var inside = "", lines = 0;
    Array.prototype.forEach.call(element.childNodes, function (child) {
      if (child.nodeType === 3) {
        inside += escape(child.data);
      } else if (child.localName === "tspan" && child.textContent.trim()) {
        inside += (lines++ ? "\n" : "") + "<tspan" + geometry(child) + ">" + line(child) + "</tspan>";
      }
    });
    return "<text" + geometry(element) + styleOf(element, TEXT_STYLE) + ">" + inside + "</text>";
  }

  function inside(element) {
    return Array.prototype.map.call(element.children, plain).join("");
  }

  function plain(element) {
    var name = element.localName, kept;
    if (name === "foreignObject") { throw new Error("mermaid drew HTML into the diagram"); }
    if (name === "marker") { return ""; }
    if (/^(?:style|title|desc|defs|symbol|filter|linearGradient)$/.test(name) || isUnseen(element)) {
      return name === "defs" ? inside(element) : "";
    }
    if (SHAPES.test(name)) { return shape(element); }
    if (name === "text") { return text(element); }
    if (!/^(?:g|a|svg)$/.test(name)) { throw new Error("mermaid drew <" + name + ">"); }
    kept = inside(element);
    if (!kept) { return ""; }
    var own = geometry(element);
    return own ? "<g" + own + ">" + kept + "</g>" : kept;
  }

  /* The ends of lines that the drawing uses, each once. */
  function markers(svg, drawn) {
    return Array.prototype.map.call(svg.querySelectorAll("marker"), function (marker) {
      if (drawn.indexOf("url(#" + marker.id + ")") < 0) { return ""; }
      return "<marker" + geometry(marker) + ">" + inside(marker) + "</marker>";
    }).join("");
  }

  function shorten(made) {
    var ids = made.match(/<marker id="[^"]+"/g) || [];
    ids.forEach(function (tag, number) {
      var id = tag.slice(12, -1);
      made = made.split("\"" + id + "\"").join("\"m" + number + "\"")
        .split("url(#" + id + ")").join("url(#m" + number + ")");
    });
    return made;
  }

  /* Returns a promise of the SVG; it fails with mermaid's own message. */
  return function draw(source, step = 0) {
    var settings = JSON.parse(JSON.stringify(SETTINGS));
    Object.assign(settings.flowchart, STEPS[step]);
    Object.assign(settings.sequence, STEPS[step], step && { wrap: true, wrapPadding: 6, diagramMarginX: 8 });
    window.mermaid.initialize(settings);
    return window.mermaid.render("drawing", source).then(function (made) {
      var holder = document.body.appendChild(document.createElement("div"));
      holder.style.width = "760px";
      holder.innerHTML = made.svg;
      var svg = holder.querySelector("svg");
      var box = svg.viewBox.baseVal;
      var drawn = inside(svg);
      var ends = markers(svg, drawn);
      holder.remove();
      if (box.width > WIDEST && step < STEPS.length - 1) { return draw(source, step + 1); }
      return shorten("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"" +
        [box.x, box.y, box.width, box.height].map(Math.round).join(" ") + "\" font-family=\"sans-serif\" font-size=\"16\"" +
        " fill=\"var(--fig-ink, " + INK + ")\">" + (ends ? "<defs>" + ends + "</defs>" : "") + drawn + "</svg>\n");
    });
  };
})();
