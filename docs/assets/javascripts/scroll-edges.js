/*
 * What is wider than the page: on a desk a table grows over the side column; what scrolls all the
 * same says so at the edge where it goes on. Without this script it scrolls, only unannounced.
 * reading.js gives such boxes a name and lets the keyboard reach them.
 */
(function () {
  "use strict";

  var BOXES = ".md-typeset__scrollwrap, .facts__scroll, .figure__scroll, .mermaid, .diagram";
  var zh = /^zh/.test(document.documentElement.lang);
  var article = document.querySelector("article");
  var wide = window.matchMedia("(min-width: 60em)");
  var watched = [];

  /** What takes the room for a wide table: itself with its frame, or the fold that it stands in. */
  function holder(box) {
    var own = box.closest(".facts, .measured") || box;
    var fold = own.parentNode;
    return fold !== article && fold.matches("details") ? fold : own;
  }

  function shrink(box) {
    var held = holder(box);
    held.style.marginInlineEnd = "";
    held.removeAttribute("data-grown");
    box.classList.remove("is-tight");
    box.removeAttribute("data-grown");
  }

  /** Lets a table at the page's own level take what room there is at its end. */
  function grow(box) {
    var held = holder(box);
    if (!wide.matches || held.parentNode !== article || !box.querySelector("table")) {
      return;
    }
    var missing = box.scrollWidth - box.clientWidth;
    var room = document.documentElement.clientWidth - held.getBoundingClientRect().right - 24;
    if (missing > 1 && room > 0) {
      var own = parseFloat(getComputedStyle(held).marginRight) || 0;
      held.style.marginInlineEnd = own - Math.min(missing + 2, room) + "px";
      (held.matches("details") ? held : box).setAttribute("data-grown", "");
    }
  }

  /** Sets a table closer that is still too wide on a desk, where that makes it fit. */
  function tighten(box) {
    if (wide.matches && box.querySelector("table") && box.scrollWidth > box.clientWidth + 1) {
      box.classList.add("is-tight");
      if (box.scrollWidth > box.clientWidth + 1) {
        box.classList.remove("is-tight"); // it scrolls all the same: rather at reading size
      }
    }
  }

  /** Tells the style sheet on which sides a box goes on. */
  function mark(box) {
    var rest = box.scrollWidth - box.clientWidth;
    var at = Math.abs(box.scrollLeft);
    var sides = rest > 1 ? (at > 1 ? "start " : "") + (at < rest - 1 ? "end" : "") : "";
    if (sides) {
      box.setAttribute("data-scrolls", sides.trim());
      box.setAttribute("data-hint", zh ? "⇆ 左右滑动看全部" : "⇆ Scroll sideways for the rest");
    } else {
      box.removeAttribute("data-scrolls");
      box.removeAttribute("data-hint");
    }
  }

  /** The first column of a plain table stays in sight where it leaves room for the others. */
  function hold(box) {
    var cell = box.querySelector("table:not([class]) tbody td");
    var fits = cell && box.scrollWidth > box.clientWidth + 1 && cell.offsetWidth < box.clientWidth * 0.4;
    box.classList[fits ? "add" : "remove"]("is-held");
  }

  function look() {
    var boxes = Array.prototype.slice.call(article.querySelectorAll(BOXES));
    boxes.forEach(shrink);
    boxes.forEach(grow); // a fold with several goes on growing until the widest fits
    boxes.forEach(tighten);
    boxes.forEach(function (box) {
      hold(box);
      mark(box);
      if (watched.indexOf(box) < 0) {
        watched.push(box);
        box.addEventListener("scroll", function () { mark(box); }, { passive: true });
      }
    });
  }

  var pending = null;
  function later() {
    window.clearTimeout(pending);
    pending = window.setTimeout(look, 150);
  }

  if (!article) {
    return;
  }
  look();
  window.addEventListener("load", look);
  window.addEventListener("resize", later);
  article.addEventListener("toggle", later, true); // a fold that was opened
  article.addEventListener("change", later); // a tab
  if (window.MutationObserver) {
    new MutationObserver(later).observe(article, { childList: true, subtree: true });
  }
})();
