/* Stands in for the parts of a worker's global scope that the search worker uses. */
var self = globalThis;
var listeners = [];
var answers = [];
var console = {
  log: function () {},
  error: function () {},
  warn: function (message) { answers.push({ warning: String(message) }); }
};

self.addEventListener = function (type, listener) { listeners.push(listener); };
self.postMessage = function (message) { answers.push(message); };

/* Scripts come from `files` (address below `base` -> text), where a test defines them. */
var loaded = [];
self.importScripts = function () {
  for (var i = 0; i < arguments.length; i++) {
    var name = typeof base === "string" ? arguments[i].split(base)[1] : undefined;
    if (name === undefined || files[name] === undefined) {
      throw new Error("asks for " + arguments[i]);
    }
    loaded.push(name);
    (0, eval)(files[name]);
  }
};

/* What is asked for arrives, or does not, when timers run. */
self.XMLHttpRequest = function () {};
self.XMLHttpRequest.prototype.open = function (method, address) { this.address = address; };
self.XMLHttpRequest.prototype.send = function () {
  var name = this.address.split(base)[1], request = this;
  loaded.push(name);
  self.setTimeout(function () {
    request.status = files[name] === undefined ? 404 : 200;
    request.responseText = files[name] === undefined ? "" : files[name];
    request.onload();
  });
};

/* Timers run when the test says so, until none is left. */
var timers = [];
self.setTimeout = function (call) { timers.push(call); };
function runTimers() { while (timers.length) { timers.shift()(); } }

/* Each message arrives as a copy, as from another thread. */
function deliver(text) {
  var event = { data: JSON.parse(text) };
  listeners.forEach(function (listener) { listener(event); });
}

function collect() { return JSON.stringify(answers.splice(0)); }
