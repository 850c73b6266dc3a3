/*
 * The service worker of a hosted handbook (see offline.py): answers from what is stored on the
 * reader's machine, so that pages open, search works and the language changes with no network.
 *
 * Everything goes by content. HANDBOOK_FILES says which hash each address has in this version;
 * what is stored under that hash is right and is shown without asking the network, so all pages
 * a reader sees are of one version until the next one takes over.
 *   - The shell (style sheets, scripts) is stored whole when a version is installed,
 *     by Workbox's precaching, with the hashes checked by the browser.
 *   - Any other file is stored when it is first opened (the search index: with the first search), and all of them when the reader asks
 *     (message STORE, a few at a time, so that progress shows and a stop is a stop).
 *   - A file whose content is not the listed one (a host that rewrites pages, or a newer version
 *     behind an older worker) is shown and kept as "seen", for when the network is off.
 *
 * Messages from pages (docs/assets/javascripts/offline.js), answered through a MessageChannel:
 * STATUS, HOMES, STORE, REMOVE; and Workbox's own CACHE_URLS and SKIP_WAITING.
 * Where a browser has service workers it has all of the JavaScript used here.
 */
(function (self) {
  "use strict";

  const { version, homes } = self.HANDBOOK_FILES;
  const bare = (record) => Object.assign(Object.create(null), record);
  const shell = bare(self.HANDBOOK_FILES.shell);   /* address -> [SHA-256 in base64, bytes] */
  const files = bare(self.HANDBOOK_FILES.files);   /* address -> [16 digits of SHA-256, bytes] */
  const { core, precaching, routing, strategies } = self.workbox;

  const SCOPE = self.registration.scope;
  const ROOT = new URL(SCOPE).pathname;
  const NOT_FOUND = "404.html";
  /* Two handbooks can live on one host: the names of the caches end with the scope. */
  core.setCacheNameDetails({ prefix: "handbook", precache: "shell", runtime: "pages", suffix: SCOPE });
  const PAGES = core.cacheNames.runtime;
  const WHOLE = SCOPE + "handbook-whole-wanted";
  const SEEN = "__HANDBOOK_SEEN__";
  const REVISION = "__WB_REVISION__";
  const AT_ONCE = 4;

  /* After REMOVE nothing may be stored again, whatever pages still ask for. */
  let removed = false;

  /* ---- Addresses ------------------------------------------------------------------- */

  function urlOf(address) {
    return SCOPE + address.split("/").map(encodeURIComponent).join("/");
  }

  /* The file a request means: a folder is its index.html, and some hosts leave out ".html". */
  function addressOf(url) {
    const { origin, pathname } = new URL(url);
    if (origin !== self.location.origin || !pathname.startsWith(ROOT)) { return null; }
    let path;
    try {
      path = decodeURIComponent(pathname.slice(ROOT.length));
    } catch (error) {
      return null;
    }
    const named = path === "" || path.endsWith("/") ? path + "index.html" : path;
    return [named, named + ".html"].find((name) => name in files || name in shell) || named;
  }

  function keyOf(address) {
    return urlOf(address) + "?" + REVISION + "=" + files[address][0];
  }

  function seenKeyOf(address) {
    return urlOf(address) + "?" + SEEN + "=" + version;
  }

  /* ---- Storing --------------------------------------------------------------------- */

  async function digestOf(response) {
    const hash = await self.crypto.subtle.digest("SHA-256", await response.arrayBuffer());
    return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"))
      .join("").slice(0, 16);
  }

  /* Store a file's content, in place of what was stored for its address before. */
  async function keep(address, response) {
    if (removed || response.status !== 200 || response.type === "opaque") { return false; }
    const copy = response.redirected ? await core.copyResponse(response) : response;
    const isListed = await digestOf(copy.clone()) === files[address][0];
    const key = isListed ? keyOf(address) : seenKeyOf(address);
    const cache = await self.caches.open(PAGES);
    await cache.put(key, copy);
    const former = await cache.keys(urlOf(address), { ignoreSearch: true });
    await Promise.all(former.map((request) => request.url !== key && cache.delete(request)));
    if (removed) { await cache.delete(key); }
    return isListed;
  }

  /* Right content first, then the network, then whatever there is of an older version. */
  class Kept extends strategies.Strategy {
    async _handle(request, handler) {
      const address = addressOf(request.url);
      const isListed = address in files;
      const cache = await self.caches.open(PAGES);
      const options = { ignoreVary: true };
      if (isListed) {
        const stored = await cache.match(keyOf(address), options);
        if (stored) { return stored; }
      }
      try {
        // Not from the HTTP cache unasked: it may hold the file of a former version.
        const response = await handler.fetch(
          isListed ? new Request(request, { cache: "no-cache" }) : request
        );
        if (isListed) {
          handler.waitUntil(keep(address, response.clone()).catch(() => false));
        }
        return response;
      } catch (error) {
        const older = isListed &&
          await cache.match(urlOf(address), { ignoreSearch: true, ignoreVary: true });
        if (older) { return older; }
        throw error;
      }
    }
  }

  /* What is stored, what the whole handbook lacks, and what is stored in an older version only. */
  async function stock() {
    const cache = await self.caches.open(PAGES);
    const keys = new Set((await cache.keys()).map((request) => request.url));
    const older = new Set(Array.from(keys, (key) => key.split("?")[0]));
    const found = {
      version, whole: keys.has(WHOLE), total: 0, stored: 0, size: 0, storedSize: 0,
      missing: [], stale: []
    };
    for (const address of Object.keys(shell)) {
      found.size += shell[address][1];
      found.storedSize += shell[address][1];
    }
    for (const address of Object.keys(files)) {
      found.total += 1;
      found.size += files[address][1];
      if (keys.has(keyOf(address)) || keys.has(seenKeyOf(address))) {
        found.stored += 1;
        found.storedSize += files[address][1];
      } else {
        found.missing.push(address);
        if (older.has(urlOf(address))) { found.stale.push(address); }
      }
    }
    return found;
  }

  async function status() {
    const found = await stock();
    return Object.assign(found, { missing: found.missing.length, stale: found.stale.length });
  }

  /*
   * Store the next `count` files: all that are missing, or only those that are there in an older
   * version. `skip` are those that failed before.
   */
  async function store({ all, count, skip }) {
    const cache = await self.caches.open(PAGES);
    if (all) { await cache.put(WHOLE, new Response("yes")); }
    const found = await stock();
    const next = (all ? found.missing : found.stale)
      .filter((address) => !skip.includes(address)).slice(0, count);
    const failed = [];
    let isFull = false;
    async function work() {
      while (next.length && !isFull && !removed) {
        const address = next.shift();
        try {
          const response = await fetch(urlOf(address), { cache: "no-cache" });
          if (response.status !== 200) { throw new Error(String(response.status)); }
          await keep(address, response);
        } catch (error) {
          if (error.name === "QuotaExceededError") { isFull = true; }
          failed.push(address);
        }
      }
    }
    const wanted = next.length;
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return Object.assign(await status(), { wanted, failed, full: isFull });
  }

  /* Caches of this handbook at this address, of whatever version. */
  async function ownCaches() {
    return (await self.caches.keys())
      .filter((name) => name.startsWith("handbook-") && name.endsWith(SCOPE));
  }

  async function remove() {
    removed = true;
    await Promise.all((await ownCaches()).map((name) => self.caches.delete(name)));
    return { removed };
  }

  /* Drop what a former version left behind. */
  async function clean() {
    const known = [core.cacheNames.precache, PAGES];
    const former = (await ownCaches()).filter((name) => !known.includes(name));
    await Promise.all(former.map((name) => self.caches.delete(name)));
    const cache = await self.caches.open(PAGES);
    const gone = (await cache.keys())
      .filter(({ url }) => url !== WHOLE && !(addressOf(url) in files));
    await Promise.all(gone.map((request) => cache.delete(request)));
  }

  /* ---- With the network off, and the page not stored ------------------------------- */

  const TEXTS = {
    zh: {
      title: "这一页没有存在本机",
      body: "现在连不上网，而这一页还没有打开过。联网后再试；页脚的“离线使用”可以把整本手册存下来。",
      home: "中文首页", retry: "再试一次"
    },
    en: {
      title: "This page is not stored on this device",
      body: "The network cannot be reached, and this page has not been opened before. Try again" +
        " when you are online; “Offline use” in the footer stores the whole handbook.",
      home: "English home page", retry: "Try again"
    }
  };

  function notice(address) {
    const isEnglish = address.startsWith("en/");
    const parts = (isEnglish ? ["en", "zh"] : ["zh", "en"]).map((language) => {
      const { title, body, home, retry } = TEXTS[language];
      const index = SCOPE + (language === "en" ? "en/" : "") + "index.html";
      return `<section lang="${language}"><h1>${title}</h1><p>${body}</p>` +
        `<p><a href="">${retry}</a> · <a href="${index}">${home}</a></p></section>`;
    });
    const html = `<!doctype html><html lang="${isEnglish ? "en" : "zh"}"><head>` +
      '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">' +
      '<meta http-equiv="Content-Security-Policy" content="default-src \'self\'' +
      ' \'unsafe-inline\'; object-src \'none\'; base-uri \'none\'">' +
      `<title>${TEXTS[isEnglish ? "en" : "zh"].title}</title><style>` +
      ":root{color-scheme:light dark}body{max-width:40rem;margin:3rem auto;padding:0 1.2rem;" +
      "font:1rem/1.7 system-ui,sans-serif}h1{font-size:1.4rem}section+section{margin-top:2rem;" +
      "border-top:1px solid;padding-top:1rem}</style></head><body><main>" + parts.join("") +
      "</main></body></html>";
    return new Response(html, {
      status: 503, headers: { "Content-Type": "text/html; charset=utf-8" }
    });
  }

  async function answerOffline({ request, url }) {
    if (request.mode !== "navigate") { return Response.error(); }
    const address = addressOf(url.href);
    if (address in files) { return notice(address); }
    // "/en" is answered by hosts with the address of the folder.
    if (address + "/index.html" in files) {
      return Response.redirect(urlOf(address) + "/" + url.search, 302);
    }
    const cache = await self.caches.open(PAGES);
    const page = await cache.match(urlOf(NOT_FOUND), { ignoreSearch: true, ignoreVary: true });
    return page
      ? new Response(page.body, { status: 404, headers: page.headers })
      : notice(address);
  }

  /* ---- Life of the worker ---------------------------------------------------------- */

  precaching.precacheAndRoute(
    Object.keys(shell).map((address) => ({
      url: urlOf(address),
      revision: shell[address][0],
      integrity: "sha256-" + shell[address][0]
    })),
    { ignoreURLParametersMatching: [/.*/], directoryIndex: null, cleanURLs: false }
  );
  precaching.cleanupOutdatedCaches();

  routing.registerRoute(
    ({ sameOrigin, url, request }) =>
      sameOrigin && url.pathname.startsWith(ROOT) && !request.headers.has("range"),
    new Kept({ cacheName: PAGES })
  );
  routing.setCatchHandler(answerOffline);

  core.clientsClaim();
  self.addEventListener("activate", (event) => event.waitUntil(clean()));

  self.addEventListener("message", (event) => {
    const message = event.data || {};
    const answers = {
      STATUS: status,
      HOMES: async () => homes.concat(NOT_FOUND).map(urlOf),
      STORE: () => store(message),
      REMOVE: remove
    };
    if (message.type === "SKIP_WAITING") {
      self.skipWaiting();
    } else if (answers[message.type] && event.ports[0]) {
      event.waitUntil(
        answers[message.type]().then(
          (answer) => event.ports[0].postMessage(answer),
          (error) => event.ports[0].postMessage({ error: String(error) })
        )
      );
    }
  });
})(self);
