"""Material's search worker outside a browser: in V8, with the index of a real build."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from py_mini_racer import MiniRacer

from bench.search import sites
from bench.search.evaluation.engines import Place

# What a worker's scope offers: messages in and out, and scripts beside it.
_SCOPE = """
var self = globalThis, listeners = [], answers = [], scripts = SCRIPTS;
var console = { log: function () {}, warn: function () {}, error: function () {} };
var location = { href: "worker.js" };
self.addEventListener = function (type, listener) { listeners.push(listener); };
self.postMessage = function (message) { answers.push(message); };
self.importScripts = function () {
  for (var i = 0; i < arguments.length; i++) {
    var name = String(arguments[i]).split("/").pop();
    if (!(name in scripts)) { throw new Error("no script " + name); }
    (0, eval)(scripts[name]);
  }
};
function deliver(text) {
  var event = { data: JSON.parse(text) };
  listeners.forEach(function (listener) { listener(event); });
}
function collect() { return JSON.stringify(answers.splice(0)); }
"""


class WorkerError(RuntimeError):
    """The worker did not start or did not answer."""


class StockEngine:
    """A search worker with Material's protocol: 0 set up, 1 ready, 2 query, 3 result."""

    def __init__(self, source: str, index: dict[str, Any]) -> None:
        """Start a worker.

        Args:
            source: The worker's program.
            index: The content of search_index.json.
        """
        folder = sites.THEME / "assets/javascripts/lunr/min"
        scripts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.js")}
        self._context = MiniRacer()
        self._context.eval(_SCOPE.replace("SCRIPTS", json.dumps(scripts)))
        self._context.eval(source)
        index = {**index, "options": {"suggest": True}}
        if self._ask({"type": 0, "data": index}) != {"type": 1}:
            raise WorkerError("the search worker did not become ready")

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self._context.eval(f"deliver({json.dumps(json.dumps(message))});0")
        answers: list[dict[str, Any]] = []
        for _ in range(200):  # setting up is asynchronous; its steps run between evaluations
            answers += json.loads(str(self._context.eval("collect()")))
            if answers:
                return answers[0]
        raise WorkerError(f"no answer to message {message['type']}")

    def search(self, query: str, language: str = "zh", limit: int = 10) -> Sequence[Place]:
        """Return the sections that Material lists, those in the reader's language first.

        Then by their own score. Material mixes the languages and groups sections by page, hiding
        all but one behind "more on this page"; its ranking is what is compared here, not that.
        """
        groups = self._ask({"type": 2, "data": query})["data"]["items"]
        items = [item for group in groups for item in group if item["score"] > 0]
        items.sort(key=lambda item: (_language(item["location"]) != language, -item["score"]))
        return [Place(item["location"]) for item in items][:limit]


def _language(location: str) -> str:
    return "en" if location.startswith("en/") else "zh"


def stock(index: dict[str, Any]) -> StockEngine:
    """Return Material's search as it is."""
    source = (sites.THEME / sites.WORKERS / sites.stock_worker()).read_text(encoding="utf-8")
    return StockEngine(source, index)
