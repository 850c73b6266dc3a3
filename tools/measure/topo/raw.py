"""The folder that run_topo.sh filled."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tools.measure import versions
from tools.measure.topo import parse
from tools.measure.topo.model import Json, MeasureError, Series


@dataclass(frozen=True, slots=True)
class Raw:
    """Reads files of one folder by name.

    Every method raises `MeasureError` when the file is missing or not in the expected form.
    """

    folder: Path

    def content(self, name: str) -> bytes:
        """Return a file as it is."""
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            raise MeasureError(
                f"{self.folder / name}: there is no such file; "
                f"run tools/measure/run_topo.sh {self.folder} (the step that keeps {name})"
            ) from None

    def text(self, name: str) -> str:
        """Return a captured text, with lines ended by LF and without escape sequences."""
        text = self.content(name).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        return parse.without_escapes(text)

    def json(self, name: str) -> Json:
        """Return a file that is one JSON object."""
        try:
            value: Json = json.loads(self.content(name))
        except json.JSONDecodeError as error:
            raise MeasureError(
                f"{self.folder / name}:{error.lineno}:{error.colno}: not JSON ({error.msg}); "
                "run its step again"
            ) from None
        return value

    def ran(self) -> dict[str, str]:
        """Return path and hash of the programs as they were when they ran."""
        pairs = versions.read(self.content(versions.RAN).decode("utf-8"))
        return {path: digest for digest, path in pairs}

    def reformatted(self) -> list[tuple[str, str]]:
        """Return hash and path of later versions that do the same; there may be none."""
        path = self.folder / versions.REFORMATTED
        return versions.read(path.read_text("utf-8")) if path.is_file() else []

    def rows(self, name: str) -> list[tuple[str, Json]]:
        """Return FILE:LINE and the object of each line of a JSON-lines file."""
        return parse.json_lines(self.content(name).decode("utf-8"), name)

    def series(self, name: str) -> list[Series]:
        """Return the results that a CUDA program printed."""
        return parse.series(self.rows(name))
