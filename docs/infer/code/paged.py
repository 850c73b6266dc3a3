"""A paged allocator for a key-value cache, in miniature: block tables, sharing, copy on write.

Standard library only, no GPU. It keeps counts and tables, not keys and values.

Usage
    python docs/infer/code/paged.py              # tables of three sequences, step by step
    python docs/infer/code/paged.py --serve      # a pool that serves requests by three policies
    python docs/infer/code/paged.py --questions  # answers of the note
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from dataclasses import dataclass, field


class OutOfPagesError(RuntimeError):
    """The pool has no free page: wait, preempt a sequence or evict a cached prefix."""


@dataclass
class Pool:
    """Pages of `page` tokens, each with the number of tables that refer to it."""

    pages: int
    page: int = 16
    free: list[int] = field(init=False)
    users: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.free = list(range(self.pages))[::-1]
        self.users = [0] * self.pages

    def take(self) -> int:
        if not self.free:
            raise OutOfPagesError(f"all {self.pages} pages are in use")
        page = self.free.pop()
        self.users[page] = 1
        return page

    def release(self, page: int) -> None:
        self.users[page] -= 1
        if not self.users[page]:
            self.free.append(page)


@dataclass
class Sequence:
    """The block table of a sequence: logical page i lies in physical page table[i]."""

    pool: Pool
    table: list[int] = field(default_factory=list)
    length: int = 0

    # --8<-- [start:main]
    def append(self, tokens: int = 1) -> None:
        """Make room for tokens; a shared last page is copied before it is written."""
        for _ in range(tokens):
            if self.length % self.pool.page == 0:
                self.table.append(self.pool.take())
            elif self.pool.users[self.table[-1]] > 1:  # copy on write
                own = self.pool.take()
                self.pool.release(self.table[-1])
                self.table[-1] = own
            self.length += 1

    def where(self, token: int) -> tuple[int, int]:
        """Physical page and offset of a token: all that the attention kernel must know."""
        return self.table[token // self.pool.page], token % self.pool.page

    # --8<-- [end:main]

    def fork(self) -> Sequence:
        """Share every page, as parallel sampling does after one prefill."""
        for page in self.table:
            self.pool.users[page] += 1
        return Sequence(self.pool, list(self.table), self.length)

    def finish(self) -> None:
        for page in self.table:
            self.pool.release(page)
        self.table, self.length = [], 0


def steps() -> list[str]:
    """Return a small story: prefill, fork, divergence, end."""
    pool = Pool(8, 4)
    lines = ["pool of 8 pages, 4 tokens each"]

    def show(what: str, **sequences: Sequence) -> None:
        tables = "  ".join(f"{name} {one.table} ({one.length})" for name, one in sequences.items())
        lines.append(f"{what:<24} free {len(pool.free)}  {tables}")

    a = Sequence(pool)
    a.append(6)
    show("A: prefill of 6", A=a)
    b = a.fork()
    show("B: fork of A", A=a, B=b)
    b.append()
    show("B: one token, copied", A=a, B=b)
    a.append(3)
    show("A: three tokens", A=a, B=b)
    c = Sequence(pool)
    c.append(13)
    show("C: prefill of 13", A=a, B=b, C=c)
    try:
        a.append(4)
    except OutOfPagesError as error:
        lines.append(f"A: four tokens            refused: {error}")
    lines.append(f"token 5 of B lies in page {b.where(5)[0]} at {b.where(5)[1]}")
    b.finish()
    show("B: end", A=a, C=c)
    return lines


def lengths(count: int, seed: int) -> list[tuple[int, int]]:
    """Return prompts and outputs, both log-normal, together at most 4096 tokens."""
    draw = random.Random(seed)
    out = []
    for _ in range(count):
        prompt = min(2048, max(1, round(draw.lognormvariate(5.5, 1.0))))
        out.append((prompt, min(4096 - prompt, max(1, round(draw.lognormvariate(5.0, 1.0))))))
    return out


def serve(policy: str, requests: list[tuple[int, int]], tokens: int = 65536) -> dict[str, float]:
    """Decode all requests, a token a step for each running sequence; means while some wait.

    reserve: a slab of 4096 tokens each. exact: a slab of the true length, known only to an oracle.
    paged: pages of 16 tokens as needed; when none is left, the youngest running sequence gives
    its pages back and is queued first, its prompt longer by what it had made: to be prefilled
    again.
    """
    paged, pool, used = policy == "paged", Pool(tokens // 16, 16), 0
    waiting = deque(requests)
    running: list[tuple[int, int, int, Sequence]] = []  # prompt, output, made, table
    steps = crowded = batch = redone = 0
    filled = 0.0

    def slab(prompt: int, output: int) -> int:
        return 4096 if policy == "reserve" else prompt + output

    while waiting or running:
        while waiting:
            prompt, output = waiting[0]
            need, room = slab(prompt, output), tokens - used
            if paged:
                need, room = prompt + 16, len(pool.free) * 16
            if need > room:
                break
            one = Sequence(pool)
            if paged:
                one.append(prompt)
            else:
                used += slab(prompt, output)
            running.append((prompt, output, 0, one))
            waiting.popleft()
        queue, running = deque(running), []
        while queue:
            prompt, output, made, one = queue.popleft()
            while paged and one.table:
                try:
                    one.append()
                    break
                except OutOfPagesError:
                    late = queue.pop() if queue else (prompt, output, made, one)
                    late[3].finish()
                    waiting.appendleft((late[0] + late[2], late[1] - late[2]))
                    redone += late[0] + late[2]
            if paged and not one.table:
                continue  # gave its own pages back
            if made + 1 < output:
                running.append((prompt, output, made + 1, one))
            elif paged:
                one.finish()
            else:
                used -= slab(prompt, output)
        steps += 1
        if waiting:
            crowded += 1
            batch += len(running)
            filled += sum(prompt + made for prompt, _, made, _ in running) / tokens
    return {
        "steps": steps,
        "batch": batch / crowded,
        "useful": filled / crowded,
        "redone": redone / sum(sum(pair) for pair in requests),
    }


def serving() -> list[str]:
    """Return the three policies compared."""
    requests = lengths(1000, 7)
    lines = [f"{'policy':<9}{'steps':>6}{'batch':>8}{'useful':>8}{'redone':>8}"]
    for policy in ("reserve", "exact", "paged"):
        found = serve(policy, requests)
        lines.append(
            f"{policy:<9}{found['steps']:>6.0f}{found['batch']:>8.1f}"
            f"{found['useful']:>8.1%}{found['redone']:>8.1%}"
        )
    return lines


def per_token(layers: int, kv_heads: int, width: int, each: float = 2) -> float:
    """Bytes a token of MHA, GQA or MQA."""
    return 2 * layers * kv_heads * width * each


def questions() -> list[str]:
    """Return the answers of the note."""
    llama = per_token(80, 8, 128)
    mla = 61 * (512 + 64) * 2
    heads = 61 * 128 * (192 + 128) * 2
    free = 4 * 85.02e9 * 0.9 - 70.55e9 * 2
    read = 16 * 8192 * llama / 4
    weights = 70.55e9 * 2 / 4
    big = per_token(126, 8, 128)
    return [
        f"Q1 {llama:.0f} B = {llama / 1e3:.2f} kB = {llama / 1024:.0f} KiB; "
        f"8192 tokens {8192 * llama / 1e9:.3f} GB = {8192 * llama / 2**30:.2f} GiB",
        f"Q2 free {free / 1e9:.1f} GB: {int(free // (8192 * llama))} sequences of 8192",
        f"Q3 cached {mla} B, counted per head {heads} B: {heads / mla:.1f}x; "
        f"GQA-8 of Llama 3.1 405B {big:.0f} B, {big / mla:.2f}x MLA",
        f"Q4 cache {read / 1e9:.2f} GB, weights {weights / 1e9:.2f} GB a GPU: "
        f"{(read + weights) / 3352e9 * 1e3:.2f} ms, cache {read / (read + weights):.0%}",
        f"Q5 pages of 16: at most 15 tokens wasted, on average 7.5: "
        f"{7.5 / 512:.1%} of 512; one page of 4096: {1 - 512 / 4096:.1%}",
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A paged key-value cache in miniature.")
    parser.add_argument("--serve", action="store_true", help="compare three policies")
    parser.add_argument("--questions", action="store_true", help="answers of the note")
    options = parser.parse_args()
    show = serving if options.serve else questions if options.questions else steps
    print("\n".join(show()))
