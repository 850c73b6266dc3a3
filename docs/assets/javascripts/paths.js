/**
 * Boxes on the page of learning paths for what has been read.
 *
 * Marks are kept in the browser's own storage, under one key, and sent to nobody; both languages
 * of a note share one. Without storage, marks last as long as the page and the page says so;
 * without this script the page is complete but for the boxes.
 */
(function () {
  "use strict";

  var KEY = "handbook.paths.done";
  var zh = /^zh/.test(document.documentElement.lang);
  var keeps = true; /* whether the browser keeps marks */
  var done = {};    /* note id: 1 */

  function all(root, selector) {
    return Array.prototype.slice.call(root.querySelectorAll(selector));
  }

  function make(tag, name, text) {
    var node = document.createElement(tag);
    node.className = name;
    node.textContent = text || "";
    return node;
  }

  function read() {
    var kept = null;
    try {
      kept = JSON.parse(window.localStorage.getItem(KEY) || "{}");
    } catch (denied) { /* no storage, or something else wrote there */ }
    if (kept && typeof kept === "object") { done = kept; }
  }

  function write() {
    try {
      window.localStorage.setItem(KEY, JSON.stringify(done));
    } catch (denied) {
      keeps = false;
    }
  }

  /** A box for a link, whose address leads from this folder to the same note in both languages. */
  function boxed(link) {
    var note = link.getAttribute("href").replace(/^(\.\.\/)+|\.html$/g, "");
    var box = make("input", "path__done");
    box.type = "checkbox";
    box.value = note;
    box.setAttribute("aria-label", (zh ? "读完了：" : "Read: ") + link.textContent);
    box.addEventListener("change", function () {
      read();
      if (box.checked) { done[note] = 1; } else { delete done[note]; }
      write();
      show();
    });
    link.parentNode.insertBefore(box, link);
  }

  function show() {
    paths.forEach(function (path) {
      var boxes = all(path, ".path__done");
      boxes.forEach(function (box) { box.checked = done[box.value] === 1; });
      var count = boxes.filter(function (box) { return box.checked; }).length;
      path.querySelector("output").textContent = zh
        ? "读完 " + count + "/" + boxes.length + " 篇" : count + " of " + boxes.length + " read";
    });
    document.querySelector(".path__notice").hidden = keeps;
    document.querySelector(".path__clear").hidden = !Object.keys(done).length;
  }

  var paths = all(document, ".path");
  if (!paths.length) { return; }
  paths.forEach(function (path) {
    all(path, "li > a:first-child").forEach(boxed);
    path.insertBefore(make("p", "path__sum"), path.firstChild).appendChild(make("output", ""));
  });
  var tools = make("p", "path__tools");
  var button = tools.appendChild(make("button", "path__clear", zh ? "清除全部标记" : "Clear all ticks"));
  button.type = "button";
  button.addEventListener("click", function () {
    if (window.confirm(zh ? "清除全部标记？" : "Clear all ticks?")) {
      done = {};
      write();
      show();
    }
  });
  tools.appendChild(make("span", "path__notice", zh
    ? "这个浏览器不保存标记：离开本页后它们就没有了。"
    : "This browser keeps no ticks: they are gone when you leave the page."
  )).setAttribute("role", "status");
  paths[0].parentNode.insertBefore(tools, paths[0]);
  read();
  write(); /* finds out whether the browser keeps anything */
  show();
  window.addEventListener("pageshow", function (event) {
    if (event.persisted) { read(); show(); }
  });
})();
