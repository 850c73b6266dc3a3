"""Pages as parts of a book: links within it, figures as files, nothing that needs a script."""

from __future__ import annotations

import pytest

from hooks.site.book import Book, volume

HERE = "en/a/b.html"
FIGURE = (
    '<svg class="f" aria-label="Two boxes" viewBox="0 0 4 5">'
    '<rect fill="var(--fig-ink, #123)"/></svg>'
)


def made(inner: str, **options: str) -> tuple[str, Book]:
    drawings = {"graph LR": '<svg xmlns="http://www.w3.org/2000/svg"/>'}
    book = Book({HERE: 0, "en/a/c.html": 1}, options.get("site_url", ""), drawings)
    return book.page(HERE, f"<article>{inner}</article>"), book


@pytest.mark.parametrize(
    ("inner", "shown"),
    [
        (
            '<h1 id="x">T<a class="headerlink">p</a></h1>',
            '<h1 id="p0-x"><span id="p0"></span>T</h1>',
        ),
        ('<a href="c.html#y">c</a>', '<a href="#p1-y">c</a>'),
        ('<a href="c.html">c</a>', '<a href="#p1">c</a>'),
        ('<a href="#y">c</a>', '<a href="#p0-y">c</a>'),
        ('<a href="../d.html">d</a>', "<a>d</a>"),
        ('<a href="https://x.org/">x</a>', '<a href="https://x.org/">x</a>'),
        ("<details open><summary>S</summary>x</details>", "<div><p><strong>S</strong></p>x</div>"),
        ("<p>x</p><script>y</script><button>z</button>", "<p>x</p>"),
        ('<pre><span>a &lt;</span><a id="l"></a>b</pre>', "<pre><code>a &lt;b</code></pre>"),
        ("<svg><path/></svg>x", "x"),
    ],
)
def test_a_page_becomes_part_of_a_book(inner: str, shown: str) -> None:
    assert made(inner)[0] == shown


def test_links_out_of_the_book_need_the_address_of_the_site() -> None:
    text, _ = made('<a href="../d.html#e">d</a>', site_url="https://x.org/")
    assert text == '<a href="https://x.org/en/d.html#e">d</a>'


def test_figures_and_diagrams_are_files_without_variables() -> None:
    text, book = made(f'{FIGURE}<pre class="mermaid"><code>graph LR\n</code></pre>')
    assert text.count("<img ") == len(book.files) == 2
    assert 'alt="Two boxes"' in text
    figure = next(svg for svg in book.files.values() if "rect" in svg)
    assert 'fill="#123"' in figure
    assert 'xmlns="http://www.w3.org/2000/svg"' in figure
    assert 'width="4" height="5"' in figure


def test_volume_says_its_language() -> None:
    assert '<html lang="zh-CN">' in volume("A & B", "zh", ["x"])
    assert "<title>A &amp; B</title>" in volume("A & B", "zh", ["x"])
