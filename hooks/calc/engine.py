"""Run calculators in V8: the formulas of the page, for the build and the tests.

>>> run("units", {"value": 400, "unit": "Gb/s"})["uni"]
50
"""

from __future__ import annotations

import atexit
import json
import os
import threading
from typing import TYPE_CHECKING, Any

from py_mini_racer import MiniRacer

from hooks.calc import presets, registry
from hooks.data import FactBase, load_facts
from hooks.findings import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

_BRIDGE = """
function calcBridge(name, text) {
  var request = JSON.parse(text);
  if (name === "describe") { return JSON.stringify(calc.order.map(calc.describe)); }
  if (name === "data") { calc.setData(request); return "null"; }
  if (name === "formula") {
    return JSON.stringify(calc.formulas[request.name].apply(null, request.arguments));
  }
  return JSON.stringify(calc[name].apply(null, request));
}
"""


class CalcError(ValueError):
    """A calculator cannot answer: no such one, no such input, or an entry out of range."""


class Engine:
    """The calculators, loaded once, over the rows that presets choose from."""

    def __init__(self, base: FactBase | None = None) -> None:
        """Load the scripts and the families of `base`."""
        self._racer = MiniRacer()
        self._process = os.getpid()
        self._lock = threading.Lock()
        for path in registry.scripts():
            self._racer.eval(path.read_text(encoding="utf-8"))
        self._racer.eval(_BRIDGE)
        self.records: dict[str, dict[str, Any]] = {}
        self.data: dict[str, Any] = presets.EMPTY
        self._describe()
        if base is not None:
            self.data = presets.presets(base, self.families())
            self._call("data", self.data)
            self._describe()

    def _describe(self) -> None:
        self.records = {record["id"]: record for record in self._call("describe", None)}

    def _call(self, name: str, request: object) -> Any:
        if os.getpid() != self._process:  # V8's threads stayed behind: it would never answer
            raise CalcError("V8 answers only in the process that started it")
        with self._lock:
            answer = self._racer.call("calcBridge", name, json.dumps(request))
        return json.loads(str(answer))

    def close(self) -> None:
        """Stop V8; its thread would wait for itself when the interpreter ends."""
        self._racer.close()

    def families(self) -> list[str]:
        """Return the families of `docs/data` that presets choose from."""
        inputs = [entry for record in self.records.values() for entry in record["inputs"]]
        return sorted({entry["family"] for entry in inputs if "family" in entry})

    def record(self, name: str) -> dict[str, Any]:
        """Return a calculator's record; CalcError offers the nearest if there is no such one."""
        if name not in self.records:
            hint = nearest(name, self.records)
            end = f"did you mean '{hint}'?" if hint else f"there are: {', '.join(self.records)}"
            raise CalcError(f"there is no calculator '{name}'; {end}")
        return self.records[name]

    def run(self, name: str, inputs: Mapping[str, object]) -> dict[str, Any]:
        """Return the outputs by key: numbers in the units of the record, texts as {zh, en}.

        Inputs that are not given take the values a reader finds in the form. CalcError where
        there is no such calculator or input, or an entry makes no sense.
        """
        self.record(name)
        answer = self._call("answer", [name, dict(inputs)])
        if answer["errors"]:
            lines = [f"{name}: {error['key']}: {error['en']}" for error in answer["errors"]]
            raise CalcError("\n".join(lines))
        outputs: dict[str, Any] = answer["outputs"]
        return outputs

    def show(self, name: str, inputs: Mapping[str, object], language: str) -> dict[str, Any]:
        """Return the answer in words: `errors`, `rows`, `tables`, `remarks`, `drawing`."""
        self.record(name)
        shown: dict[str, Any] = self._call("show", [name, dict(inputs), language])
        return shown

    def input_text(self, name: str, key: str, value: object, language: str) -> str:
        """Return an input's value as the page writes it."""
        entry = next(item for item in self.record(name)["inputs"] if item["key"] == key)
        return str(self._call("inputText", [entry, value, language]))

    def formula(self, name: str, *arguments: object) -> Any:
        """Return what one of the formulas gives; for tests."""
        return self._call("formula", {"name": name, "arguments": list(arguments)})


class _Kept:
    """The engine that `default` made last, and what it was made from."""

    engine: Engine | None = None
    fingerprint: str = ""
    base: FactBase | None = None


def default(base: FactBase | None = None) -> Engine:
    """Return the engine over this handbook's scripts and data, kept until one of them changes.

    Without `base` it has the data of the engine that is kept, or else what lies in `docs/data`.
    """
    fingerprint = registry.fingerprint()
    is_other = base is not None and base is not _Kept.base
    if _Kept.engine is None or _Kept.fingerprint != fingerprint or is_other:
        close()
        _Kept.base = base or _Kept.base or load_facts(registry.ROOT / "docs" / "data")[0]
        _Kept.engine = Engine(base=_Kept.base)
        _Kept.fingerprint = fingerprint
    return _Kept.engine


@atexit.register
def close() -> None:
    """Stop the engine that `default` has kept."""
    if _Kept.engine is not None:
        _Kept.engine.close()
        _Kept.engine = None


def run(name: str, inputs: Mapping[str, object]) -> dict[str, object]:
    """Return a calculator's outputs by key; see `Engine.run`."""
    return default().run(name, inputs)
