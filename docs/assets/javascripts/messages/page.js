/*
 * The box for a log: paste it, or choose a file, and read what it says. All of it happens on the
 * reader's machine; nothing is stored or sent, and a page from a folder does the same.
 */
(function (messages) {
  "use strict";

  var place = document.querySelector(".message-log");
  var data = window.handbookMessages;
  if (!place || !data) { return; }

  var zh = /^zh/.test(document.documentElement.lang);
  var root = "../";   // of the language's pages
  var text = zh ? {
    label: "日志，或其中一行", privacy: "只在这台机器上读，不保存，不发送。", read: "读日志", file: "打开文件", clear: "清空",
    example: "看一个例子", none: "这里没有认得的消息。", first: "最早的失败", byTime: "按时间戳", byLine: "没有时间戳，按行的次序",
    follows: "这一行是后果，不是原因", notice: "提示，不是失败的那一行", doFirst: "先做：", causes: "可能的原因", more: "整条", why: "为什么",
    line: "第 {} 行", times: "{} 次", ranks: "rank {}", to: "–", told: "日志还说明", unknown: "看上去是错误、但不认得的行",
    search: "搜索这一行", done: "{} 行，认得 {} 种消息。", misspelt: "不是 NCCL 的变量，是不是想写 {}？", strange: "这里的变量表里没有它",
    matrix: "日志里有 nvidia-smi topo -m 的表：", decoder: "把它贴进解码器",
    version: "NCCL 版本", network: "网络", device: "网络设备", transport: "通道经由", algorithm: "算法与协议", driver: "驱动",
    cuda: "驱动支持的 CUDA", variables: "设过的变量", tell: "有一行这里不认得，或说得不对？提一个 issue"
  } : {
    label: "A log, or a line of one", privacy: "It is read on this machine only. Nothing is stored or sent.",
    read: "Read the log", file: "Open a file", clear: "Clear", example: "Show an example",
    none: "No message here is known.", first: "First failure", byTime: "by time stamp",
    byLine: "there are no time stamps, so by order of lines", follows: "a consequence, not the cause",
    notice: "a notice, not the line that failed", doFirst: "Do first: ", causes: "Likely causes", more: "all of it", why: "why", line: "line {}",
    times: "{} times", ranks: "rank {}", to: " to ", told: "What the log also tells",
    unknown: "Lines that look like errors and are not known", search: "search for this line",
    done: "{} lines, {} kinds of known messages.", misspelt: "not a variable of NCCL; did you mean {}?",
    strange: "not in our table of variables", matrix: "The log holds the table of nvidia-smi topo -m: ",
    decoder: "paste it into the decoder", version: "NCCL version", network: "network", device: "network devices",
    transport: "channels via", algorithm: "algorithm and protocol", driver: "driver", cuda: "CUDA of the driver",
    variables: "variables that were set", tell: "Is a line missing here, or explained wrongly? Tell us in an issue"
  };

  function put(parent, tag, content, attributes) {
    var element = parent.appendChild(document.createElement(tag));
    if (content !== undefined) { element.textContent = content; }
    Object.keys(attributes || {}).forEach(function (name) { element.setAttribute(name, attributes[name]); });
    return element;
  }

  /* The texts of our own data, which hold marks of code and no more. */
  function said(parent, tag, html, before) {
    put(parent, tag).innerHTML = (before ? "<b>" + before + "</b>" : "") + html;
  }

  function fill(words, value) { return words.replace("{}", value); }

  function showHit(list, hit) {
    var row = hit.row, item = put(list, "li", undefined, { "class": "message message--" + row.role });
    var ranks = messages.ranges(hit.ranks, text.to), about = [row.product, fill(text.line, hit.line)];
    if (hit.count > 1) { about.push(fill(text.times, hit.count)); }
    if (ranks) { about.push(fill(text.ranks, ranks)); }
    if (row.role !== "failure") { about.push(text[row.role]); }
    put(put(item, "p"), "code", hit.text.slice(0, 400));
    put(item, "p", about.join(" · "), { "class": "message__more" });
    said(item, "p", row.means);
    if (row.first) { said(item, "p", row.first, text.doFirst); }
    if (row.causes.length < 2) {
      said(item, "p", row.causes[0] || "");
    } else {
      var causes = put(item, "details");
      put(causes, "summary", text.causes);
      row.causes.forEach(function (one) { said(this, "li", one); }, put(causes, "ol"));
    }
    var links = put(item, "p", undefined, { "class": "message__more" });
    put(links, "a", text.why, { href: root + row.note });
    put(links, "span", " · ");
    put(links, "a", text.more, { href: root + row.page });
  }

  function showTold(told) {
    var names = Object.keys(told);
    if (!names.length) { return; }
    put(result, "h3", text.told);
    var list = put(result, "ul");
    names.forEach(function (name) {
      var item = put(list, "li", text[name] + (zh ? "：" : ": ")), values = told[name];
      Object.keys(values).forEach(function (value, at) {
        var one = values[value], isVariable = name === "variables";
        put(item, "code", isVariable ? value + "=" + one.value : value);
        if (isVariable && one.meant !== value) {
          put(item, "b", " " + (one.meant ? fill(text.misspelt, one.meant) : text.strange));
        } else if (!isVariable && one > 1) {
          put(item, "span", " × " + one);
        }
        if (at + 1 < Object.keys(values).length) { put(item, "span", ", "); }
      });
    });
  }

  function showUnknown(lines) {
    if (!lines.length) { return; }
    put(result, "h3", text.unknown);
    lines.forEach(function (one) {
      var item = put(this, "li"), query = encodeURIComponent(one.text.replace(/[^\w.:' -]+/g, " ").slice(0, 120));
      put(item, "code", one.text.slice(0, 300));
      put(item, "span", " " + fill(text.line, one.line) + (one.count > 1 ? " × " + one.count : "") + " · ");
      put(item, "a", text.search, { href: root + "index.html?q=" + query });
    }, put(result, "ul"));
  }

  function show() {
    var log = latest = messages.read(box.value, table, data.variables);
    messages.tell(log.hits.map(function (hit) { return hit.row; }), function () {
      if (log === latest) { draw(log); }
    });
  }

  function draw(log) {
    result.textContent = "";
    status.textContent = zh || log.hits.length
      ? fill(fill(text.done, log.lines), log.hits.length) : text.none;
    if (log.first) {
      var why = log.when ? text.byTime + " " + log.when.text : text.byLine;
      put(result, "h3", text.first + (zh ? "（" : " (") + why + (zh ? "）" : ")"));
      showHit(put(result, "ul"), log.first);
    }
    var others = log.hits.filter(function (one) { return one !== log.first; });
    if (others.length) { put(result, "hr"); }
    others.forEach(function (hit) { showHit(this, hit); }, put(result, "ul"));
    showTold(log.told);
    if (log.matrix) {
      put(put(result, "p", text.matrix), "a", text.decoder, { href: root + "link/topo/server-topologies.html" });
    }
    showUnknown(log.unknown);
    var repository = document.querySelector("script[data-repository]").getAttribute("data-repository");
    if (repository) { put(put(result, "p"), "a", text.tell, { href: repository + "/issues/new?template=message.yml" }); }
  }

  function button(label, action, isFirst) {
    put(buttons, "button", label, { type: "button", "class": "md-button" + (isFirst ? " md-button--primary" : "") })
      .addEventListener("click", action);
  }

  var latest = null, table = messages.table(data.products);
  /* A page that was opened is there without the network: all of it. */
  if (navigator.serviceWorker && navigator.serviceWorker.controller) { messages.tell(table.rows, function () {}); }
  place.textContent = "";
  put(place, "label", text.label, { "for": "message-log-text" });
  var box = put(place, "textarea", undefined, {
    id: "message-log-text", rows: "10", spellcheck: "false", autocomplete: "off", wrap: "off", "aria-describedby": "message-log-note"
  });
  put(place, "p", text.privacy, { id: "message-log-note" });
  var buttons = put(place, "p");
  button(text.read, show, true);
  button(text.file, function () { file.click(); });
  button(text.example, function () { box.value = example.textContent; show(); });
  button(text.clear, function () { latest = null; box.value = result.textContent = status.textContent = ""; box.focus(); });
  var file = put(place, "input", undefined, { type: "file", hidden: "", "aria-label": text.file });
  file.addEventListener("change", function () {
    var reader = new FileReader();
    reader.onload = function () { box.value = reader.result; show(); };
    if (file.files[0]) { reader.readAsText(file.files[0]); }
    file.value = "";
  });
  var status = put(place, "p", undefined, { role: "status", "aria-live": "polite" });
  var result = put(place, "div", undefined, { "class": "message-log__result" });
  var example = document.querySelector(".message-log__example code");
  box.addEventListener("paste", function () { window.setTimeout(show); });

  /* Pasted on the home page (home.js), and forgotten once it is here. */
  if (/^#log(=|$)/.test(window.location.hash)) {
    try {
      box.value = decodeURIComponent(window.location.hash.slice(5)) || window.sessionStorage.getItem("handbook.log") || "";
      window.sessionStorage.removeItem("handbook.log");
    } catch (denied) { /* the box stays as it is */ }
    window.history.replaceState(null, "", window.location.pathname);
    show();
    place.scrollIntoView();
  }
})(this.handbookLog = this.handbookLog || {});
