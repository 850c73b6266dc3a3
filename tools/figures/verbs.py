"""Draw the traces of the verbs simulator as sequence diagrams into docs/link/infiniband/figures.

`traces/NAME.json` becomes `seq-NAME.svg`. Time runs downwards, a row for each event, not to scale;
each event is a step. What a row is shows in its shape: a packet is a solid arrow, what happens
inside a host a dashed one, a drop ends in a cross; completions, states, timers, memory and errors
stand in boxes.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import PAD, Label, colour, figure, num, step, text

VOLUME = figure_files.ROOT / "docs/link/infiniband"
FOLDER = VOLUME / "figures"
TRACES = VOLUME / "traces"
KINDS = ("post", "packet", "drop", "state", "cqe", "timer", "memory", "error")
FILLS = {
    "post": "paper",
    "state": "switch",
    "cqe": "gpu",
    "timer": "cpu",
    "memory": "memory",
    "error": "paper",
}
SIZE = 13
SMALL = 12
PITCH, LEAST, MOST = 78, 320, 760
"""Units between two lanes; the least and the greatest width of a figure."""
GAP, LINE = 12, 16
"""Units between two rows; height of a line of text."""
HEAD = 40
AGAIN = 440
"""After so many units the lanes are named again: on a screen their heads have scrolled away."""
LEGEND: Label = ("实线：网络上的包；虚线：主机内", "solid: on the network; dashed: in the host")


def text_width(said: str, size: float) -> float:
    """Return the width of a line; names in capitals, such as of status codes, need more."""
    return pen.text_width(said, size) + 0.13 * size * sum(one.isupper() for one in said)


def widest(said: Label, size: float) -> float:
    """Return the width that a label needs in either language."""
    return max(text_width(one, size) for one in ([said] if isinstance(said, str) else said))


def pair(both: dict[str, str]) -> tuple[str, str]:
    """Return a text of the trace as a label."""
    return both["zh"], both["en"]


def label(both: dict[str, str]) -> Label:
    """Return a text of the trace; one string where the languages agree."""
    zh, en = pair(both)
    return zh if zh == en else (zh, en)


def halves(said: str, room: float, size: float) -> list[str]:
    """Return a text in one line, or in two that fit; the break is at a blank, else anywhere.

    Raises:
        ValueError: It does not fit into two lines.
    """
    if text_width(said, size) <= room:
        return [said]
    blanks = [n for n, one in enumerate(said) if one == " "] or list(range(1, len(said)))
    ways = [[said[:n].strip(), said[n:].strip()] for n in blanks]
    best = min(ways, key=lambda way: max(text_width(one, size) for one in way))
    if any(text_width(one, size) > room for one in best):
        raise ValueError(f"'{said}' does not fit into two lines of {room:.0f} units; shorten it")
    return best


def lines(said: Label, room: float, size: float = SIZE) -> list[Label]:
    """Return a label in as many lines as its longer language needs."""
    zh, en = (said, said) if isinstance(said, str) else said
    rows_zh, rows_en = halves(zh, room, size), halves(en, room, size)
    count = max(len(rows_zh), len(rows_en))
    rows_zh += [""] * (count - len(rows_zh))
    rows_en += [""] * (count - len(rows_en))
    return [a if a == b else (a, b) for a, b in zip(rows_zh, rows_en, strict=True)]


def stamp(time: float) -> str:
    """Return a time in µs, to a hundredth, as short as it goes."""
    return f"{time:,.2f}".rstrip("0").rstrip(".")


def shape(event: dict[str, Any]) -> str:
    """Return the kind that an event is drawn as: a completion with an error is an error."""
    is_bad = event["kind"] == "cqe" and "ERR" in event["label"]["en"]
    return "error" if is_bad else str(event["kind"])


class Sequence:
    """One diagram: where its lanes are, and its rows from top to bottom."""

    def __init__(self, trace: dict[str, Any]) -> None:
        """Place the lanes of a trace."""
        self.trace = trace
        events = trace["events"]
        lanes = trace["lanes"]
        self.stamps = max([text_width(stamp(one["t"]), SMALL) for one in events] + [30]) + 10
        self.width = max(LEAST, self.stamps + PITCH * len(lanes) + 4)
        if self.width > MOST:
            raise ValueError(f"{len(lanes)} lanes need {self.width:.0f} units; there are {MOST}")
        pitch = (self.width - self.stamps - 4) / len(lanes)
        self.room = pitch - 6
        self.x = {lane["id"]: self.stamps + pitch * (n + 0.5) for n, lane in enumerate(lanes)}
        self.y = HEAD + GAP + 4.0
        self.last = ""

    def middle(self, x: float, half: float) -> float:
        """Return the nearest centre at which something so wide stays inside the figure."""
        return min(max(x, self.stamps + half), self.width - 3 - half)

    def heads(self, y: float) -> list[str]:
        """Return the boxes that name the lanes, from y on."""
        unit = text(self.stamps - 8, y + HEAD / 2 + 4, "µs", size=SMALL, anchor="end", tint="muted")
        pieces = [unit]
        for lane in self.trace["lanes"]:
            x, rows = self.x[lane["id"]], lines(label(lane["title"]), self.room - 2 * PAD, SMALL)
            box = f'x="{num(x - self.room / 2)}" y="{num(y + 2)}" width="{num(self.room)}"'
            look = f'rx="3" fill="{colour("storage")}" stroke="{colour("ink")}"'
            pieces.append(f'<rect {box} height="{HEAD - 2}" {look}/>')
            top = y + HEAD / 2 + 5.5 - 7.5 * (len(rows) - 1)
            pieces += [text(x, top + 15 * n, one, size=SMALL) for n, one in enumerate(rows)]
        return pieces

    def life_lines(self) -> list[str]:
        """Return the lines of the lanes, from the heads to the last row."""
        return [pen.line(x, HEAD, x, self.y, "line", 1, "1 3") for x in self.x.values()]

    def row(self, event: dict[str, Any]) -> list[str]:
        """Return the drawing of an event, and move on to the next row."""
        if event["kind"] not in KINDS:
            raise ValueError(f"'{event['kind']}' is no kind of event; there are {', '.join(KINDS)}")
        now = stamp(event["t"])
        pieces = []
        if now != self.last:
            y = self.y + LINE - 3
            pieces.append(text(self.stamps - 8, y, now, size=SMALL, anchor="end", tint="muted"))
        self.last = now
        is_arrow = event["to"] is not None and event["to"] != event["from"]
        x = self.x[event["from"]]
        return pieces + (self.arrow(event) if is_arrow else self.box(event, x))

    def arrow(self, event: dict[str, Any]) -> list[str]:
        """Return an arrow between lanes with its label above: plain, or in the box of its kind."""
        a, b = self.x[event["from"]], self.x[event["to"]]
        kind = event["kind"]
        is_packet = kind in ("packet", "drop")
        if is_packet or kind == "post":
            pieces = self.words(event, (a + b) / 2)
        else:
            pieces = self.box(event, (a + b) / 2)
            self.y += 4 - GAP
        tint = "ink" if is_packet else "pcie"
        y, end = self.y + 3, self.y + (9 if is_packet else 3)
        if kind == "drop":
            b, end = a + (b - a) * 0.6, y + (end - y) * 0.6
        pieces.append(pen.line(a, y, b, end, tint, 1.8, "" if is_packet else "5 3"))
        if kind == "drop":
            cross = f"M{num(b - 6)} {num(end - 6)}l12 12m0 -12l-12 12"
            pieces.append(pen.path(cross, tint, 2.5))
        else:
            back = -9 if b > a else 9
            wings = ((b + back, end - 5), (b + back, end + 4))
            pieces.append(pen.head((b, end), *wings, tint=tint))
        self.y += 10 + GAP
        return pieces

    def words(self, event: dict[str, Any], x: float) -> list[str]:
        """Return a label without a box, on a plate that hides the life lines behind it."""
        rows = lines(label(event["label"]), self.width - self.stamps - 10)
        half = max(widest(one, SIZE) for one in rows) / 2 + 3
        x = self.middle(x, half)
        plate = f'x="{num(x - half)}" y="{num(self.y)}" width="{num(2 * half)}"'
        pieces = [f'<rect {plate} height="{LINE * len(rows)}" fill="{colour("paper")}"/>']
        for one in rows:
            pieces.append(text(x, self.y + LINE - 4, one, size=SIZE))
            self.y += LINE
        return pieces

    def box(self, event: dict[str, Any], x: float) -> list[str]:
        """Return a label in a box whose edge and sign say of which kind it is."""
        kind = shape(event)
        left = 20 if kind in ("timer", "error", "cqe", "drop") else 6
        rows = lines(label(event["label"]), self.width - self.stamps - 12 - left)
        width = max(widest(one, SIZE) for one in rows) + left + 8
        height = LINE * len(rows) + 6
        x = self.middle(x, width / 2) - width / 2
        y = self.y
        radius = {"state": 11, "post": 0}.get(kind, 3)
        edge = 3 if kind == "error" else 1.3
        pieces = [pen.rect(x, y, width, height, FILLS.get(kind, "paper"), rx=radius, edge=edge)]
        mark = self.mark(kind, x, y, width, height)
        if mark:
            pieces.append(pen.path(mark, width=max(edge - 1, 1.3)))
        centre = x + left + (width - left - 8) / 2 + 1
        pieces += [
            text(centre, y + LINE - 0.5 + LINE * n, one, size=SIZE) for n, one in enumerate(rows)
        ]
        self.y += height + GAP
        return pieces

    @staticmethod
    def mark(kind: str, x: float, y: float, width: float, height: float) -> str:
        """Return the sign of a kind inside its box, as a path."""
        middle = y + height / 2
        if kind == "timer":  # a clock
            circle = f"M{num(x + 5)} {num(middle)}a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0"
            return f"{circle}M{num(x + 10.5)} {num(middle - 4)}v4h3"
        if kind in ("error", "drop"):  # a cross
            return f"M{num(x + 7)} {num(middle - 4)}l8 8m0 -8l-8 8"
        if kind == "cqe":  # a tick
            return f"M{num(x + 6)} {num(middle)}l4 4l6 -8"
        if kind == "memory":  # the stripes of memory
            bottom = num(y + height)
            return "".join(f"M{num(x + width * n / 8)} {bottom}v-4" for n in range(1, 8))
        return ""


def draw(trace: dict[str, Any]) -> str:
    """Return the diagram of a trace."""
    sequence = Sequence(trace)
    heads, steps = sequence.heads(0), []
    named, last = 0.0, len(trace["events"])
    for number, event in enumerate(trace["events"], 1):
        steps.append(step(number, pair(event["note"]), *sequence.row(event)))
        if sequence.y - named > AGAIN and last - number > 3:
            named = sequence.y
            heads += sequence.heads(named)
            sequence.y += HEAD + GAP
    foot = sequence.y + 14
    titles = ", ".join(lane["title"]["en"] for lane in trace["lanes"])
    told = "; ".join(f"{n}. {one['label']['en']}" for n, one in enumerate(trace["events"], 1))
    legend = lines(LEGEND, sequence.width - 8, SMALL)
    return figure(
        sequence.width,
        foot + 15 * len(legend) - 8,
        trace["title"]["en"],
        f"Sequence diagram with the lanes {titles}, time downwards: {told}.",
        *sequence.life_lines(),
        *heads,
        *steps,
        *(
            text(sequence.width / 2, foot + 15 * n, one, size=SMALL, tint="muted")
            for n, one in enumerate(legend)
        ),
    )


def draw_file(path: Path) -> str:
    """Return the diagram of a trace's file."""
    trace: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return draw(trace)


FIGURES = {
    f"seq-{path.stem}.svg": partial(draw_file, path) for path in sorted(TRACES.glob("*.json"))
}
