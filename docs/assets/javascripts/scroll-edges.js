/*
 * What is wider than the page: on a desk a table grows over the side column; what scrolls all the
 * same says so at the edge where it goes on, has a name, and the keyboard reaches it. Without this
 * script it scrolls, only unannounced.
 */
(function () {
  "use strict";

  var BOXES =
    ".md-typeset__scrollwrap, .md-typeset__table, .facts__scroll, .figure__scroll, .mermaid, .diagram";
  var PART = /.+?(?:[_/:=,([](?=\w)|\.(?=\w{4})|[a-z0-9](?=[A-Z])|$)/g;
  var sought = (new URLSearchParams(location.search).get("h") || "").toLowerCase().split(/\s+/).filter(Boolean);
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
    box.classList.remove("is-tight", "is-held");
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

  /** Sets a table closer that is still too wide, where that makes it fit. */
  function tighten(box) {
    if (!box.querySelector("table")) {
      return;
    }
    if (!wide.matches || box.scrollWidth > box.clientWidth + 1) {
      part(box, box.scrollWidth > box.clientWidth + 1 ? 10 : 20);
    }
    if (box.scrollWidth > box.clientWidth + 1) {
      box.classList.add("is-tight");
      if (box.scrollWidth > box.clientWidth + 1) {
        box.classList.remove("is-tight"); // it scrolls all the same: rather at reading size
      }
    }
  }

  /** What was searched for stays in one piece, as Material marks nothing else. */
  function isSought(text) {
    return sought.some(function (one) { return text.toLowerCase().indexOf(one) >= 0; });
  }

  /** Lets names in a table that are longer than `most` go on in the next line after one of their parts. */
  function part(box, most) {
    box.querySelectorAll("code, th, td, .facts__value").forEach(function (name) {
      if (name.querySelector(":not(wbr, .option)")) {
        return;
      }
      name.innerHTML = name.innerHTML.replace(/[\w./:=,([-]+/g, function (word) {
        var used = 0;
        return word.length <= most || isSought(word) ? word : word.replace(PART, function (piece) {
          var breaks = used > 0 && used + piece.length > 10;
          used = piece.length + (breaks ? 0 : used);
          return (breaks ? "<wbr>" : "") + piece;
        });
      });
    });
  }

  /** Tells the style sheet on which sides a box goes on, and lets the keyboard scroll it. */
  function mark(box) {
    var rest = box.scrollWidth - box.clientWidth;
    var at = Math.abs(box.scrollLeft);
    var sides = rest > 1 ? (at > 1 ? "start " : "") + (at < rest - 1 ? "end" : "") : "";
    var scrolls = rest > 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);
    set(box, sides && {
      "data-scrolls": sides.trim(),
      "data-hint": zh ? "⇆ 左右滑动看全部" : "⇆ Scroll sideways for the rest",
    }, ["data-scrolls", "data-hint"]);
    if (!box.hasAttribute("role") || box.getAttribute("role") === "group") {
      set(box, scrolls && { role: "group", tabindex: "0", "aria-label": label(box) }, ["role", "tabindex", "aria-label"]);
    }
  }

  function set(box, values, names) {
    names.forEach(function (name) {
      if (values) {
        box.setAttribute(name, values[name]);
      } else {
        box.removeAttribute(name);
      }
    });
  }

  /** Name of a scrolling box: its caption, else what it is and the heading above it. */
  function label(box) {
    var figure = box.parentElement;
    var caption = box.querySelector("caption") || (figure.matches("figure") && figure.querySelector("figcaption"));
    if (caption) {
      return caption.textContent.trim();
    }
    var kind = box.querySelector("table") ? (zh ? "表格" : "Table") : zh ? "图" : "Figure";
    for (var at = box; at && at !== article; at = at.previousElementSibling || at.parentElement) {
      if (/^H[1-6]$/.test(at.tagName)) {
        return kind + (zh ? "：" : ": ") + at.textContent.replace(/¶\s*$/, "").trim();
      }
    }
    return kind;
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
  article.querySelectorAll(":not(pre) > code").forEach(function (code) {
    if (!code.children.length && !isSought(code.textContent)) {
      code.innerHTML = code.innerHTML.replace(/(^|\s)(--?\w+)/g, '$1<span class="option">$2</span>');
    }
  });
  look();
  window.addEventListener("load", look);
  document.fonts.ready.then(look); // formulas have their widths now
  window.addEventListener("resize", later);
  article.addEventListener("toggle", later, true); // a fold that was opened
  article.addEventListener("change", later); // a tab
  if (window.MutationObserver) {
    new MutationObserver(later).observe(article, { childList: true, subtree: true });
  }
})();
