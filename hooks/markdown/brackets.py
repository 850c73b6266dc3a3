"""Pair the square brackets of a run, and find where links and images begin."""

from __future__ import annotations

import re

_NEAR = 200
"""Characters in which most brackets are closed."""


class Brackets:
    """Answers for one text at a time; what is taken of it is blotted out, brackets and all."""

    def __init__(self) -> None:
        """Know no text yet."""
        self._paired: tuple[str, dict[int, int]] = ("", {})

    def _closing(self, data: str) -> dict[int, int]:
        """Return where the bracket that closes stands, by that of the one that opens."""
        if self._paired[0] is not data:
            pairs: dict[int, int] = {}
            opened: list[int] = []
            for match in re.finditer(r"[\[\]]", data):
                if match.group() == "[":
                    opened.append(match.start())
                elif opened:
                    pairs[opened.pop()] = match.start()
            self._paired = (data, pairs)
        return self._paired[1]

    def close(self, data: str, start: int) -> int:
        """Return where the bracket that opens at `start` is closed; -1: nowhere."""
        close = data.find("]", start, start + _NEAR)
        if close >= 0 and data.find("[", start + 1, close) < 0:
            return close
        return self._closing(data).get(start, -1)

    def next(self, data: str, position: int, is_image: bool) -> tuple[int, int, int] | None:
        """Return where the next link or image begins, and where its brackets open and close."""
        at = data.find("![" if is_image else "[", position)
        while at >= 0:
            start = at + is_image
            if is_image or at == 0 or data[at - 1] != "!":
                close = self.close(data, start)
                if close >= 0:
                    return at, start, close
            at = data.find("![" if is_image else "[", at + 1)
        return None
