/*
 * The service worker of a hosted handbook (see offline.py): keeps what a reader has opened, and
 * answers from it, so that pages, search and figures seen once are there with no network.
 *
 * Everything goes by content. HANDBOOK says which hash each address has in this version; what is
 * stored under that hash is shown without asking the network. A file with other content (a host
 * that rewrites pages, or a newer version behind an older worker) is shown and not stored. The
 * next version takes over at once, after it has fetched anew what was stored of this one.
 *
 * Pages (docs/assets/javascripts/offline.js) send addresses to keep and are told what is missing.
 * The cache is made by the page; where a reader has removed it nothing is stored again.
 */
(function (self) {
  "use strict";

  const { version } = self.HANDBOOK;
  const files = new Map(Object.entries(self.HANDBOOK.files)); /* address -> 16 digits of SHA-256 */
  const SCOPE = self.registration.scope;
  const ROOT = new URL(SCOPE).pathname;
  const CACHE = "handbook-" + SCOPE; /* two handbooks can live on one host */

  function urlOf(address) {
    return SCOPE + address.split("/").map(encodeURIComponent).join("/");
  }

  function keyOf(address) {
    return address && urlOf(address) + "?" + files.get(address);
  }

  /* The file a request means: a folder is its index.html, and some hosts leave out ".html". */
  function addressOf(url) {
    if (!url.startsWith(SCOPE)) { return null; }
    let path = decodeURIComponent(new URL(url).pathname.slice(ROOT.length));
    if (path === "" || path.endsWith("/")) { path += "index.html"; }
    return [path, path + ".html"].find((name) => files.has(name)) || null;
  }

  /* What is stored, and where; nothing and nowhere once a reader has removed it. */
  async function stock() {
    const cache = await self.caches.has(CACHE) && await self.caches.open(CACHE);
    return { cache, keys: cache ? (await cache.keys()).map((request) => request.url) : [] };
  }

  async function keep(address, response) {
    if (response.status !== 200) { return; }
    const { headers } = response;
    const content = await response.arrayBuffer();
    const hash = new Uint8Array(await self.crypto.subtle.digest("SHA-256", content));
    const digits = Array.from(hash.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0"));
    if (digits.join("") !== files.get(address) || !await self.caches.has(CACHE)) { return; }
    // A new response: browsers refuse one that was redirected as the answer for a page.
    await (await self.caches.open(CACHE)).put(keyOf(address), new Response(content, { headers }));
  }

  /* Fetch and store what is not there yet, a few at a time; what fails is missing afterwards. */
  async function keepAll(addresses) {
    const there = new Set((await stock()).keys);
    const todo = addresses.filter((address) => !there.has(keyOf(address)));
    async function work() {
      while (todo.length) {
        const address = todo.shift();
        try {
          // Not from the HTTP cache unasked: it may hold the file of a former version.
          await keep(address, await fetch(urlOf(address), { cache: "no-cache" }));
        } catch (error) { /* the network is gone, or the browser's space used up */ }
      }
    }
    await Promise.all([work(), work(), work(), work()]);
  }

  async function status() {
    const there = new Set((await stock()).keys);
    return { version, missing: Array.from(files.keys()).filter((one) => !there.has(keyOf(one))) };
  }

  async function answer(event, address) {
    const { request } = event;
    const there = { cacheName: CACHE, ignoreVary: true };
    const stored = await self.caches.match(keyOf(address), there);
    if (stored) { return stored; }
    try {
      const response = await fetch(new Request(request, { cache: "no-cache" }));
      event.waitUntil(keep(address, response.clone()).catch(() => null));
      return response;
    } catch (error) {
      const older = await self.caches.match(urlOf(address), { ...there, ignoreSearch: true });
      if (older) { return older; }
      throw error;
    }
  }

  /* With the network off, and the page not stored. */
  const TEXTS = {
    zh: ["这一页没有存在本机", "现在连不上网，而这一页还没有打开过。联网后再试；" +
      "页脚的“离线使用”可以把整本手册存下来。", "再试一次"],
    en: ["This page is not stored on this device", "The network cannot be reached, and this page" +
      " has not been opened before. Try again when you are online; “Offline use” in the footer" +
      " can keep the whole handbook.", "Try again"]
  };

  function notice(url) {
    const isEnglish = new URL(url).pathname.startsWith(ROOT + "en/");
    const languages = isEnglish ? ["en", "zh"] : ["zh", "en"];
    const html = `<!doctype html><html lang="${languages[0]}"><head><meta charset="utf-8">` +
      '<meta name="viewport" content="width=device-width,initial-scale=1">' +
      `<title>${TEXTS[languages[0]][0]}</title><style>:root{color-scheme:light dark}body{` +
      "max-width:40rem;margin:3rem auto;padding:0 1.2rem;font:1rem/1.7 system-ui,sans-serif}" +
      "</style></head><body><main>" + languages.map((language) => {
        const [title, body, retry] = TEXTS[language];
        return `<section lang="${language}"><h1>${title}</h1><p>${body}</p>` +
          `<p><a href="">${retry}</a></p></section>`;
      }).join("") + "</main></body></html>";
    return new Response(html, { status: 503, headers: { "Content-Type": "text/html" } });
  }

  async function renew() {
    await keepAll((await stock()).keys.map(addressOf).filter(Boolean));
    await self.skipWaiting();
  }

  async function takeOver() {
    await self.clients.claim();
    const { cache, keys } = await stock();
    const there = new Set(keys.filter((key) => key === keyOf(addressOf(key))));
    const isLeft = (key) => !addressOf(key) || there.has(keyOf(addressOf(key)));
    const gone = keys.filter((key) => !there.has(key) && isLeft(key));
    await Promise.all(gone.map((key) => cache.delete(key)));
  }

  self.addEventListener("install", (event) => event.waitUntil(renew()));
  self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

  self.addEventListener("fetch", (event) => {
    const { url, method, mode, headers } = event.request;
    if (method !== "GET" || headers.has("range") || !url.startsWith(SCOPE)) { return; }
    const address = addressOf(url);
    const got = address ? answer(event, address) : fetch(event.request);
    event.respondWith(mode === "navigate" ? got.catch(() => notice(url)) : got);
  });

  self.addEventListener("message", (event) => {
    const addresses = event.data.addresses.map(addressOf).filter(Boolean);
    const [port] = event.ports;
    event.waitUntil(keepAll(addresses).then(status).then((found) => port.postMessage(found)));
  });
})(self);
