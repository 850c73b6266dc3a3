/*
 * Reading a hosted handbook with the network off: starts the service worker (sw.js, made by
 * hooks/site/offline.py) and says in the footer what is available offline; buttons keep the whole
 * handbook and remove the copy. Nothing on file:// and in browsers without service workers.
 */
(function () {
  "use strict";

  var own = document.querySelector("script[data-offline-worker]");
  var footer = document.querySelector(".md-footer-meta__inner");
  if (!own || !footer || !/^https?:$/.test(location.protocol) ||
      !("serviceWorker" in navigator) || !window.caches) {
    return;
  }

  var zh = /^zh/.test(document.documentElement.lang);
  var OFF = "handbook.offline.off";
  var WHOLE = "handbook.offline.whole";
  var AT_A_TIME = 24;
  var text = zh ? {
    title: "离线使用：",
    none: "还没有存在本机",
    preparing: "正在准备……",
    pages: "看过的页面可离线使用，版本 {}",
    whole: "整本手册可离线使用，版本 {}",
    storing: "正在存下整本手册……",
    failed: "有 {} 个文件没有取到，联网后再试",
    refused: "现在不能离线使用：浏览器没有允许，或文件没有取到",
    keep: "存下整本手册", remove: "删除离线副本", start: "开启离线使用"
  } : {
    title: "Offline use: ",
    none: "nothing stored yet",
    preparing: "preparing …",
    pages: "pages you opened are available offline, version {}",
    whole: "the whole handbook is available offline, version {}",
    storing: "storing the whole handbook …",
    failed: "{} files could not be fetched; try again when you are online",
    refused: "it does not work here: the browser did not allow it, or files could not be fetched",
    keep: "Keep the whole handbook", remove: "Remove the offline copy", start: "Turn it on"
  };

  var address = new URL(own.getAttribute("data-offline-worker"), location.href).href;
  var scope = new URL("./", address).href;
  var registration = null;

  function remember(key, value) {
    try {
      if (value === undefined) { return window.localStorage.getItem(key) === "1"; }
      window.localStorage.setItem(key, value ? "1" : "");
    } catch (denied) { /* the browser keeps nothing for this site: ask again next time */ }
    return false;
  }

  function make(tag, name, content, action) {
    var element = document.createElement(tag);
    element.className = name;
    element.textContent = content;
    if (action) {
      element.type = "button";
      element.addEventListener("click", action);
    }
    return element;
  }

  /* Have the newest worker keep addresses, if there are any; it answers with its status. */
  function ask(addresses) {
    var worker = registration.installing || registration.waiting || registration.active;
    return new Promise(function (resolve) {
      var channel = new MessageChannel();
      channel.port1.onmessage = function (event) { resolve(event.data); };
      worker.postMessage({ addresses: addresses }, [channel.port2]);
    });
  }

  /* This page and what it has loaded: the worker may have come too late to see it. */
  function opened() {
    return [location.href].concat(performance.getEntriesByType("resource").map(function (one) {
      return one.name;
    }));
  }

  /* Keep some files after others, so that each message is short; stop where none comes any more. */
  function keepWhole(status) {
    show("storing");
    return ask(status.missing.slice(0, AT_A_TIME).map(function (one) {
      return scope + one.split("/").map(encodeURIComponent).join("/");
    })).then(function (now) {
      if (now.missing.length < status.missing.length) { return keepWhole(now); }
      return show(now.missing.length ? "failed" : "", now);
    });
  }

  var bar = make("div", "hb-offline", "");
  var line = make("span", "hb-offline__state", "");
  var keep = make("button", "hb-offline__keep", text.keep, function () {
    remember(WHOLE, true);
    // Where the browser offers it: not to throw the copy away when space runs short.
    if (navigator.storage && navigator.storage.persist) {
      navigator.storage.persist().catch(function () {});
    }
    ask([]).then(keepWhole).catch(function () { show("refused"); });
  });
  var remove = make("button", "hb-offline__remove", text.remove, function () {
    remember(OFF, true);
    remember(WHOLE, false);
    window.caches.delete("handbook-" + scope)
      .then(function () { return registration.unregister(); })
      // Under a page without the worker nothing is stored any more.
      .then(function () { location.reload(); });
  });
  var start = make("button", "hb-offline__start", text.start, function () {
    remember(OFF, false);
    begin();
  });

  /* Say a state, or what the worker's status means. */
  function show(state, status) {
    if (!state) { state = status.missing.length ? "pages" : "whole"; }
    var value = state === "failed" ? status.missing.length : status && status.version;
    line.textContent = text[state].replace("{}", String(value));
    bar.setAttribute("data-state", state);
    keep.hidden = state !== "pages" && state !== "failed";
    remove.hidden = keep.hidden && state !== "whole" && state !== "storing";
    start.hidden = state !== "none";
  }

  function begin() {
    show("preparing");
    navigator.serviceWorker.register(address).then(function (registered) {
      // The longest matching scope: ours, or nothing.
      if (registered.scope !== scope) { throw new Error(location.host); }
      registration = registered;
      return window.caches.open("handbook-" + scope);
    }).then(function () { return navigator.serviceWorker.ready; })
      .then(function () { return ask(opened()); })
      // What was asked for before and is not complete: after an update, or a closed tab.
      .then(function (status) { return remember(WHOLE) ? keepWhole(status) : show("", status); })
      .catch(function () { show("refused"); });
  }

  line.setAttribute("role", "status");
  bar.appendChild(make("strong", "", text.title));
  footer.appendChild(bar);
  [line, keep, remove, start].forEach(function (one) { bar.appendChild(one); });
  show("none");
  window.addEventListener("load", function () {
    var connection = navigator.connection;
    // A reader who pays for data decides himself.
    if (connection && connection.saveData && !navigator.serviceWorker.controller) {
      remember(OFF, true);
    }
    if (!remember(OFF)) { begin(); }
  });
})();
