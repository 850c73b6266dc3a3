"""What a figure counts, in words of the page's language: unit, direction, density, per what."""

from __future__ import annotations

import datetime
import math
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from hooks.data.options import BlockError
from hooks.findings import past_day

Direction = Literal["uni", "bi"]
Day = Annotated[datetime.date, BeforeValidator(past_day)]
"""A day that has been."""

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


class Strict(BaseModel):
    """A record that refuses fields which it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Text(Strict):
    """Words in both languages; a plain string stands for both."""

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
    per: Text | None = None,
) -> list[str]:
    """Return direction, density and per what as short phrases, those that are given.

    `none` says that a quantity has no such thing, and gives no phrase.
    """
    phrases = [_WORDS[key][language] for key in (direction, density) if key and key != "none"]
    if per and per.en != "none":
        thing = _THINGS.get(per.zh, per.zh)
        chinese = f"每 {thing}" if thing[0].isascii() else f"每{thing}"
        phrases.append(f"per {per.en}" if language == "en" else chinese)
    return phrases


def caption(given: object, default: Text, language: str) -> str:
    """Return the title that a fence gives, else the default; BlockError if it is none."""
    if given is None:
        return default.in_language(language)
    try:
        return Text.model_validate(given).in_language(language)
    except ValueError as error:
        raise BlockError("'caption' must be a text or {zh: …, en: …}") from error


_STATISTICS = {"median": "中位数", "mean": "平均值", "max": "最大值", "min": "最小值"}
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")


def number(value: float) -> str:
    """Return a figure as it was rounded in the record, else with four significant digits."""
    digits = f"{value}".replace("-", "").replace(".", "").lstrip("0")
    if isinstance(value, int) or not math.isfinite(value) or len(digits) <= 5:
        return str(value)
    decimals = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(decimals, 6)}f}"


def statistic(given: Text | None, language: str) -> str:
    """Return how a value was taken from its runs, such as `median`, in words."""
    text = given.in_language(language) if given else "—"
    return _STATISTICS.get(text, text) if language == "zh" else text


def label(axis: str, value: object) -> str:
    """Return a point's place on an axis; sizes in bytes as multiples of 1024 where they are."""
    if axis != "bytes" or not isinstance(value, int) or value <= 0:
        return str(value)
    power = min(((value & -value).bit_length() - 1) // 10, len(_SIZES) - 1)
    return f"{value >> (10 * power)} {_SIZES[power]}"
