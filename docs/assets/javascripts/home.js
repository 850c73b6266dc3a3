/*
 * The search box of the home page: what is typed there goes on in Material's search, which opens
 * at the first letter. Without this script the form leads to the page with ?q=, which does the same.
 */
(function () {
  "use strict";

  var form = document.querySelector(".home-search");
  var toggle = document.querySelector("[data-md-toggle=search]");
  var query = document.querySelector("[data-md-component=search-query]");
  if (!form || !toggle || !query) { return; }
  var field = form.querySelector("input");

  function ask(words) {
    if (!toggle.checked) { toggle.click(); }
    query.value = words;
    query.focus();
    query.setSelectionRange(words.length, words.length);
    // Material listens to keyup; not bubbling, so that nothing else takes it for a key.
    query.dispatchEvent(new Event("keyup"));
    query.dispatchEvent(new Event("input"));
    field.value = "";
  }

  function typed(event) {
    // Pinyin is finished where it was begun: moving it would end the input method's window.
    if (!event.isComposing && field.value.trim()) { ask(field.value); }
  }

  field.addEventListener("input", typed);
  field.addEventListener("compositionend", function () {
    window.setTimeout(function () { typed({}); });
  });
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    ask(field.value);
  });

  /* A log goes to its page behind the #, which is sent to nobody; a very long one by the tab's storage. */
  var log = document.querySelector(".home-log"), box = log.querySelector("textarea");
  function read(event) {
    var told = box.value, end = "";
    if (event) { event.preventDefault(); }
    if (!told.trim()) { box.focus(); return; }
    try {
      if (told.length > 100000) { window.sessionStorage.setItem("handbook.log", told); end = "#log"; }
    } catch (denied) { /* then behind the #, however long */ }
    window.location.href = log.getAttribute("action") + (end || "#log=" + encodeURIComponent(told));
  }
  log.addEventListener("submit", read);
  box.addEventListener("paste", function () { window.setTimeout(read); });

  Array.prototype.forEach.call(document.querySelectorAll(".home-try a"), function (link) {
    link.addEventListener("click", function (event) {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) { return; }
      event.preventDefault();
      ask(link.textContent);
    });
  });
})();
