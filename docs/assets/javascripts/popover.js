/*
 * One box beside the text at a time: what a term means, where a link within the handbook leads, and
 * Material's own (footnotes, titles), which go when another shows and on Escape. By pointer and by
 * keyboard focus; by finger the first tap on a term or on the mark of a footnote shows its box and
 * the second follows it, and on other links a finger that rests. The sentences of terms stand
 * hidden at the page's end (hooks/pages/term_marks.py); those of links (hooks/site/previews.py)
 * come in a script when first asked for. Without this script links are links.
 */
(function () {
  "use strict";

  var WAIT_MS = 250; // until a pointer that passes by is taken to stay, or to have left
  var HOLD_MS = 400; // shorter than what opens a phone's own menu
  var FORGET_MS = 500;
  var GAP = 6;
  var CARD = ".md-tooltip2";
  var HOST = "[aria-controls^='__tooltip2_'], [aria-describedby^='__tooltip2_']";
  var BUTTONS = ".headerlink, .md-tag, .footnote-ref, .footnote-backref, .md-content__button";
  var own = document.currentScript.getAttribute("data-base");
  var base = own && new URL(own, location.href).href;
  var article = document.querySelector("article");
  var zh = /^zh/.test(document.documentElement.lang);
  var state = 0; // of the data: 0 not asked for, 1 on the way, 2 here
  var waiting = null; // what to do when they come
  var tip = null;
  var shown = null; // the link whose box is seen
  var isByFinger = false; // what is seen was shown by a finger
  var isHeld = false; // a finger rests on a link, and has shown it
  var touched = null; // the link that a finger was put on, until its click
  var tapped = null; // the mark of a footnote whose card a tap has shown
  var timer = null;
  var forgetting = null;
  if (!article) {
    return;
  }

  /** A term, or a link of the text to a page or a section of the handbook; null for all else. */
  function link(node) {
    var found = node && node.closest ? node.closest("a[href]") : null;
    if (!found || !article.contains(found)) {
      return null;
    }
    var isOurs = base && found.href.indexOf(base) === 0 && !found.matches(BUTTONS) &&
      !found.closest("nav, h1, h2, h3, h4, h5, h6, svg");
    return isTerm(found) || isOurs ? found : null;
  }

  function isTerm(found) {
    return found.matches(".term");
  }

  /** Title and text of what a link leads to; null where nothing is known. */
  function entry(found) {
    var parts = found.href.slice(base.length).split("#");
    var name;
    var id;
    try {
      name = decodeURI(parts[0].split("?")[0]);
      id = decodeURIComponent(parts[1] || "");
    } catch (error) {
      return null;
    }
    if (!zh && name.indexOf("en/") !== 0) {
      return null;
    }
    name = (zh ? name : name.slice(3)).replace(/(^|\/)$/, "$1index.html");
    var data = window.__previews || {};
    var note = Object.prototype.hasOwnProperty.call(data, name) ? data[name] : null;
    var isHere = found.href.split("#")[0] === location.href.split("#")[0];
    var text = note && ((id && note[2] && note[2][id]) || (isHere ? "" : note[1]));
    return text ? [note[0], text] : null;
  }

  /** Hands on title and text for a link, as soon as they are here; nothing where there are none. */
  function ask(found, then) {
    if (isTerm(found)) {
      var source = document.getElementById(found.getAttribute("aria-describedby"));
      then(source && [source.getAttribute("data-name"), source.textContent]);
      return;
    }
    waiting = function () {
      waiting = null;
      then(entry(found));
    };
    if (state === 2) {
      waiting();
    } else if (!state) {
      state = 1;
      var script = document.createElement("script");
      script.src = base + "previews/" + (zh ? "zh" : "en") + ".js";
      script.onload = script.onerror = function () {
        state = 2;
        if (waiting) {
          waiting();
        }
      };
      document.head.appendChild(script);
    }
  }

  function box() {
    if (!tip) {
      tip = document.createElement("div");
      tip.id = "link-tip";
      tip.className = "link-tip";
      tip.setAttribute("role", "tooltip");
      tip.hidden = true;
      tip.addEventListener("mouseenter", stay);
      tip.addEventListener("mouseleave", leave);
      (document.querySelector("main") || document.body).appendChild(tip);
    }
    return tip;
  }

  function show(found, byFinger) {
    stay();
    ask(found, function (said) {
      if (!said || (byFinger && touched !== found)) {
        return;
      }
      alone(null);
      var made = box();
      var more = byFinger && isTerm(found) && (zh ? "再点一次，打开词条" : "Tap again to open the entry");
      made.textContent = "";
      ["name", "text", "more"].forEach(function (kind, at) {
        var text = said.concat(more || [])[at];
        if (text) {
          var node = made.appendChild(document.createElement("span"));
          node.className = "link-tip__" + kind;
          node.textContent = text;
        }
      });
      made.hidden = false;
      shown = found;
      isByFinger = byFinger;
      isHeld = byFinger && !isTerm(found);
      if (isTerm(found)) { // screen readers have the hidden sentence
        made.setAttribute("aria-hidden", "true");
      } else {
        made.removeAttribute("aria-hidden");
        found.setAttribute("aria-describedby", made.id);
      }
      place(made, found);
    });
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
    waiting = null;
    if (shown) {
      tip.hidden = true;
      if (!isTerm(shown)) {
        shown.removeAttribute("aria-describedby");
      }
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
      waiting = null;
      timer = window.setTimeout(hide, WAIT_MS);
    }
  }

  function forget() {
    touched = null;
    isHeld = false;
  }

  ["mouseover", "focusin"].forEach(function (name) {
    document.addEventListener(name, function (event) {
      if (!event.relatedTarget || event.target.closest(HOST) !== event.relatedTarget.closest(HOST)) {
        revive(event.target);
      }
      var found = touched ? null : link(event.target);
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
    if (link(event.target) && !touched) {
      leave();
    }
  });
  article.addEventListener("focusout", function (event) {
    if (link(event.target) && !touched) {
      hide();
    }
  });
  article.addEventListener("touchstart", function (event) {
    window.clearTimeout(forgetting);
    touched = event.target.closest("a.footnote-ref") || link(event.target);
    isHeld = false;
    if (touched && touched !== shown && link(touched) && !isTerm(touched)) {
      stay();
      timer = window.setTimeout(show, HOLD_MS, touched, true);
    }
  }, { passive: true });
  article.addEventListener("touchmove", function () {
    stay();
    touched = null;
  }, { passive: true });
  article.addEventListener("touchend", function () {
    stay();
    forgetting = window.setTimeout(forget, FORGET_MS);
  });
  // After a finger that rested; resting again gives the phone's own menu.
  article.addEventListener("contextmenu", function (event) {
    if (isHeld && link(event.target) === shown) {
      event.preventDefault();
    }
  });
  document.addEventListener("click", function (event) {
    var mark = event.target.closest("a.footnote-ref");
    var found = link(event.target);
    var isFirst = mark && mark === touched && mark !== tapped;
    if (isFirst || (isHeld && found && found === shown)) {
      event.preventDefault();
    } else if (found && isTerm(found) && found === touched && found !== shown) {
      event.preventDefault();
      show(found, true);
    } else if (mark) {
      alone(null);
    } else if (shown && found !== shown && !tip.contains(event.target)) {
      hide();
    }
    tapped = isFirst ? mark : null;
    forget();
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
