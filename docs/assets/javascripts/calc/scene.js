/**
 * Drawings of calculators: a scene of plain records becomes SVG text, in the page and at build.
 *
 * A scene is {width, height, alt {zh, en}, items, fluid}; fluid drawings shrink with the page, the
 * others scroll. An item is
 *   {kind: "box", x, y, w, h, tone, text, title}, {kind: "line", points, tone}, or
 *   {kind: "text", x, y, text, anchor ("start", "middle", "end"), tone}.
 * Tones are the classes calc-tone-… of calc.css, which set colours for light and dark.
 */
(function (root) {
  "use strict";

  var calc = root.calc;

  function escape(text) {
    return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
  }

  function at(value) {
    return String(Math.round(value * 100) / 100);
  }

  function box(item, language) {
    var label = item.text && item.w >= 6.8 * String(calc.say(item.text, language)).replace(/[^\0-\xff]/g, "ww").length
      ? '<text x="' + at(item.x + item.w / 2) + '" y="' + at(item.y + item.h / 2 + 4) +
        '" text-anchor="middle">' + escape(calc.say(item.text, language)) + "</text>"
      : "";
    var title = item.title ? "<title>" + escape(calc.say(item.title, language)) + "</title>" : "";
    return '<g class="calc-box calc-tone-' + item.tone + '"><rect x="' + at(item.x) + '" y="' + at(item.y) +
      '" width="' + at(item.w) + '" height="' + at(item.h) + '">' + title + "</rect>" + label + "</g>";
  }

  function line(item) {
    var points = [];
    for (var i = 0; i < item.points.length; i++) {
      points.push(at(item.points[i][0]) + "," + at(item.points[i][1]));
    }
    return '<polyline class="calc-line calc-tone-' + (item.tone || "ink") + '" points="' + points.join(" ") + '"/>';
  }

  function text(item, language) {
    return '<text class="calc-text calc-tone-' + (item.tone || "ink") + '" x="' + at(item.x) + '" y="' + at(item.y) +
      '" text-anchor="' + (item.anchor || "start") + '">' + escape(calc.say(item.text, language)) + "</text>";
  }

  /** What the tones mean, in lines as wide as the drawing. Returns where the last line stands. */
  calc.legend = function (items, entries, width, step, y) {
    var across = Math.floor(width / step);
    for (var k = 0; k < entries.length; k++) {
      var x = 4 + (k % across) * step;
      y += k && k % across === 0 ? 20 : 0;
      items.push({ kind: "box", x: x, y: y - 11, w: 14, h: 14, tone: entries[k][0] });
      items.push({ kind: "text", x: x + 20, y: y, text: entries[k][1], tone: "ink" });
    }
    return y;
  };

  /**
   * The scene of a schedule: a row for each stage or engine, a box for each piece of work.
   *
   * plan: {rows [label], left (room for labels), width (of the time axis; up to 350 a phone shows whole letters), end, pieces [{row,
   * start, end, tone, text, title}], legend [[tone, label]], step (between legends), alt}.
   */
  calc.timeline = function (plan) {
    var scale = plan.width / plan.end;
    var items = [];
    for (var r = 0; r < plan.rows.length; r++) {
      items.push({ kind: "text", x: 4, y: 24 + r * 26, text: plan.rows[r], tone: "muted" });
      items.push({ kind: "box", x: plan.left, y: 8 + r * 26, w: plan.width, h: 22, tone: "idle" });
    }
    for (var i = 0; i < plan.pieces.length; i++) {
      var one = plan.pieces[i];
      items.push({
        kind: "box", x: plan.left + one.start * scale, y: 8 + one.row * 26, w: (one.end - one.start) * scale, h: 22,
        tone: one.tone, text: one.text, title: one.title
      });
    }
    var width = plan.left + 4 + plan.width;
    var y = calc.legend(items, plan.legend, width, plan.step, 8 + plan.rows.length * 26 + 18);
    return { width: width, height: y + 10, items: items, alt: plan.alt };
  };

  /** SVG of a scene; what a reader cannot see is in its label. */
  calc.drawing = function (scene, language) {
    var parts = [];
    for (var i = 0; i < scene.items.length; i++) {
      var item = scene.items[i];
      parts.push(item.kind === "box" ? box(item, language) : item.kind === "line" ? line(item) : text(item, language));
    }
    return '<svg xmlns="http://www.w3.org/2000/svg" class="calc-drawing' + (scene.fluid ? " calc-drawing--fluid" : "") + '" role="img" viewBox="0 0 ' +
      at(scene.width) + " " + at(scene.height) + '" width="' + at(scene.width) + '" height="' + at(scene.height) +
      '" aria-label="' + escape(calc.say(scene.alt, language)) + '">' + parts.join("") + "</svg>";
  };
})(this);
