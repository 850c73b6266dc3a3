/*
 * Where what is typed into the search looks like a message of a program, its entry stands above the
 * results, with cause and first step. search-box.js loads this when the search is first opened; the
 * messages come with the first words of the query.
 */
(function (messages) {
  "use strict";

  var own = document.querySelector("script[data-messages]");
  var query = document.querySelector("[data-md-component=search-query]");
  var place = document.querySelector(".hb-search");
  var configured = document.getElementById("__config");
  if (!own || !query || !place || !configured) { return; }

  var MOST = 2;
  var zh = /^zh/.test(document.documentElement.lang);
  var root = new URL(JSON.parse(configured.textContent).base + "/", location.href).href + (zh ? "" : "en/");
  var shown = null, asked = null, table = null, isLoading = false, waiting = 0;

  function load() {
    isLoading = true;
    own.getAttribute("data-messages").split(" ").forEach(function (address) {
      var script = document.createElement("script");
      script.src = address;
      script.async = false;   // one after the other
      script.onload = update;
      document.head.appendChild(script);
    });
  }

  function draw(row) {
    var item = shown.appendChild(document.createElement("a"));
    item.href = root + row.page;
    item.innerHTML = "<code></code><span></span><span></span>";
    item.children[0].textContent = row.lines[0];
    item.children[1].innerHTML = row.means;
    if (row.first) { item.children[2].innerHTML = "<b>" + (zh ? "先做：" : "Do first: ") + "</b>" + row.first; }
  }

  function update() {
    var words = query.value.replace(/\s+/g, " ").trim();
    if (!isLoading && /[A-Za-z]{3}/.test(words)) { load(); }
    if (!table && messages.table && window.handbookMessages) { table = messages.table(window.handbookMessages.products); }
    if (!table || words === asked) { return; }
    asked = words;
    if (shown) { shown.remove(); shown = null; }
    var rows = table.rank(words).slice(0, MOST).map(function (one) { return one.row; });
    if (!rows.length) { return; }
    messages.tell(rows, function () {
      if (asked !== words || shown) { return; }
      shown = place.appendChild(document.createElement("div"));
      shown.className = "hb-search__messages";
      rows.forEach(draw);
    });
  }

  ["keyup", "input"].forEach(function (name) {
    query.addEventListener(name, function () {
      window.clearTimeout(waiting);
      waiting = window.setTimeout(update, 120);
    });
  });
  update();
})(this.handbookLog = this.handbookLog || {});
