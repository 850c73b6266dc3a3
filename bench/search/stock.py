"""Material's search worker outside a browser: in V8, with the index of a real build."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from py_mini_racer import MiniRacer

from bench.search import sites
from hooks import search_worker
from hooks.search.evaluation.engines import Place

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

    def __init__(self, source: str, index: dict[str, Any], *, by_score: bool = True) -> None:
        """Start a worker.

        Args:
            source: The worker's program.
            index: The content of search_index.json.
            by_score: Whether sections are listed by their own score. As Material shows them
                they are grouped by page, which finds fewer (it hides all but one behind
                "more on this page").
        """
        folder = sites.THEME / "assets/javascripts/lunr/min"
        scripts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.js")}
        self._by_score = by_score
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
        """Return the sections that Material lists, best first.

        With `by_score`, those in the reader's language come first: Material mixes the languages,
        but its ranking is what is compared here, not that.
        """
        groups = self._ask({"type": 2, "data": query})["data"]["items"]
        items = [item for group in groups for item in group if item["score"] > 0]
        if self._by_score:
            items.sort(key=lambda item: (_language(item["location"]) != language, -item["score"]))
        return [Place(item["location"]) for item in items][:limit]


def _language(location: str) -> str:
    return "en" if location.startswith("en/") else "zh"


def stock(index: dict[str, Any]) -> StockEngine:
    """Return Material's search as it is."""
    source = (sites.THEME / sites.WORKERS / sites.stock_worker()).read_text(encoding="utf-8")
    return StockEngine(source, index)


class Repaired:
    """Material's search as hooks/search_worker.py mends it: one worker a language."""

    def __init__(self, index: dict[str, Any], languages: tuple[str, ...]) -> None:
        """Start the workers on the index of `sites.repaired_index`."""
        prefixes = {name: search_worker.PREFIXES[name] for name in languages}
        path = sites.THEME / sites.WORKERS / sites.stock_worker()
        source = search_worker.patch_worker(path.read_text(encoding="utf-8"))
        self._engines = {
            language: StockEngine(
                search_worker.language_worker(source, language, prefixes), index, by_score=False
            )
            for language in languages
        }

    def search(self, query: str, language: str = "zh", limit: int = 10) -> Sequence[Place]:
        """Return the sections listed for a reader of a language, best first."""
        engine = self._engines.get(language) or next(iter(self._engines.values()))
        return engine.search(query, language, limit)
