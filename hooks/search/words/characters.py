"""Tables of characters for one index: traditional forms, and how characters sound.

Only what the index can use is listed, so that the tables stay a few kilobytes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Final

import ahocorasick
import opencc

_FIRST, _LAST = 0x3400, 0x9FFF


@lru_cache(maxsize=1)
def _simplified() -> dict[str, str]:
    """Return every traditional character of the basic plane with its simplified form."""
    every = [chr(code) for code in range(_FIRST, _LAST + 1)]
    # One a line: characters side by side could be taken for a word.
    converted = opencc.OpenCC("t2s").convert("\n".join(every)).split("\n")
    return {
        old: new
        for old, new in zip(every, converted, strict=True)
        if old != new and len(new) == 1 and ord(new) <= 0xFFFF
    }


REGIONAL: Final = (
    # What Taiwan and Hong Kong call things, in simplified characters as queries are folded.
    "频宽 带宽,网路 网络,丛集 集群,记忆体 内存,显示记忆体 显存,快取 缓存,伺服器 服务器,"
    "执行绪 线程,行程 进程,核心 内核,程式 程序,软体 软件,硬体 硬件,讯息 消息,位元组 字节,"
    "位元 比特,伫列 队列,平行 并行,效能 性能,阵列 数组,回圈 循环,函式 函数,变数 变量,"
    "物件 对象,预设 默认,档案 文件,通讯 通信,晶片 芯片,汇流排 总线,交换器 交换机,"
    "乙太网路 以太网,乙太网 以太网,原始码 源代码,演算法 算法,资讯 信息,支援 支持,"
    "连接埠 端口,非同步 异步,巨集 宏,指标 指针,介面 接口,除错 调试,"
    "拓朴 拓扑,资料 数据,资料库 数据库,散列 哈希,杂凑 哈希,堆叠 栈,递回 递归,字串 字符串,"
    "使用者 用户,最佳化 优化,运算子 运算符,命名空间 名字空间,类别 类,范本 模板,回传 返回,"
    "工作阶段 会话,显示卡 显卡,萤幕 屏幕,资料夹 文件夹,随机存取 随机访问,"
    # What readers write beside the form that the notes keep to, rightly or not.
    "登记 注册,拓补 拓扑"
)
"""Pairs of a regional word and what the notes say, which search takes for the same; others are
those of OpenCC."""
WORDS: Final = Path(__file__).with_name("regional.txt")
"""Words of which OpenCC knows a regional one."""
_WORD: Final = re.compile(r"[㐀-鿿]{2,6}")


@lru_cache(maxsize=2)
def _regional_words(words: frozenset[str]) -> dict[str, str]:
    """Return what Taiwan calls words, in simplified characters, where it is something else."""
    every = sorted(words)
    other = opencc.OpenCC("t2s").convert(opencc.OpenCC("s2twp").convert("\n".join(every)))
    return {
        new: old
        for new, old in zip(every, other.splitlines(), strict=True)
        if old != new and _WORD.fullmatch(old)
    }


@lru_cache(maxsize=1)
def _words() -> frozenset[str]:
    lines = WORDS.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def regional(han: set[str], forms: Iterable[str], texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return regional words with what the notes say instead, each pair once.

    Args:
        han: The characters that an index holds: pairs of REGIONAL that it cannot hold are left out.
        forms: Terms that notes may say besides WORDS; of those that stand in the texts the
            regional word is looked up.
        texts: The texts of the notes.
    """
    pairs = [(old, new) for old, _, new in (one.partition(" ") for one in REGIONAL.split(","))]
    pairs = [(old, new) for old, new in pairs if set(new) <= han]
    known = {new: old for old, new in pairs}
    others = _regional_words(_words().union(form for form in forms if _WORD.fullmatch(form)))
    standing = _held(texts, others.keys() | others.values())
    for new in sorted(others.keys() & standing, key=lambda word: (len(word), word)):
        # What shorter pairs make of a word already needs no pair of its own.
        made = new
        for short in sorted(known, key=len, reverse=True):
            made = made.replace(short, known[short])
        if made != others[new]:
            known[new] = others[new]
            if others[new] not in standing:  # 程序, a process there, is a program here
                pairs.append((others[new], new))
    return pairs


def _held(texts: Iterable[str], words: Iterable[str]) -> set[str]:
    """Return the words that stand in any of the texts, found in one pass over each."""
    automaton = ahocorasick.Automaton()
    for word in sorted(words):
        automaton.add_word(word, word)
    automaton.make_automaton()
    found: set[str] = set()
    for text in texts:
        found.update(map(itemgetter(1), automaton.iter(text)))
    return found


def han_of(texts: Iterable[str]) -> set[str]:
    """Return the Han characters (of the basic plane) that stand in texts."""
    seen: set[str] = set()
    for text in texts:
        seen.update(text)
    return {char for char in seen if _FIRST <= ord(char) <= _LAST}


def simple_pairs(han: set[str]) -> str:
    """Return pairs of a traditional character and its simplified form, one after the other.

    A pair is listed when either of the two stands in the index.
    """
    pairs = _simplified().items()
    return "".join(old + new for old, new in pairs if old in han or new in han)


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    """Return the characters of GB 2312, which is what people type."""
    rows = range(0xB0, 0xF8)
    codes = (bytes((row, cell)) for row in rows for cell in range(0xA1, 0xFF))
    return frozenset(code.decode("gb2312", errors="ignore") for code in codes) - {""}


def sounds(han: set[str]) -> list[str]:
    """Return a line for each syllable: its pinyin without tone, a blank, its characters.

    Besides the index's characters it holds those that may be typed in their place.
    """
    import pypinyin  # its tables are slow to load

    by_sound: dict[str, list[str]] = defaultdict(list)
    for char in sorted(han | _common()):
        sound = pypinyin.lazy_pinyin(char, errors="ignore")
        if sound:
            by_sound[sound[0].replace("ü", "v")].append(char)
    return [f"{sound} {''.join(chars)}" for sound, chars in sorted(by_sound.items())]
