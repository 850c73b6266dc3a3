"""One word for one thing: the forms of a term that Chinese notes do not write.

A reader who meets 组播 in one note and 多播 in the next looks for a difference. The data file of
terms says which form is written; here the others are found in the prose of notes. Code, links'
targets and what stands in quotation marks may hold any form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hooks.data import Term
from hooks.findings import Finding
from hooks.notes import Note

RULE = "term-form"
_MASKED = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\]\([^)]*\)|“[^”]*”|「[^」]*」|<!--.*?-->")


def check_note(note: Note, groups: Sequence[Term]) -> Iterator[Finding]:
    """Report each form to avoid in the prose of a Chinese note, with the form to write."""
    written = {form: group.zh[0] for group in groups if group.zh for form in group.avoid}
    if note.language != "zh" or not written:
        return
    whole = [form for group in groups for form in group.zh]
    longest = sorted({*written, *whole}, key=len, reverse=True)
    forms = re.compile("|".join(re.escape(form) for form in longest))
    fenced = {
        number
        for fence in note.source.fences
        for number in range(fence.line, fence.line + fence.text.count("\n") + 1)
    }
    for number, line in enumerate(note.text.split("\n"), 1):
        shown = "" if number in fenced else _MASKED.sub(lambda one: " " * len(one[0]), line)
        for match in forms.finditer(shown):
            form = match.group()
            if form in written:
                message = f"'{form}' is not the form that notes write"
                place = (note.file, number, match.start() + 1)
                yield Finding(*place, RULE, message, target=form, suggestion=written[form])
