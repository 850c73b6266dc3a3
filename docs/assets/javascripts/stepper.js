/**
 * Figures with steps: buttons below the drawing, and the sentence of the step at hand.
 *
 * The groups of a drawing have `data-step` (steps 1 to N are seen) or `data-frame` (only N is);
 * the sentences are the folded list beside it. Nothing moves by itself, and until a reader begins,
 * a drawing with steps shows them all. Without this script: the drawing whole, and the list.
 */
(function () {
  "use strict";

  var PAUSE_MS = 3000;
  var zh = /^zh/.test(document.documentElement.lang);
  var still = window.matchMedia && window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  var ICONS = {
    first: ["M4 4h3v16H4zM20 4v16L8 12z", "第一步", "First step"],
    back: ["M16 4l-8 8 8 8-2 2L4 12 14 2z", "上一步", "Step back"],
    play: ["M6 4v16l14-8z", "播放", "Play"],
    pause: ["M5 4h5v16H5zM14 4h5v16h-5z", "暂停", "Pause"],
    next: ["M8 4l8 8-8 8 2 2 10-10L10 2z", "下一步", "Next step"],
    last: ["M4 4v16l12-8zM17 4h3v16h-3z", "最后一步", "Last step"]
  };

  function all(root, selector) {
    return Array.prototype.slice.call(root.querySelectorAll(selector));
  }

  function make(tag, name, attribute, value) {
    var node = document.createElement(tag);
    node.className = name;
    node.setAttribute(attribute, value);
    return node;
  }

  function dress(button, name) {
    button.setAttribute("aria-label", ICONS[name][zh ? 1 : 2]);
    button.firstChild.firstChild.setAttribute("d", ICONS[name][0]);
  }

  function enhance(figure) {
    var scroller = figure.querySelector(".figure__scroll");
    var svg = scroller.querySelector("svg");
    var sentences = all(figure, "details > ol > li");
    var kind = svg.querySelector("[data-frame]") ? "data-frame" : "data-step";
    var groups = all(svg, "[" + kind + "]");
    var count = sentences.length;
    var timer = null;
    var at = 0; // 0: not begun, all is seen
    figure.setAttribute("data-stepper", "");
    var bar = make("div", "figure__controls", "role", "group");
    bar.setAttribute("aria-label", zh ? "逐步看图" : "Go through the figure");
    var buttons = {};
    ["first", "back", "play", "next", "last"].forEach(function (name) {
      var button = buttons[name] = bar.appendChild(make("button", "", "type", "button"));
      button.innerHTML = '<svg viewBox="0 0 24 24" aria-hidden="true"><path/></svg>';
      button.addEventListener("click", act.bind(null, name));
      dress(button, name);
    });
    buttons.play.hidden = still;
    var counter = bar.appendChild(make("output", "", "aria-live", "off"));
    var caption = bar.appendChild(make("p", "figure__caption", "aria-live", "polite"));
    figure.insertBefore(bar, scroller.nextSibling);

    /** A dashed frame around what is new; drawing and page follow it, and the buttons stay below. */
    function frame(group) {
      var box = group.getBBox();
      var rect = document.createElementNS(svg.namespaceURI, "rect");
      rect.setAttribute("class", "figure__now");
      ["x", "y", "width", "height"].forEach(function (key) {
        rect.setAttribute(key, box[key] + (key.length === 1 ? -3 : 6));
      });
      group.insertBefore(rect, group.firstChild);
      var seen = scroller.getBoundingClientRect();
      var place = rect.getBoundingClientRect();
      if (place.left < seen.left || place.right > seen.right) {
        scroller.scrollLeft += (place.left + place.right - seen.left - seen.right) / 2;
      }
      var below = place.bottom + 12 - bar.getBoundingClientRect().top;
      var above = place.top - 120; // less than the header covers
      window.scrollBy(0, below > 0 ? below : Math.min(above, 0));
    }

    function show(step) {
      at = step;
      all(svg, ".figure__now").forEach(function (old) {
        old.parentNode.removeChild(old);
      });
      groups.forEach(function (group) {
        var number = Number(group.getAttribute(kind));
        group[number === at ? "setAttribute" : "removeAttribute"]("data-now", "");
        group[at && number > at ? "setAttribute" : "removeAttribute"]("data-later", "");
      });
      all(svg, "[data-step][data-now]").forEach(frame);
      svg.setAttribute("data-at", at);
      counter.textContent = at ? at + " / " + count : zh ? "共 " + count + " 步" : count + " steps";
      caption.textContent = at ? sentences[at - 1].textContent : "";
      // Not `disabled`: a button that is pressed should keep the focus.
      ["first", "back", "next", "last"].forEach(function (name) {
        buttons[name].setAttribute("aria-disabled", String(!target(name)));
      });
    }

    /** The step that a button leads to, or 0. */
    function target(name) {
      var to = { first: 1, back: at - 1, next: at + 1, last: count }[name];
      return to >= 1 && to <= count && to !== at ? to : 0;
    }

    /** Plays or stops; while it plays, a voice would not keep up with the sentences. */
    function run(isOn) {
      window.clearInterval(timer);
      timer = isOn ? window.setInterval(tick, PAUSE_MS) : null;
      caption.setAttribute("aria-live", isOn ? "off" : "polite");
      dress(buttons.play, isOn ? "pause" : "play");
    }

    function tick() {
      show(at % count + 1);
      if (at === count || !document.contains(figure)) {
        run(false);
      }
    }

    function act(name) {
      run(name === "play" && timer === null);
      if (timer !== null) {
        tick();
      } else if (target(name)) {
        show(target(name));
      }
    }

    bar.addEventListener("keydown", function (event) {
      var name = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" }[event.key];
      if (name && !(event.altKey || event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        act(name);
      }
    });
    show(kind === "data-frame" ? 1 : 0);
  }

  function start() {
    all(document, "figure.figure--stepped:not([data-stepper])").forEach(enhance);
  }

  start();
  if (window.document$) window.document$.subscribe(start); // pages that Material loads itself
})();
