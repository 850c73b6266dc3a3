/*
 * Where a link within the handbook leads, shown beside it: title, and takeaway or first sentence.
 * By pointer, by keyboard focus, and by a finger that rests on it; the box may be pointed at,
 * stays until pointer or focus leave, and goes on Escape. The data (hooks/site/previews.py) come
 * in a script when first asked for. Without this script links are links.
 */
(function () {
  "use strict";

  var WAIT_MS = 300; // until a pointer that passes by is taken to stay
  var LEAVE_MS = 200;
  var HOLD_MS = 400; // shorter than what opens a phone's own menu
  var GAP = 6;
  var own = document.currentScript;
  var article = document.querySelector("article");
  var base = own && new URL(own.getAttribute("data-base"), location.href).href;
  var zh = /^zh/.test(document.documentElement.lang);
  var state = 0; // of the data: 0 not asked for, 1 on the way, 2 here, 3 in vain
  var waiting = null; // what to do when they come
  var tip = null;
  var shown = null;
  var timer = null;
  var held = null; // the link under a finger
  var isByFinger = false; // what is seen was shown by a finger
  var isHeld = false; // whether the finger has shown it
  if (!article || !base) {
    return;
  }

  /** A link of the text to a page or a section of the handbook; null for all else. */
  function link(node) {
    var found = node && node.closest ? node.closest("a[href]") : null;
    return found && article.contains(found) && found.href.indexOf(base) === 0 &&
      !found.matches(".headerlink, .term, .md-tag, .footnote-ref, .footnote-backref, .md-content__button") &&
      !found.closest("nav, h1, h2, h3, h4, h5, h6, svg") ? found : null;
  }

  /** Title and text of what a link leads to; null where nothing is known. */
  function entry(found) {
    var data = window.__previews || {};
    var parts = found.href.slice(base.length).split("#");
    var name;
    var id;
    try {
      name = decodeURI(parts[0].split("?")[0]);
      id = decodeURIComponent(parts[1] || "");
    } catch (error) {
      return null;
    }
    if (!zh) {
      if (name.indexOf("en/") !== 0) {
        return null;
      }
      name = name.slice(3);
    }
    if (name === "" || /\/$/.test(name)) {
      name += "index.html";
    }
    var note = Object.prototype.hasOwnProperty.call(data, name) ? data[name] : null;
    if (!note) {
      return null;
    }
    var text = (id && note[2] && note[2][id]) || (isHere(found) ? "" : note[1]);
    return text ? { title: note[0], text: text } : null;
  }

  function isHere(found) {
    return found.href.split("#")[0] === location.href.split("#")[0];
  }

  function load(then) {
    waiting = then;
    if (state > 1) {
      then();
    } else if (!state) {
      state = 1;
      var script = document.createElement("script");
      script.src = base + "previews/" + (zh ? "zh" : "en") + ".js";
      script.onload = script.onerror = function (event) {
        state = event.type === "load" ? 2 : 3;
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
      tip.className = "term-tip preview-tip";
      tip.id = "preview-tip";
      tip.setAttribute("role", "tooltip");
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

  function show(found, byFinger) {
    stay();
    load(function () {
      waiting = null;
      var said = entry(found);
      if (!said || (byFinger && held !== found)) {
        return;
      }
      hide();
      var made = box();
      made.textContent = "";
      made.appendChild(part("name", said.title));
      made.appendChild(part("text", said.text));
      made.hidden = false;
      shown = found;
      found.setAttribute("aria-describedby", "preview-tip");
      isHeld = isByFinger = byFinger;
      place(made, found);
      document.dispatchEvent(new CustomEvent("handbook:tip", { detail: made })); // see tips.js
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
      shown.removeAttribute("aria-describedby");
      shown = null;
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
      timer = window.setTimeout(hide, LEAVE_MS);
    }
  }

  article.addEventListener("mouseover", function (event) {
    var found = link(event.target);
    if (!found || held) {
      return;
    }
    stay();
    if (found !== shown) {
      timer = window.setTimeout(show, WAIT_MS, found, false);
    }
  });
  article.addEventListener("mouseout", function (event) {
    if (link(event.target) && !held) {
      leave();
    }
  });
  article.addEventListener("focusin", function (event) {
    var found = link(event.target);
    if (found && found !== shown && !held && event.target.matches(":focus-visible")) {
      show(found, false);
    }
  });
  article.addEventListener("focusout", function (event) {
    if (link(event.target) && !held) {
      hide();
    }
  });

  // A finger that rests shows the preview and opens nothing; resting again gives the phone's menu.
  article.addEventListener("touchstart", function (event) {
    held = link(event.target);
    isHeld = false;
    if (held && held !== shown) {
      stay();
      timer = window.setTimeout(show, HOLD_MS, held, true);
    }
  }, { passive: true });
  article.addEventListener("touchmove", function () {
    stay();
    held = null;
  }, { passive: true });
  article.addEventListener("touchend", function () {
    stay();
    window.setTimeout(function () { held = null; isHeld = false; }, 500);
  });
  article.addEventListener("contextmenu", function (event) {
    if (isHeld && link(event.target) === shown) {
      event.preventDefault();
    }
  });
  article.addEventListener("click", function (event) {
    if (isHeld && link(event.target) === shown) {
      event.preventDefault();
    }
    isHeld = false;
    held = null;
  });
  document.addEventListener("click", function (event) {
    if (shown && link(event.target) !== shown && !tip.contains(event.target)) {
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
