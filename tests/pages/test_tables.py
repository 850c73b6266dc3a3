"""What a screen reader hears of a table."""

from hooks.pages import tables


def test_an_empty_corner_is_no_heading() -> None:
    head = '<thead><tr><th></th><th style="text-align: right;"></th><th>GPU</th></tr></thead>'
    assert tables.free_corners(head) == (
        '<thead><tr><td></td><td style="text-align: right;"></td><th>GPU</th></tr></thead>'
    )
