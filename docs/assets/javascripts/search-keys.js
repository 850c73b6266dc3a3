/*
 * The keyboard in the search box: text that arrives without a key press starts a search too, Tab
 * and arrows go through what search-box.js shows and on to the results, a result keeps the focus
 * when the list is replaced, and a screen reader hears how many results there are.
 */
(function () {
  "use strict";

  var toggle = document.querySelector("[data-md-toggle=search]");
  var query = document.querySelector("[data-md-component=search-query]");
  var result = document.querySelector("[data-md-component=search-result]");
  if (!toggle || !query || !result) { return; }

  var meta = result.firstElementChild, list = result.lastElementChild;
  var live = document.createElement("div");
  var text = /^zh/.test(document.documentElement.lang) ? {
    none: "没有结果", one: "1 个页面有结果", many: "# 个页面有结果", weak: "，都不完全符合"
  } : {
    none: "No results", one: "Results on 1 page", many: "Results on # pages", weak: ", none of them an exact match"
  };
  live.className = "hb-search__live";
  live.setAttribute("role", "status");
  live.setAttribute("aria-live", "polite");
  result.parentNode.appendChild(live);

  /* Pasted with the mouse, dropped, dictated, or put in by an input method: Material listens to keyup only. */
  function typed(event) {
    // Half-typed pinyin is not a query; compositionend follows it. Does not bubble: it is no key press.
    if (!event.isComposing) { query.dispatchEvent(new Event("keyup")); }
  }
  query.addEventListener("input", typed);
  query.addEventListener("compositionend", typed);

  /*
   * Said after the reader pauses, not at every letter, and not of an answer from titles or from one
   * language, which the worker marks: a fuller one follows, unless a file could not be loaded.
   */
  var saying = null, PAUSE = 700, PATIENCE = 8000;
  function announce() {
    // What changed may be the answer to an empty box, though something has been typed since.
    var isAnswer = query.value.trim() !== "";
    window.clearTimeout(saying);
    saying = window.setTimeout(function () {
      if (!toggle.checked || query.value.trim() === "") { live.textContent = ""; return; }
      if (!isAnswer) { return; }
      // Material adds items while the list is scrolled, so the list is no measure of all there are.
      var said = meta.textContent.match(/[0-9][0-9.,k]*/), shown = list.children.length;
      var words = shown === 0 ? text.none : shown === 1 ? text.one
        : text.many.replace("#", said ? said[0] : String(shown));
      // The first page stands for all: weak results come after the others.
      live.textContent = words +
        (list.firstElementChild && list.firstElementChild.querySelector(".search-weak") ? text.weak : "");
    }, list.querySelector(".search-early") ? PATIENCE : PAUSE);
  }

  var held = null;        /* address of the result that has the focus */
  var opener = null;      /* what had the focus before the search was opened */

  /* Without the words to mark, which the next answer may have more of. */
  function addressOf(link) {
    return link.href.replace(/\?[^#]*/, "");
  }

  /* The focus stays on its result where the new list has it, else it goes to the box. */
  function keepFocus() {
    var active = document.activeElement, link, more;
    if (!held || !toggle.checked || (active && active !== document.body)) { return; }
    link = Array.prototype.filter.call(result.querySelectorAll(".md-search-result__link"), function (one) {
      return addressOf(one) === held;
    })[0];
    more = link && link.closest("details");
    if (more) { more.open = true; }
    (link || query).focus(link ? { preventScroll: true } : undefined);
  }

  document.addEventListener("focusin", function (event) {
    var link = result.contains(event.target) && event.target.closest(".md-search-result__link");
    held = link ? addressOf(link) : null;
    if (!toggle.checked && event.target !== query) { opener = event.target; }
  });
  document.addEventListener("pointerdown", function (event) {
    if (!result.contains(event.target)) { held = null; }
  }, true);
  toggle.addEventListener("change", function () {
    if (!toggle.checked) { live.textContent = ""; held = null; }
  });
  new MutationObserver(function () {
    keepFocus();
    announce();
  }).observe(result, { childList: true, characterData: true, subtree: true });

  function shownIn(element, selector) {
    return element ? Array.prototype.filter.call(element.querySelectorAll(selector), function (one) {
      return one.offsetParent !== null;
    }) : [];
  }

  function go(element, event) {
    if (!element) { return; }
    element.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  function key(event) {
    var active = document.activeElement, name = event.key, box = document.querySelector(".hb-search");
    var inBox = box && box.contains(active), inResult = result.contains(active);
    if (!toggle.checked || event.isComposing || (!inBox && !inResult && active !== query)) { return; }
    // Material takes any key it does not know for a letter and leads back to the box, which would
    // leave no way to press Shift and Tab.
    if (/^(?:Shift|Alt|AltGraph|CapsLock)$/.test(name) && active !== query) { event.stopPropagation(); }
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    var items = shownIn(box, "button, a[href]"), at = items.indexOf(active);
    var chips = shownIn(box, ".hb-search__chips button").length;
    var first = shownIn(result, ".md-search-result__link")[0];
    if (name === "Escape") {
      if (opener && document.contains(opener)) {
        // After Material has closed the search.
        window.setTimeout(function () { opener.focus(); });
      }
    } else if (name === "Tab") {
      // Material closes the search on Tab; here it leads through what can be chosen first.
      if (event.shiftKey) {
        if (at > 0) { go(items[at - 1], event); } else if (at === 0 || inResult) { go(query, event); }
      } else if (active === query || inBox) {
        go(items[at + 1] || first, event);
      }
    } else if (inBox) {
      if (name === " " || name === "Enter") {
        event.stopPropagation();   // presses the button; Material would lead back to the box
      } else if (name === "ArrowRight" || name === "ArrowLeft") {
        go(items[at + (name === "ArrowRight" ? 1 : -1)], event);
        event.stopPropagation();
      } else if (name === "ArrowDown") {
        go(at < chips ? items[chips] || first : items[at + 1] || first, event);
        event.stopPropagation();
      } else if (name === "ArrowUp") {
        go(at <= chips ? query : items[at - 1], event);
      }
    } else if (active === query && name === "ArrowDown" && !first && items.length > chips) {
      go(items[chips], event);
    }
  }

  /* Ctrl+K and, on a Mac, Command+K; not from a field that the reader types into. */
  document.addEventListener("keydown", function (event) {
    var active = document.activeElement;
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "k") { return; }
    if (active !== query && (/^(?:input|textarea|select)$/i.test(active.tagName) || active.isContentEditable)) { return; }
    event.preventDefault();
    query.focus();
    query.select();
  });
  query.placeholder += /Mac|iP(?:hone|ad)/.test(navigator.platform) ? " (\u2318K)" : " (Ctrl+K)";
  document.addEventListener("keydown", key, true);
})();
