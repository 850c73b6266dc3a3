/*
 * One box beside the text at a time. previews.js, terms.js and Material (footnotes, titles) each
 * show boxes of their own, by pointer and by focus: what is shown last puts the others away, and
 * Escape puts away Material's, which Material itself leaves. Each says `handbook:tip` when it
 * shows; Material's is seen when it comes into the page. A finger's first tap on the mark of a
 * footnote shows its card, as it does with terms; the second goes to the footnote.
 */
(function () {
  "use strict";

  var CARD = ".md-tooltip2";
  var HOST = "[aria-controls^='__tooltip2_'], [aria-describedby^='__tooltip2_']";
  var touched = null; // the mark that a finger was put on, until its click
  var tapped = null; // the mark whose card a tap has shown

  /** Hides Material's boxes but for one; Material takes a box away half a second after the pointer. */
  function dismiss(but) {
    Array.prototype.forEach.call(document.querySelectorAll(CARD), function (card) {
      if (card !== but) {
        card.hidden = true;
      }
    });
  }

  /** Shows the box of a host again: Material keeps it for who comes back before it is taken away. */
  function revive(node) {
    var host = node.closest && node.closest(HOST);
    var card = host && document.getElementById(
      host.getAttribute("aria-controls") || host.getAttribute("aria-describedby")
    );
    if (card && card.hidden) {
      card.hidden = false;
      document.dispatchEvent(new CustomEvent("handbook:tip", { detail: card }));
    }
  }

  ["mouseover", "focusin"].forEach(function (name) {
    document.addEventListener(name, function (event) {
      if (!event.relatedTarget || event.target.closest(HOST) !== event.relatedTarget.closest(HOST)) {
        revive(event.target);
      }
    });
  });
  document.addEventListener("handbook:tip", function (event) {
    dismiss(event.detail);
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") {
      dismiss(null);
    }
  });
  document.addEventListener("touchstart", function (event) {
    touched = event.target.closest("a.footnote-ref");
  }, { passive: true });
  document.addEventListener("click", function (event) {
    var mark = event.target.closest("a.footnote-ref");
    var isFirst = mark && mark === touched && mark !== tapped;
    tapped = isFirst ? mark : null;
    touched = null;
    if (isFirst) {
      event.preventDefault();
    } else if (mark) {
      dismiss(null);
    }
  });
  new MutationObserver(function (changes) {
    changes.forEach(function (change) {
      Array.prototype.forEach.call(change.addedNodes, function (node) {
        if (node.nodeType === 1 && node.matches(CARD)) {
          document.dispatchEvent(new CustomEvent("handbook:tip", { detail: node }));
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
