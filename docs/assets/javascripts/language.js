/**
 * Keeps the place when the reader changes language: the links of the language menu carry the
 * id of the section in view. Every heading has its twin's id as an alias on the other page, so
 * nothing has to be translated here. Without this script the links lead to the top of the page.
 */
(function () {
  "use strict";

  var links = document.querySelectorAll("a[data-keep-section]");
  var article = document.querySelector("article");
  if (!links.length || !article) {
    return;
  }

  var addresses = [];
  for (var i = 0; i < links.length; i++) {
    addresses.push(links[i].getAttribute("href").split("#")[0]);
  }
  var headings = article.querySelectorAll("h2[id], h3[id], h4[id], h5[id], h6[id]");

  /** Lower edge of the header that covers the top of the window, in pixels. */
  function covered() {
    var header = document.querySelector(".md-header");
    return header ? Math.max(0, header.getBoundingClientRect().bottom) : 0;
  }

  /** Whether the element the address names is on the screen (a footnote, an alias, a table). */
  function targetInView(top) {
    var id = location.hash.slice(1);
    var target = null;
    try {
      target = id && document.getElementById(decodeURIComponent(id));
    } catch (error) {
      return false; // not a valid percent-encoding
    }
    if (!target) {
      return false;
    }
    var y = target.getBoundingClientRect().top;
    return y >= top - 4 && y < window.innerHeight;
  }

  /** Fragment for the place in view: "" above the first section, else "#id". */
  function place() {
    var top = covered();
    if (targetInView(top)) {
      return location.hash;
    }
    // The heading counts from the upper quarter of the window on, where the eye reads.
    var line = top + (window.innerHeight - top) / 4;
    var id = "";
    for (var i = 0; i < headings.length; i++) {
      if (headings[i].getBoundingClientRect().top > line) {
        break;
      }
      id = headings[i].id;
    }
    return id && window.pageYOffset > 0 ? "#" + encodeURIComponent(id) : "";
  }

  /** What calculators keep in the address (?pcie.gen=gen4) goes along; a search word does not. */
  function entries() {
    var kept = location.search.slice(1).split("&").filter(function (part) {
      return /^[a-z0-9-]+\.[a-z_]+=/.test(part);
    });
    return kept.length ? "?" + kept.join("&") : "";
  }

  function update() {
    var fragment = entries() + place();
    for (var i = 0; i < links.length; i++) {
      links[i].setAttribute("href", addresses[i] + fragment);
    }
  }

  var pending = null;
  function later() {
    if (pending === null) {
      pending = window.setTimeout(function () {
        pending = null;
        update();
      }, 150);
    }
  }

  window.addEventListener("scroll", later, { passive: true });
  window.addEventListener("hashchange", later);
  window.addEventListener("load", update);
  for (var j = 0; j < links.length; j++) {
    // At the moment of use, whatever the timer says; mousedown is before "open in new tab".
    links[j].addEventListener("mousedown", update);
    links[j].addEventListener("focus", update);
    links[j].addEventListener("click", update);
  }

  // Escape closes the menu, which is open as long as something in it has the focus.
  var menu = document.querySelector(".md-select");
  if (menu) {
    menu.addEventListener("keydown", function (event) {
      if (event.key === "Escape" && document.activeElement) {
        document.activeElement.blur();
      }
    });
  }
  update();
})();
