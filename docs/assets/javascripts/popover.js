/*
 * One box beside the text at a time: what a term means, and Material's own (footnotes, titles),
 * which go when another shows and on Escape. By pointer and by keyboard focus; by finger the first
 * tap on a term or on the mark of a footnote shows its box and the second follows it. The sentences
 * of terms stand hidden at the page's end (hooks/pages/term_marks.py). Without this script links
 * are links.
 */
(function () {
  "use strict";

  var WAIT_MS = 250; // until a pointer that passes by is taken to stay, or to have left
  var FORGET_MS = 500;
  var GAP = 6;
  var CARD = ".md-tooltip2";
  var HOST = "[aria-controls^='__tooltip2_'], [aria-describedby^='__tooltip2_']";
  var article = document.querySelector("article");
  var zh = /^zh/.test(document.documentElement.lang);
  var tip = null;
  var shown = null; // the term whose box is seen
  var isByFinger = false; // what is seen was shown by a finger
  var touched = null; // the link that a finger was put on, until its click
  var tapped = null; // the mark of a footnote whose card a tap has shown
  var timer = null;
  var forgetting = null;
  if (!article) {
    return;
  }

  function term(node) {
    return node && node.closest ? node.closest("article a.term") : null;
  }

  function box() {
    if (!tip) {
      tip = document.createElement("div");
      tip.id = "link-tip";
      tip.className = "link-tip";
      tip.setAttribute("aria-hidden", "true"); // screen readers have the hidden sentence
      tip.hidden = true;
      tip.addEventListener("mouseenter", stay);
      tip.addEventListener("mouseleave", leave);
      (document.querySelector("main") || document.body).appendChild(tip);
    }
    return tip;
  }

  function show(found, byFinger) {
    var source = document.getElementById(found.getAttribute("aria-describedby"));
    alone(null);
    if (!source) {
      return;
    }
    var made = box();
    var said = {
      name: source.getAttribute("data-name"),
      text: source.textContent,
      more: byFinger && (zh ? "再点一次，打开词条" : "Tap again to open the entry"),
    };
    made.textContent = "";
    Object.keys(said).forEach(function (kind) {
      if (said[kind]) {
        var node = made.appendChild(document.createElement("span"));
        node.className = "link-tip__" + kind;
        node.textContent = said[kind];
      }
    });
    made.hidden = false;
    shown = found;
    isByFinger = byFinger;
    place(made, found);
  }

  /** Below the first line of the link, or above where there is no room; never over an edge. */
  function place(made, found) {
    var line = found.getClientRects()[0] || found.getBoundingClientRect();
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
    if (shown) {
      tip.hidden = true;
      shown = null;
    }
  }

  /** Leaves one of Material's boxes, or none, which Material takes half a second to take away. */
  function alone(card) {
    hide();
    Array.prototype.forEach.call(document.querySelectorAll(CARD), function (other) {
      other.hidden = other !== card;
    });
  }

  /** Shows the box of a host again: Material keeps it for who comes back before it is taken away. */
  function revive(node) {
    var host = node.closest && node.closest(HOST);
    var card = host && document.getElementById(
      host.getAttribute("aria-controls") || host.getAttribute("aria-describedby")
    );
    if (card && card.hidden) {
      alone(card);
    }
  }

  function stay() {
    window.clearTimeout(timer);
  }

  /** A pointer is gone. After a finger that says nothing: browsers make up such events. */
  function leave() {
    if (!shown || !isByFinger) {
      stay();
      timer = window.setTimeout(hide, WAIT_MS);
    }
  }

  function forget() {
    touched = null;
  }

  /** The arrow of a footnote leads to the mark that was followed; keys go on where they led. */
  function follow(link, isByKey) {
    var end = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    var next = end && end.querySelector(end.matches("li") ? ".footnote-backref" : ".footnote-ref");
    if (next && link.matches(".footnote-ref")) {
      next.hash = link.parentNode.id;
    }
    if (next && isByKey) {
      window.setTimeout(function () { next.focus({ preventScroll: true }); }); // after the jump
    }
  }

  ["mouseover", "focusin"].forEach(function (name) {
    document.addEventListener(name, function (event) {
      if (!event.relatedTarget || event.target.closest(HOST) !== event.relatedTarget.closest(HOST)) {
        revive(event.target);
      }
      var found = touched ? null : term(event.target);
      if (!found) {
        return;
      }
      if (name === "mouseover") {
        stay();
      }
      if (found !== shown && name === "mouseover") {
        timer = window.setTimeout(show, WAIT_MS, found, false);
      } else if (found !== shown && event.target.matches(":focus-visible")) {
        show(found, false);
      }
    });
  });
  article.addEventListener("mouseout", function (event) {
    if (term(event.target) && !touched) {
      leave();
    }
  });
  article.addEventListener("focusout", function (event) {
    if (term(event.target) && !touched) {
      hide();
    }
  });
  article.addEventListener("touchstart", function (event) {
    window.clearTimeout(forgetting);
    touched = event.target.closest("a.footnote-ref") || term(event.target);
  }, { passive: true });
  article.addEventListener("touchmove", function () {
    touched = null;
  }, { passive: true });
  article.addEventListener("touchend", function () {
    forgetting = window.setTimeout(forget, FORGET_MS);
  });
  document.addEventListener("click", function (event) {
    var mark = event.target.closest("a.footnote-ref");
    var found = term(event.target);
    var isFirst = mark && mark === touched && mark !== tapped;
    if (isFirst) {
      event.preventDefault();
    } else if (found && found === touched && found !== shown) {
      event.preventDefault();
      show(found, true);
    } else if (mark) {
      alone(null);
    } else if (shown && found !== shown && !tip.contains(event.target)) {
      hide();
    }
    tapped = isFirst ? mark : null;
    forget();
    var way = event.target.closest("article :is(.footnote-ref, .footnote-backref, .footnote-uses__list > a)");
    if (way && !event.defaultPrevented) {
      follow(way, event.detail === 0);
    }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") {
      alone(null);
    }
  });
  new MutationObserver(function (changes) {
    changes.forEach(function (change) {
      Array.prototype.forEach.call(change.addedNodes, function (node) {
        if (node.nodeType === 1 && node.matches(CARD)) {
          alone(node);
        }
      });
    });
  }).observe(document.body, { childList: true });
  new MutationObserver(function (changes) { // Material names the box on its host as it shows it
    changes.forEach(function (change) {
      revive(change.target);
    });
  }).observe(document.body, {
    subtree: true,
    attributes: true,
    attributeFilter: ["aria-controls", "aria-describedby"],
  });
})();
