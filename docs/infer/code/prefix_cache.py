"""Prefix caches in miniature: hashed pages as in vLLM, a radix tree as in SGLang.

Standard library only; it extends the pool of paged.py and keeps counts, not keys and values.

Usage
    python docs/infer/code/prefix_cache.py    # three prompts through both caches
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from paged import OutOfPagesError, Pool

Chain = Iterable[Hashable]
"""One key for each full page of a prompt; a key stands for its page and all pages before it."""


# --8<-- [start:pool]
@dataclass
class PrefixPool(Pool):
    """A pool whose freed pages keep their contents until someone needs the room."""

    keys: dict[int, Hashable] = field(default_factory=dict)
    found: dict[Hashable, int] = field(default_factory=dict)
    idle: OrderedDict[int, None] = field(default_factory=OrderedDict)

    @property
    def room(self) -> int:
        """Pages that can be had: never used, or idle and to be evicted."""
        return len(self.free) + len(self.idle)

    def take(self) -> int:
        if not self.free and self.idle:  # evict what was idle longest
            page, _ = self.idle.popitem(last=False)
            del self.found[self.keys.pop(page)]
            self.free.append(page)
        return super().take()

    def release(self, page: int) -> None:
        if self.users[page] == 1 and page in self.keys:
            self.users[page] = 0
            self.idle[page] = None
        else:
            super().release(page)

    def keep(self, page: int, key: Hashable) -> None:
        """Let others find a full page; of two with one key the first stays."""
        if key not in self.found:
            self.found[key], self.keys[page] = page, key

    def match(self, chain: Chain) -> list[int]:
        """Return the longest known start of a chain, not yet in use."""
        pages = []
        for key in chain:
            if key not in self.found:
                break
            pages.append(self.found[key])
        return pages

    def share(self, pages: Sequence[int]) -> None:
        """Use pages that match() returned."""
        for page in pages:
            self.users[page] += 1
            self.idle.pop(page, None)

    def unused(self, pages: Sequence[int]) -> int:
        """Return how many of these pages now count as room."""
        return sum(not self.users[page] for page in pages)


# --8<-- [end:pool]


def chain_of(tokens: Sequence[int], page: int = 16) -> list[Hashable]:
    """Return a key per full page: a hash of the page's tokens and of the key before it."""
    keys: list[Hashable] = []
    before: Hashable = None
    for start in range(0, len(tokens) - page + 1, page):
        before = hash((before, tuple(tokens[start : start + page])))
        keys.append(before)
    return keys


def give_back(pool: Pool, table: list[int]) -> None:
    """Release pages from the tail, so that the tail is evicted before the head it hangs on."""
    for page in reversed(table):
        pool.release(page)


@dataclass
class Node:
    """An edge of the radix tree: its tokens, its children by first token, its last use."""

    tokens: tuple[int, ...] = ()
    children: dict[int, Node] = field(default_factory=dict)
    used: int = 0


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many tokens two sequences share from the start."""
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


# --8<-- [start:radix]
@dataclass
class Radix:
    """A tree of token sequences; a request reuses its longest path, to the token."""

    root: Node = field(default_factory=Node)
    clock: int = 0
    size: int = 0

    def insert(self, tokens: Sequence[int]) -> int:
        """Add a sequence; return how many of its tokens were there already."""
        self.clock += 1
        node, rest, hit = self.root, tuple(tokens), 0
        while rest:
            child = node.children.get(rest[0])
            if child is None:
                node.children[rest[0]] = Node(rest, used=self.clock)
                self.size += len(rest)
                break
            same = common(child.tokens, rest)
            if same < len(child.tokens):  # split the edge where they part
                upper = Node(child.tokens[:same], {child.tokens[same]: child}, child.used)
                child.tokens = child.tokens[same:]
                node.children[rest[0]] = child = upper
            child.used = self.clock
            node, rest, hit = child, rest[same:], hit + same
        return hit

    def evict(self, tokens: int) -> int:
        """Drop least recently used leaves until so many tokens are free; return how many."""
        dropped = 0
        while dropped < tokens:
            leaves = [
                (child.used, first, node)
                for node in self.nodes()
                for first, child in node.children.items()
                if not child.children
            ]
            if not leaves:
                break
            _, first, node = min(leaves, key=lambda leaf: leaf[0])
            dropped += len(node.children.pop(first).tokens)
        self.size -= dropped
        return dropped

    # --8<-- [end:radix]

    def nodes(self) -> list[Node]:
        """Return every node."""
        found = [self.root]
        for node in found:
            found.extend(node.children.values())
        return found


def steps() -> list[str]:
    """Return what both caches reuse of three prompts."""
    system = list(range(100, 140))  # 40 tokens: two full pages and a half
    prompts = {
        "A: system + question": system + list(range(200, 215)),
        "B: system + another": system + list(range(300, 320)),
        "C: a date first": [7, *system, *range(200, 215)],
        "A again": system + list(range(200, 215)),
    }
    pool, tree = PrefixPool(64), Radix()
    lines = [f"{'prompt':<22}{'tokens':>7}{'pages hit':>11}{'tree hit':>10}"]
    for name, tokens in prompts.items():
        chain = chain_of(tokens)
        hit = pool.match(chain[: (len(tokens) - 1) // 16])  # the last token must be computed
        pool.share(hit)
        table = hit + [pool.take() for _ in range(-(-len(tokens) // 16) - len(hit))]
        for page, key in zip(table, chain, strict=False):
            pool.keep(page, key)
        give_back(pool, table)
        known = min(tree.insert(tokens), len(tokens) - 1)
        lines.append(f"{name:<22}{len(tokens):>7}{16 * len(hit):>11}{known:>10}")
    lines.append(f"kept: {len(pool.idle)} pages ({16 * len(pool.idle)} tokens), {tree.size} tokens")
    return lines


__all__ = ["OutOfPagesError", "PrefixPool", "Radix", "chain_of", "give_back"]

if __name__ == "__main__":
    print("\n".join(steps()))
