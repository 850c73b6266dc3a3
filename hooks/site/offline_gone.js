/* Takes an earlier offline copy of the site off the reader's machine. */
self.addEventListener("install", function () { self.skipWaiting(); });
self.addEventListener("activate", function (event) {
  event.waitUntil(self.caches.delete("handbook-" + self.registration.scope)
    .then(function () { return self.registration.unregister(); })
    .then(function () { return self.clients.matchAll({ type: "window" }); })
    .then(function (pages) { pages.forEach(function (page) { page.navigate(page.url); }); }));
});
