/*
 * What a term means, shown beside it: hooks/pages/term_marks.py has made each mark a link to the
 * glossary and left the sentences, hidden, at the page's end. Shown on hover and on focus; by
 * finger the first touch shows it and the second follows the link. Escape puts it away. Without
 * this script the links lead to the same sentences.
 */
(function () {
  "use strict";

  var WAIT_MS = 200; // until a pointer that passes by is taken to stay, or to have left
  var GAP = 6;
  var zh = /^zh/.test(document.documentElement.lang);
  var article = document.querySelector("article") || document.body;
  var tip = null;
  var shown = null; // the mark whose sentence is seen
  var timer = null;
  var held = false; // shown by a finger
  var touched = null; // the mark that a finger was put on, until its click

  function term(node) {
    return node && node.closest ? node.closest("a.term") : null;
  }

  /** The box, made when first asked for. Screen readers have the link's description instead. */
  function box() {
    if (!tip) {
      tip = document.createElement("div");
      tip.className = "term-tip";
      tip.setAttribute("aria-hidden", "true");
      tip.hidden = true;
      tip.addEventListener("mouseenter", stay);
      tip.addEventListener("mouseleave", leave);
      document.body.appendChild(tip);
    }
    return tip;
  }

  function part(kind, text) {
    var node = document.createElement("span");
    node.className = "term-tip__" + kind;
    node.textContent = text;
    return node;
  }

  function show(mark, byFinger) {
    var source = document.getElementById(mark.getAttribute("aria-describedby"));
    if (!source) {
      return;
    }
    stay();
    var made = box();
    made.textContent = "";
    made.appendChild(part("name", source.getAttribute("data-name")));
    made.appendChild(part("text", source.textContent));
    if (byFinger) {
      made.appendChild(part("more", zh ? "再点一次，打开词条" : "Tap again to open the entry"));
    }
    made.hidden = false;
    shown = mark;
    held = byFinger;
    place(made, mark);
    document.dispatchEvent(new CustomEvent("handbook:tip", { detail: made })); // see tips.js
  }

  /** Below the first line of the mark, or above where there is no room; never over an edge. */
  function place(made, mark) {
    var line = mark.getClientRects()[0] || mark.getBoundingClientRect();
    var width = document.documentElement.clientWidth;
    var left = Math.max(8, Math.min(line.left, width - made.offsetWidth - 8));
    var below = line.bottom + GAP;
    var above = line.top - GAP - made.offsetHeight;
    var fits = below + made.offsetHeight <= window.innerHeight || above < 60;
    made.style.left = left + window.pageXOffset + "px";
    made.style.top = (fits ? below : above) + window.pageYOffset + "px";
  }

  function hide() {
    stay();
    if (tip) {
      tip.hidden = true;
    }
    shown = null;
  }

  function stay() {
    window.clearTimeout(timer);
  }

  /** A pointer is gone. After a finger that says nothing: browsers make up such events. */
  function leave() {
    if (!held) {
      stay();
      timer = window.setTimeout(hide, WAIT_MS);
    }
  }

  article.addEventListener("mouseover", function (event) {
    var mark = term(event.target);
    if (!mark || touched) {
      return;
    }
    stay();
    if (mark !== shown) {
      timer = window.setTimeout(show, WAIT_MS, mark, false);
    }
  });
  article.addEventListener("mouseout", function (event) {
    if (term(event.target) && !touched) {
      leave();
    }
  });
  article.addEventListener("focusin", function (event) {
    var mark = term(event.target);
    if (mark && mark !== shown && !touched) {
      show(mark, false);
    }
  });
  article.addEventListener("focusout", function (event) {
    if (term(event.target) && !touched) {
      hide();
    }
  });
  article.addEventListener(
    "touchstart",
    function (event) {
      touched = term(event.target);
    },
    { passive: true }
  );
  article.addEventListener("click", function (event) {
    var mark = term(event.target);
    var first = mark && mark === touched && mark !== shown;
    touched = null;
    if (first) {
      event.preventDefault();
      show(mark, true);
    }
  });
  document.addEventListener("click", function (event) {
    if (shown && !term(event.target) && !tip.contains(event.target)) {
      hide();
    }
  });
  document.addEventListener("handbook:tip", function (event) {
    if (shown && event.detail !== tip) {
      hide();
    }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape" && shown) {
      hide();
    }
  });
})();
