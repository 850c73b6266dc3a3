/*
 * Reading a hosted handbook with the network off: starts the service worker (sw.js, made by
 * hooks/site/offline.py), says in the footer what is available offline and in which version, and
 * opens a dialog to store the whole handbook or to remove it again. Does nothing on file:// and
 * in browsers without service workers, and the page needs none of it.
 */
(function () {
  "use strict";

  var own = document.querySelector("script[data-offline-worker]");
  var footer = document.querySelector(".md-footer-meta__inner");
  if (!own || !footer || !/^https?:$/.test(location.protocol) ||
      !("serviceWorker" in navigator) || !window.caches || !window.Promise) {
    return;
  }

  var zh = /^zh/.test(document.documentElement.lang);
  var OFF = "handbook.offline.off";
  var EARLY = "handbook.offline.early";
  var LATER = "handbook.offline.later";
  var AT_A_TIME = 12;
  var HOUR = 3600000;

  var text = zh ? {
    title: "离线使用",
    none: "还没有存在本机",
    preparing: "正在准备……",
    pages: "看过的页面可离线使用，版本 {version}",
    whole: "可离线使用，版本 {version}",
    whole_long: "整本手册可离线使用，版本 {version}。",
    pages_long: "看过的页面、它们的另一语言版本可离线使用；用过一次的搜索也可以。版本 {version}。",
    none_long: "本机没有离线副本。",
    some: "已存 {stored} / {total} 个文件（{storedSize} / {size}）",
    store: "存下整本手册（{size}）",
    more: "存下其余 {missing} 个文件",
    stop: "停止",
    start: "开启离线使用",
    remove: "删除离线副本",
    close: "关闭",
    started: "开始存储整本手册。",
    done: "整本手册已存好。",
    stopped: "已停止，存好的部分仍可使用。",
    full: "浏览器给本站的空间用完了，已存好的部分仍可使用。",
    failed: "有 {failed} 个文件没有取到，联网后再试。",
    removed: "离线副本已删除。",
    broken: "现在不能离线使用：{error}",
    incomplete: "没有全部取到，下次打开页面时再试",
    refused: "浏览器没有允许，或文件没有取到",
    explain: "离线副本只存在这个浏览器里，不发送任何内容。有新版本时会提示刷新。",
    update: "新版本可用。",
    reload: "刷新",
    later: "以后", notice: "手册更新",
    progress: "存储进度"
  } : {
    title: "Offline use",
    none: "nothing stored yet",
    preparing: "preparing …",
    pages: "pages you opened are available offline, version {version}",
    whole: "available offline, version {version}",
    whole_long: "The whole handbook is available offline, version {version}.",
    pages_long: "Pages you opened, their other language and, once used, the search are available offline," +
      " version {version}.",
    none_long: "There is no offline copy on this device.",
    some: "{stored} of {total} files stored ({storedSize} of {size})",
    store: "Store the whole handbook ({size})",
    more: "Store the other {missing} files",
    stop: "Stop",
    start: "Turn offline use on",
    remove: "Remove the offline copy",
    close: "Close",
    started: "Storing the whole handbook.",
    done: "The whole handbook is stored.",
    stopped: "Stopped; what is stored stays usable.",
    full: "The browser's space for this site is used up; what is stored stays usable.",
    failed: "{failed} files could not be fetched; try again when online.",
    removed: "The offline copy is removed.",
    broken: "Offline use does not work here: {error}",
    incomplete: "not everything could be fetched; the next page you open tries again",
    refused: "the browser did not allow it, or files could not be fetched",
    explain: "The offline copy is kept in this browser only; nothing is sent anywhere." +
      " You are told when there is a new version.",
    update: "A new version is available.",
    reload: "Reload",
    later: "Later", notice: "Handbook update",
    progress: "Progress of storing"
  };

  var scope = new URL("./", new URL(own.getAttribute("data-offline-worker"), location.href)).href;
  var workbox = null;      /* workbox-window's Workbox, once the worker is registered */
  var registration = null; /* the browser's ServiceWorkerRegistration */
  var known = null;        /* the worker's last STATUS */
  var error = "";
  var running = false;     /* whether files are being stored at the reader's request */
  var part = {};           /* elements of the dialog */

  /* ---- Small things ---------------------------------------------------------------- */

  function remember(key, value) {
    try {
      if (value === undefined) { return window.localStorage.getItem(key); }
      if (value === null) { window.localStorage.removeItem(key); }
      else { window.localStorage.setItem(key, value); }
    } catch (denied) { /* the browser keeps nothing for this site: ask again next time */ }
    return null;
  }

  function size(bytes) {
    return bytes < 1e5 ? Math.ceil(bytes / 1e3) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
  }

  function say(key, values) {
    return text[key].replace(/\{(\w+)\}/g, function (whole, name) {
      var value = values && values[name];
      return value === undefined ? "" : /[sS]ize$/.test(name) ? size(value) : String(value);
    });
  }

  function make(tag, attributes, content) {
    var element = document.createElement(tag);
    for (var name in attributes) {
      if (Object.prototype.hasOwnProperty.call(attributes, name)) {
        element.setAttribute(name, attributes[name]);
      }
    }
    if (content) { element.textContent = content; }
    return element;
  }

  function button(name, action) {
    var element = make("button", { type: "button", "class": "md-button hb-offline__" + name });
    element.addEventListener("click", action);
    return element;
  }

  /* ---- Talking to the worker ------------------------------------------------------- */

  /* The worker in charge. Not `navigator.serviceWorker.ready`, which may be another site's at a
     folder above, and not Workbox's getSW(), which may be the one that waits. */
  function active() {
    return new Promise(function (resolve, reject) {
      var coming = registration.installing || registration.waiting;
      if (registration.active) { resolve(registration.active); return; }
      coming.addEventListener("statechange", function () {
        if (registration.active) { resolve(registration.active); }
        else if (coming.state === "redundant") { reject(new Error(text.incomplete)); }
      });
    });
  }

  function ask(message) {
    return active().then(function (worker) {
      return new Promise(function (resolve, reject) {
        var channel = new MessageChannel();
        channel.port1.onmessage = function (event) {
          var answer = event.data;
          if (answer && answer.error) { reject(new Error(answer.error)); } else { resolve(answer); }
        };
        worker.postMessage(message, [channel.port2]);
      });
    });
  }

  function refresh() {
    return ask({ type: "STATUS" }).then(function (status) {
      known = status;
      show();
      return status;
    });
  }

  /* Pages opened in this tab before the worker could watch: a quick reader opens several. */
  function early(addresses) {
    try {
      if (addresses) { window.sessionStorage.setItem(EARLY, addresses.join(" ")); }
      return (window.sessionStorage.getItem(EARLY) || "").split(" ").filter(Boolean);
    } catch (denied) {
      return [];
    }
  }

  /* This page, its other language, the home pages, and what was loaded before the worker came. */
  function keepThisPage() {
    var addresses = [location.href.split(/[?#]/)[0]].concat(early());
    var links = document.querySelectorAll("a.md-select__link[hreflang]");
    for (var i = 0; i < links.length; i++) {
      addresses.push(links[i].href.split(/[?#]/)[0]);
    }
    var loaded = window.performance && performance.getEntriesByType
      ? performance.getEntriesByType("resource") : [];
    for (var j = 0; j < loaded.length; j++) {
      if (loaded[j].name.indexOf(location.origin + "/") === 0) { addresses.push(loaded[j].name); }
    }
    return ask({ type: "HOMES" }).then(function (homes) {
      var all = addresses.concat(homes).filter(function (address, at, list) {
        return list.indexOf(address) === at;
      });
      return ask({ type: "CACHE_URLS", payload: { urlsToCache: all } });
    }).then(function () { early([]); });
  }

  /* ---- Storing and removing -------------------------------------------------------- */

  /* Store a few files after another until none is left, the reader stops, or nothing goes on. */
  function store(all, skip) {
    return ask({ type: "STORE", all: all, count: AT_A_TIME, skip: skip }).then(function (result) {
      known = result;
      skip = skip.concat(result.failed);
      show();
      if (result.full) { return "full"; }
      if (all && !running) { return "stopped"; }
      if (result.wanted === 0) { return skip.length ? "failed" : "done"; }
      // Everything of this round failed: the network is gone, and trying the rest is pointless.
      if (result.failed.length === result.wanted && result.wanted > 1) { return "failed"; }
      return store(all, skip);
    }).then(function (end) {
      known.failed = skip.length;
      return end;
    });
  }

  function storeAll(isAsked) {
    if (running) { return; }
    running = true;
    if (isAsked) {
      announce("started");
      // Where the browser offers it: not to throw the copy away when space runs short.
      if (navigator.storage && navigator.storage.persist) {
        navigator.storage.persist().catch(function () {});
      }
    }
    show();
    store(true, []).catch(function () {
      error = text.refused;
      return "failed";
    }).then(function (end) {
      running = false;
      show();
      if (isAsked) {
        announce(end, known);
        if (part.dialog.contains(document.activeElement) || document.activeElement === document.body) {
          part.close.focus();
        }
      }
    });
  }

  function removeAll() {
    running = false;
    remember(OFF, "1");
    ask({ type: "REMOVE" })
      .then(function () { return registration.unregister(); })
      // Under a page without the worker nothing is stored any more.
      .then(function () { location.reload(); });
  }

  /* ---- Footer and dialog ----------------------------------------------------------- */

  var bar = make("div", { "class": "hb-offline" });
  var open = make("button", { type: "button", "class": "hb-offline__open", "aria-haspopup": "dialog" });
  var line = make("span", { "class": "hb-offline__state" });
  open.appendChild(make("strong", {}, text.title));
  open.appendChild(document.createTextNode(zh ? "：" : ": "));
  open.appendChild(line);
  bar.appendChild(open);

  function build() {
    var dialog = make("dialog", {
      "class": "hb-dialog md-typeset", "aria-labelledby": "hb-offline-title", id: "hb-offline-dialog"
    });
    part.dialog = dialog;
    dialog.appendChild(make("h2", { id: "hb-offline-title" }, text.title));
    part.state = dialog.appendChild(make("p", { "class": "hb-offline__long" }));
    part.amount = dialog.appendChild(make("p", { "class": "hb-offline__amount" }));
    part.progress = dialog.appendChild(make("progress", { "aria-label": text.progress }));
    part.news = dialog.appendChild(make("p", { role: "status", "class": "hb-offline__news" }));
    var row = dialog.appendChild(make("p", { "class": "hb-dialog__buttons" }));
    part.store = row.appendChild(button("store", function () { storeAll(true); }));
    part.stop = row.appendChild(button("stop", function () { running = false; }));
    part.start = row.appendChild(button("start", function () {
      remember(OFF, null);
      begin();
    }));
    part.remove = row.appendChild(button("remove", removeAll));
    part.close = row.appendChild(button("close", function () { dialog.close(); }));
    part.stop.textContent = text.stop;
    part.start.textContent = text.start;
    part.remove.textContent = text.remove;
    part.close.textContent = text.close;
    dialog.appendChild(make("p", { "class": "hb-offline__explain" }, text.explain));
    // Material's keys (s, f, /, n, p) work on the page below, which is not to be reached now.
    dialog.addEventListener("keydown", function (event) { event.stopPropagation(); });
    dialog.addEventListener("click", function (event) {
      if (event.target === dialog) { dialog.close(); }
    });
    document.body.appendChild(dialog);
  }

  function announce(key, values) {
    part.news.textContent = say(key, values);
  }

  function show() {
    var isOff = remember(OFF) === "1" && !known;
    var isWhole = !!known && known.stored === known.total;
    line.textContent = error ? say("broken", { error: error })
      : known ? say(isWhole ? "whole" : "pages", known)
      : isOff ? text.none : text.preparing;
    bar.setAttribute("data-state", known ? (isWhole ? "whole" : "pages") : "none");
    part.state.textContent = error ? say("broken", { error: error })
      : known ? say(isWhole ? "whole_long" : "pages_long", known) : text.none_long;
    part.amount.textContent = known ? say("some", known) : "";
    part.progress.hidden = !running;
    if (known) {
      part.progress.max = known.total || 1;
      part.progress.value = known.stored;
      part.store.textContent = known.whole ? say("more", known) : say("store", known);
    }
    part.store.hidden = !known || isWhole || running;
    part.stop.hidden = !running;
    part.start.hidden = !isOff;
    part.remove.hidden = !known;
  }

  open.addEventListener("click", function () {
    if (known) { refresh(); }
    if (part.dialog.showModal) { part.dialog.showModal(); } else { part.dialog.setAttribute("open", ""); }
  });

  /* ---- New versions ---------------------------------------------------------------- */

  /* Whether the reader has put the update off; holds for this tab. */
  function later(isPutOff) {
    try {
      if (isPutOff) { window.sessionStorage.setItem(LATER, "1"); }
      return window.sessionStorage.getItem(LATER) === "1";
    } catch (denied) {
      return false;
    }
  }

  function notify() {
    if (document.querySelector(".hb-update") || later()) { return; }
    var box = make("div", { "class": "hb-update", role: "region", "aria-label": text.notice });
    // The element is announced when its text comes, not when it is put in with it.
    var words = box.appendChild(make("p", { role: "status" }));
    var yes = box.appendChild(make("button", { type: "button", "class": "md-button md-button--primary" }, text.reload));
    var no = box.appendChild(make("button", { type: "button", "class": "md-button" }, text.later));
    yes.addEventListener("click", function () {
      workbox.addEventListener("controlling", function () { location.reload(); });
      workbox.messageSkipWaiting();
    });
    no.addEventListener("click", function () {
      later(true);
      box.parentNode.removeChild(box);
    });
    document.body.appendChild(box);
    window.setTimeout(function () { words.textContent = text.update; }, 100);
  }

  function watchForUpdates() {
    var last = Date.now();
    workbox.addEventListener("waiting", notify);
    document.addEventListener("visibilitychange", function () {
      if (!document.hidden && Date.now() - last > HOUR) {
        last = Date.now();
        workbox.update().catch(function () {});
      }
    });
  }

  /* ---- Start ----------------------------------------------------------------------- */

  function load(address) {
    return new Promise(function (resolve, reject) {
      if (window.workbox && window.workbox.Workbox) { resolve(); return; }
      var script = make("script", { src: address });
      script.onload = resolve;
      script.onerror = function () { reject(new Error(address)); };
      document.head.appendChild(script);
    });
  }

  function begin() {
    show();
    load(own.getAttribute("data-offline-window")).then(function () {
      workbox = new window.workbox.Workbox(own.getAttribute("data-offline-worker"));
      watchForUpdates();
      return workbox.register();
    }).then(function (registered) {
      // The longest matching scope: ours, or nothing.
      if (!registered || registered.scope !== scope) { throw new Error(location.host); }
      registration = registered;
      return keepThisPage();
    }).then(refresh).then(function (status) {
      // What was asked for before and is not complete: after an update, or a closed tab.
      if (status.whole && status.missing) { storeAll(false); }
      else if (status.stale) { return store(false, []).then(show); }
      return null;
    }).catch(function (problem) {
      // Private windows and strict settings refuse; their words are for programmers, not readers.
      error = known ? "" : problem.message === text.incomplete ? text.incomplete : text.refused;
      show();
    });
  }

  build();
  footer.appendChild(bar);
  show();
  if (!navigator.serviceWorker.controller && remember(OFF) !== "1") {
    early(early().concat(location.href.split(/[?#]/)[0]).slice(-20));
  }
  window.addEventListener("load", function () {
    var connection = navigator.connection;
    if (remember(OFF) === "1") { return; }
    if (connection && connection.saveData && !navigator.serviceWorker.controller) {
      remember(OFF, "1");   // a reader who pays for data decides himself
      show();
      return;
    }
    begin();
  });
})();
