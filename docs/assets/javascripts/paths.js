/**
 * What has been read of the learning paths: boxes on the page of paths and at the foot of notes.
 *
 * Marks are kept in the browser's own storage, under one key, and sent to nobody; both languages
 * of a note share one. Without storage, marks last as long as the page and the page says so;
 * without this script, pages are complete but for the boxes.
 */
(function () {
  "use strict";

  var KEY = "handbook.paths.done";
  var zh = /^zh/.test(document.documentElement.lang);
  var keeps = true; /* whether the browser keeps marks */
  var done = {};    /* note id: 1 */
  var boxes = [];

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

  function label(note, words) {
    var node = make("label", "path__done");
    var box = document.createElement("input");
    box.type = "checkbox";
    box.value = note;
    box.addEventListener("change", function () {
      read();
      if (box.checked) { done[note] = 1; } else { delete done[note]; }
      write();
      show();
    });
    boxes.push(box);
    node.appendChild(box);
    if (words.isHidden) { box.setAttribute("aria-label", words.text); }
    else { node.appendChild(make("span", "", words.text)); }
    return node;
  }

  /** How far a path has been read, in words and as a bar. */
  function progress(path) {
    var notes = all(path, "[data-done]");
    var count = 0;
    var left = 0;
    notes.forEach(function (note) {
      if (done[note.getAttribute("data-done")]) { count += 1; }
      else { left += Number(note.getAttribute("data-minutes")); }
    });
    var bar = path.querySelector("progress");
    bar.max = notes.length;
    bar.value = count;
    path.querySelector("output").textContent = zh
      ? "读完 " + count + "/" + notes.length + " 篇" + (left ? "，还剩约 " + left + " 分钟" : "")
      : count + " of " + notes.length + " read" + (left ? ", about " + left + " minutes left" : "");
  }

  function show() {
    boxes.forEach(function (box) { box.checked = done[box.value] === 1; });
    all(document, ".path").forEach(progress);
    all(document, ".path__notice").forEach(function (notice) { notice.hidden = keeps; });
    all(document, ".path__clear").forEach(function (button) {
      button.hidden = !Object.keys(done).length;
    });
  }

  /** Boxes in front of the notes of a path, and how far it has been read. */
  function enhance(path) {
    var sum = path.querySelector(".path__sum");
    var bar = make("progress", "");
    bar.setAttribute("aria-hidden", "true"); /* the words beside it say the same */
    sum.appendChild(bar);
    sum.appendChild(make("output", ""));
    all(path, "[data-done]").forEach(function (note) {
      var text = (zh ? "读完了：" : "Read: ") + note.textContent;
      note.insertBefore(
        label(note.getAttribute("data-done"), { text: text, isHidden: true }), note.firstChild
      );
    });
  }

  function addTools(first) {
    var tools = make("p", "path__tools");
    var button = make("button", "path__clear", zh ? "清除全部标记" : "Clear all ticks");
    button.type = "button";
    button.addEventListener("click", function () {
      if (!window.confirm(zh ? "清除全部标记？" : "Clear all ticks?")) { return; }
      done = {};
      write();
      show();
    });
    var notice = make("span", "path__notice", zh
      ? "这个浏览器不保存标记：离开本页后它们就没有了。"
      : "This browser keeps no ticks: they are gone when you leave the page.");
    notice.setAttribute("role", "status");
    tools.appendChild(button);
    tools.appendChild(notice);
    first.parentNode.insertBefore(tools, first);
  }

  read();
  var paths = all(document, ".path");
  if (paths.length) {
    paths.forEach(enhance);
    addTools(document.getElementById(paths[0].getAttribute("data-path")) || paths[0]);
  }
  all(document, ".order[data-done]").forEach(function (foot) {
    var words = { text: zh ? "读完了" : "I have read this note" };
    foot.appendChild(label(foot.getAttribute("data-done"), words));
    foot.appendChild(make("small", "path__notice", zh ? "（不保存）" : "(not kept)"));
  });
  write(); /* finds out whether the browser keeps anything */
  show();

  function again() { read(); show(); }
  window.addEventListener("storage", function (event) {
    if (event.key === KEY || event.key === null) { done = {}; again(); }
  });
  window.addEventListener("pageshow", function (event) {
    if (event.persisted) { done = keeps ? {} : done; again(); }
  });
})();
