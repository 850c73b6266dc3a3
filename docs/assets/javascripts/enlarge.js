/*
 * Drawings enlarge on a tap or by the button below them. The drawing itself moves into a dialog
 * and back: ids stay unique, and what a script has made of it stays. Escape, a click and the
 * button close. Without this script drawings scroll where they are wide.
 */
(function () {
  "use strict";

  var HOLDERS = "figure, .mermaid, .diagram, .chart";
  var LEAST = 160; // pixels: what is smaller is an icon
  var zh = /^zh/.test(document.documentElement.lang);
  var words = zh
    ? { open: "放大", close: "关闭", more: "更大", less: "更小", name: "放大的图" }
    : { open: "Enlarge", close: "Close", more: "Larger", less: "Smaller", name: "Enlarged figure" };
  var dialog, view, frame, drawing, gap, opener, scale;

  function button(kind, sign, act) {
    var made = document.createElement("button");
    made.type = "button";
    made.className = "enlarged__" + kind;
    made.textContent = sign;
    made.title = words[kind];
    made.setAttribute("aria-label", words[kind]);
    made.addEventListener("click", act);
    return made;
  }

  function build() {
    dialog = document.createElement("dialog");
    dialog.className = "enlarged md-typeset";
    var bar = document.createElement("div");
    bar.className = "enlarged__bar";
    bar.appendChild(button("less", "−", function () { zoom(1 / 1.5); }));
    bar.appendChild(button("more", "+", function () { zoom(1.5); }));
    bar.appendChild(button("close", "×", function () { dialog.close(); }));
    view = document.createElement("div");
    view.className = "enlarged__view";
    view.tabIndex = 0;
    view.setAttribute("role", "region");
    frame = document.createElement("div");
    view.appendChild(frame);
    dialog.appendChild(bar);
    dialog.appendChild(view);
    dialog.addEventListener("click", function (event) {
      if (!event.target.closest("button, a")) {
        dialog.close();
      }
    });
    dialog.addEventListener("close", back);
    dialog.addEventListener("keydown", function (event) {
      if (event.key === "+" || event.key === "=") { zoom(1.5); }
      if (event.key === "-") { zoom(1 / 1.5); }
    });
    window.addEventListener("resize", function () { zoom(1); });
    document.body.appendChild(dialog);
  }

  /* Whole at first, in a turned phone too; then as large as is asked for. */
  function zoom(by) {
    var shape = size(drawing);
    var base = Math.min(window.innerWidth - 24, (window.innerHeight - 90) * shape.width / shape.height);
    scale = Math.max(1, Math.min(8, scale * by));
    frame.style.width = base * scale + "px";
  }

  function size(node) {
    var box = node.viewBox && node.viewBox.baseVal;
    return box && box.width
      ? { width: box.width, height: box.height }
      : { width: node.naturalWidth || node.clientWidth, height: node.naturalHeight || node.clientHeight };
  }

  function open(node, from) {
    if (!dialog) {
      build();
    }
    drawing = node;
    opener = from;
    var holder = node.closest(HOLDERS);
    var ink = getComputedStyle(node.parentNode);
    scale = 1;
    gap = document.createElement("div");
    gap.style.height = node.getBoundingClientRect().height + "px";
    node.parentNode.replaceChild(gap, node);
    frame.className = holder.className; // the rules that colour it where it stands
    frame.style.font = ink.font;
    frame.appendChild(node);
    zoom(1);
    var label = node.getAttribute("aria-label") || node.getAttribute("alt") || words.name;
    dialog.setAttribute("aria-label", label);
    view.setAttribute("aria-label", label);
    dialog.showModal();
    view.scrollLeft = view.scrollTop = 0;
  }

  function back() {
    if (gap && gap.parentNode) {
      gap.parentNode.replaceChild(drawing, gap);
    }
    gap = null;
    opener.focus({ preventScroll: true });
  }

  function offer(node) {
    if (node.closest(".enlarged") || node.getAttribute("data-enlarges") !== null ||
        node.closest("button, a, .figure__controls, .graph, .calc") ||
        node.getBoundingClientRect().width < LEAST) {
      return;
    }
    node.setAttribute("data-enlarges", "");
    var box = node.parentNode;
    while (!box.matches(HOLDERS) && !box.matches(".figure__scroll")) {
      box = box.parentNode;
    }
    var control = document.createElement("button");
    control.type = "button";
    control.className = "enlarge";
    control.textContent = "⤢ " + words.open;
    var label = node.getAttribute("aria-label") || node.getAttribute("alt");
    if (label) {
      control.setAttribute("aria-label", words.open + (zh ? "：" : ": ") + label.slice(0, 80));
    }
    control.addEventListener("click", function () { open(node, control); });
    node.addEventListener("click", function (event) {
      if (!node.closest(".enlarged") && !event.target.closest("a")) {
        open(node, control);
      }
    });
    if (box.matches("figure")) {
      node.insertAdjacentElement("afterend", control);
    } else {
      box.insertAdjacentElement("afterend", control); // it must not scroll with the drawing
    }
  }

  function look() {
    var all = document.querySelectorAll("article :is(" + HOLDERS + ") :is(svg, img)");
    Array.prototype.forEach.call(all, function (node) {
      if (!node.parentNode.closest("svg")) {
        offer(node);
      }
    });
  }

  if (window.HTMLDialogElement) {
    look();
    window.addEventListener("load", look);
    document.addEventListener("toggle", look, true); // what a fold had hidden has a size now
  }
})();
