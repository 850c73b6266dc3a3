"""The recorder: every step of a run, in the form that the figures are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from .rules import RULES


class Text(TypedDict):
    zh: str
    en: str


KINDS = {"post", "packet", "drop", "state", "cqe", "timer", "memory", "error"}


def both(text: str | tuple[str, str]) -> Text:
    """Return a text in both languages; names that are the same stay so."""
    zh, en = (text, text) if isinstance(text, str) else text
    return {"zh": zh, "en": en}


@dataclass
class Recorder:
    """Collects events; lanes are named app-a, nic-a, nic-b, app-b."""

    events: list[dict[str, object]] = field(default_factory=list)

    def add(
        self,
        now: float,
        kind: str,
        lanes: tuple[str, str | None],
        label: str | tuple[str, str],
        rule: str,
        **values: object,
    ) -> None:
        """Record a step with the rule behind it."""
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of event")
        zh, en = RULES[rule]
        self.events.append(
            {
                "t": round(now, 3),
                "kind": kind,
                "from": lanes[0],
                "to": lanes[1],
                "label": both(label),
                "note": {"zh": zh.format(**values), "en": en.format(**values)},
            }
        )


LANES = [
    {"id": "app-a", "title": {"zh": "应用 A", "en": "App A"}},
    {"id": "nic-a", "title": {"zh": "网卡 A", "en": "NIC A"}},
    {"id": "nic-b", "title": {"zh": "网卡 B", "en": "NIC B"}},
    {"id": "app-b", "title": {"zh": "应用 B", "en": "App B"}},
]
