/**
 * Draws the formulas of a page with KaTeX. Loaded only on pages that have one.
 *
 * The Markdown extension writes <span class="arithmatex">\(…\)</span> and
 * <div class="arithmatex">\[…\]</div>; a build writes them as a line of text and keeps the TeX in
 * data-tex (hooks/pages/page.py), so they are readable without this script.
 */
(function () {
  "use strict";

  if (!window.katex) {
    return;
  }
  var formulas = document.querySelectorAll(".arithmatex");
  for (var i = 0; i < formulas.length; i++) {
    var element = formulas[i];
    var match = /^\s*\\([(\[])([\s\S]*)\\[)\]]\s*$/.exec(element.getAttribute("data-tex") || element.textContent);
    if (match) {
      var display = match[1] === "[";
      // Draw into a detached element first: a formula KaTeX rejects stays readable TeX.
      var drawn = document.createElement(display ? "div" : "span");
      try {
        // Two formulas in one may stand below each other.
        window.katex.render(match[2].replace(/, *\\qquad/g, ",\\allowbreak\\qquad"), drawn, { displayMode: display, throwOnError: true });
      } catch (error) {
        element.className += " arithmatex--error";
        element.setAttribute("title", String(error.message || error));
        continue;
      }
      element.textContent = "";
      while (drawn.firstChild) {
        element.appendChild(drawn.firstChild);
      }
      element.className += " arithmatex--drawn";
      if (display) {
        // Wide formulas scroll; a scrolling region must be reachable by keyboard.
        element.setAttribute("tabindex", "0");
      }
    }
  }
})();
