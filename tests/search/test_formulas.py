"""Formulas in results of the search are text that a reader understands."""

from __future__ import annotations

import pytest

from hooks.search.formulas import plain

CASES = {
    r"\(\frac{N-1}{N}\Psi\)": "(N-1)/NΨ",
    r"\[ t = \frac{bytes}{rate},\ \tau \le \alpha \]": "t = bytes/rate, τ≤α",
    r"$M_\text{layer} = sbh\left(34 + 5\,\frac{as}{h}\right)$": "M_layer = sbh(34 + 5 as/h)",
    r"60{,}000 \times 2": "60,000 × 2",
    r"\begin{cases} 1 & x<0 \\ 2 \end{cases}": "1 x<0 2",
}


@pytest.mark.parametrize(("tex", "said"), CASES.items())
def test_formula_is_read_without_commands(tex: str, said: str) -> None:
    assert plain(tex) == said
