/*
 * Calculators in tiles answer before any script runs (hooks/pages/calc_tile.py). Their scripts are
 * loaded when a tile comes near the window or is touched, so that a first visit does not pay for them.
 */
(function () {
  "use strict";

  var own = document.querySelector("script[data-scripts]");
  var tiles = document.querySelectorAll(".calc-tile");
  if (!own || !tiles.length) { return; }
  var isLoaded = false;

  function load() {
    if (isLoaded) { return; }
    isLoaded = true;
    own.getAttribute("data-scripts").trim().split(/\s+/).forEach(function (address) {
      var script = document.createElement("script");
      script.async = false; // in this order
      script.src = address;
      document.head.appendChild(script);
    });
  }

  if (!window.IntersectionObserver) { load(); return; }
  var watch = new IntersectionObserver(function (seen) {
    if (seen.some(function (one) { return one.isIntersecting; })) {
      watch.disconnect();
      load();
    }
  }, { rootMargin: "150px" });
  Array.prototype.forEach.call(tiles, function (tile) {
    watch.observe(tile);
    tile.addEventListener("pointerdown", load);
  });
})();
