"""What a figure counts, in words of the page's language: unit, direction, density, per what."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

Direction = Literal["uni", "bi"]

_WORDS: dict[str, dict[str, str]] = {
    "uni": {"zh": "单向", "en": "one direction"},
    "bi": {"zh": "双向合计", "en": "both directions"},
    "dense": {"zh": "稠密", "en": "dense"},
    "sparse": {"zh": "稀疏", "en": "sparse"},
}
_THINGS = {
    "block": "线程块",
    "chip": "芯片",
    "core": "核",
    "die": "裸片",
    "direction": "方向",
    "lane": "通道",
    "link": "链路",
    "node": "节点",
    "pair": "GPU 对",
    "port": "端口",
    "rack": "机架",
    "server": "服务器",
    "system": "系统",
    "tray": "托盘",
}
"""English word to Chinese; other words (GPU, SM, NIC) are the same in both."""


class Text(BaseModel):
    """Words in both languages; a plain string stands for both."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    zh: str
    en: str

    @model_validator(mode="before")
    @classmethod
    def _same_in_both(cls, value: object) -> object:
        return {"zh": value, "en": value} if isinstance(value, str) else value

    def in_language(self, language: str) -> str:
        """Return the words for `zh` or `en`."""
        return self.zh if language == "zh" else self.en


def terms(
    language: str,
    *,
    direction: str | None = None,
    density: str | None = None,
    per: str | Text | None = None,
) -> list[str]:
    """Return direction, density and per what as short phrases, those that are given.

    `none` says that a quantity has no such thing, and gives no phrase.
    """
    phrases = [_WORDS[key][language] for key in (direction, density) if key and key != "none"]
    if per and (per.en if isinstance(per, Text) else per) != "none":
        phrases.append(_per(per, language))
    return phrases


def _per(per: str | Text, language: str) -> str:
    thing = per.in_language(language) if isinstance(per, Text) else per
    if language == "en":
        return f"per {thing}"
    thing = _THINGS.get(thing, thing)
    return f"每 {thing}" if thing[0].isascii() else f"每{thing}"
