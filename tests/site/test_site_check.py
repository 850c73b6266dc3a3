"""The check of built pages sees what browsers see, in whichever way it got there."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.site.check import check_site, read_page
from tests.samples import lay


def site_with(tmp_path: Path, body: str) -> Path:
    files = {
        "a.html": f"<!doctype html><html><body><h1 id='top-a'>A</h1>{body}</body></html>",
        "en/b.html": "<h1 id='b'>B</h1><h2 id='显存-带宽'>x</h2><a name='old'></a>",
        "index.html": "<p>home</p>",
        "style.css": "p{background:url(img/x.png)}",
        "img/x.png": "",
        "中 文.pdf": "",
    }
    return lay(tmp_path, files)


@pytest.mark.parametrize(
    ("body", "rule", "suggestion"),
    [
        ('<a href="en/c.html">x</a>', "built-dead-link", "en/b.html"),
        ('<a href="en/b.html#nope">x</a>', "built-dead-anchor", ""),
        ('<a href="#top-b">x</a>', "built-dead-anchor", "top-a"),
        ('<a href="https://h.example/base/en/zz.html">x</a>', "built-dead-link", "en/b.html"),
        ('<img src="img/y.png" alt="">', "built-dead-link", ""),
        ('<img srcset="img/x.png 1x, img/y.png 2x" alt="">', "built-dead-link", ""),
        ('<video poster="img/y.png"></video>', "built-dead-link", ""),
        ('<script src="https://cdn.example/x.js"></script>', "third-party", ""),
        ('<script src="//cdn.example/x.js"></script>', "third-party", ""),
        ('<link rel="stylesheet" href="https://fonts.example/x.css">', "third-party", ""),
        ('<link rel="preconnect" href="https://fonts.example">', "third-party", ""),
        ('<img src="https://h.other/x.png" alt="">', "third-party", ""),
        ('<p id="x"></p><p id="x"></p>', "duplicate-id", ""),
    ],
)
def test_reported(tmp_path: Path, body: str, rule: str, suggestion: str) -> None:
    found = check_site(site_with(tmp_path, body), site_url="https://h.example/base/")
    assert [(one.rule, one.suggestion) for one in found] == [(rule, suggestion)]
    assert found[0].file == "site/a.html"


@pytest.mark.parametrize(
    "body",
    [
        '<a href="en/b.html#b">x</a> <a href="#top-a">x</a> <a href="#">x</a> <a href="#top">x</a>',
        '<a href="en/b.html#%E6%98%BE%E5%AD%98-%E5%B8%A6%E5%AE%BD">x</a>',
        '<a href="en/b.html#old">x</a>',
        '<a href="%E4%B8%AD%20%E6%96%87.pdf#page=3">x</a>',
        '<a href="https://elsewhere.example/x#y">x</a> <a href="mailto:a@b.c">x</a>',
        '<a href="/base/en/b.html#b">x</a> <a href="https://h.example/base/en/b.html">x</a>',
        '<a href="./">x</a> <a href=".">x</a>',
        '<img src="data:image/png;base64,AA==" alt="">',
        '<link rel="canonical" href="https://h.example/base/a.html">',
        "<pre>&lt;a href='nope.html'&gt;</pre>",
    ],
)
def test_valid_forms_pass(tmp_path: Path, body: str) -> None:
    assert check_site(site_with(tmp_path, body), site_url="https://h.example/base/") == []


def test_style_sheets_are_read_too(tmp_path: Path) -> None:
    site = site_with(tmp_path, "")
    (site / "style.css").write_text(
        "@import 'https://a.example/x.css';p{background:url('img/none.png')}", encoding="utf-8"
    )
    assert {one.rule for one in check_site(site)} == {"third-party", "built-dead-link"}


def test_spare_formats_of_a_font_may_be_missing(tmp_path: Path) -> None:
    site = site_with(tmp_path, "")
    rule = "@font-face{{src:url({}) format('woff2'),url(no.woff) format('woff')}}"
    (site / "style.css").write_text(rule.format("img/x.png"), encoding="utf-8")
    assert check_site(site) == []
    (site / "style.css").write_text(rule.format("img/none.woff2"), encoding="utf-8")
    assert [one.target for one in check_site(site)] == ["img/none.woff2"]


@pytest.mark.parametrize(
    ("to", "dead"), [("en/b.html#b", 0), ("https://h.example/base/a.html", 0), ("gone.html", 1)]
)
def test_redirects_lead_to_a_page(tmp_path: Path, to: str, dead: int) -> None:
    site = site_with(tmp_path, "")
    html = f'<meta http-equiv="refresh" content="1; url={to}"><p>moved</p>'
    (site / "x.html").write_text(html, encoding="utf-8")
    found = check_site(site, site_url="https://h.example/base/")
    assert [one.rule for one in found] == ["built-dead-link"] * dead


def test_a_page_that_is_not_utf8_is_read_all_the_same(tmp_path: Path) -> None:
    site = site_with(tmp_path, "")
    (site / "x.html").write_bytes(b'<p>caf\xe9</p><a href="gone.html">x</a>')
    assert [one.target for one in check_site(site)] == ["gone.html"]


def elements(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return every element of a page as the parser has it, in order."""
    return [(node.tag or "", node.attributes) for node in LexborHTMLParser(html).css("*")]


@pytest.mark.parametrize(
    ("html", "repeated"),
    [
        ("<p id=a></p><p id=b></p><p id=a></p>", ["a"]),
        ("<a id=x name=x></a>", []),
        ("<a id=x name=x></a><p id=x></p>", ["x"]),
        ("<a name=x></a><p id=x></p>", ["x"]),
        ("<p id=x></p><a name=x></a>", []),
        ("<a name=x></a><a name=x></a>", []),
        ("<a id=x name=y></a><p id=y></p>", ["y"]),
        ("<p id></p><p id=''></p><a name></a>", []),
        ("<svg><a id=x href='#x'><text id=x></text></a></svg>", ["x"]),
        ("<svg><a xlink:href='#x' name=x></a><a href></a></svg><p id=x></p>", ["x"]),
        ("<p ID=x></p><P Id=x></P>", ["x"]),
        ("<template><p id=x></p></template><p id=x></p>", []),
        ("<a id=x href=a><a id=x href=b>", ["x"]),
        ("<area id=x href=a><link id=x href=b rel=stylesheet><img id=x src=c>", ["x"]),
    ],
)
def test_every_element_is_seen_once(html: str, repeated: list[str]) -> None:
    page = read_page("a.html", html)
    assert sorted(page.repeated_ids) == repeated
    there = elements(html)
    named = [one["name"] for tag, one in there if tag == "a" and one.get("name")]
    assert page.ids == {one["id"] for _, one in there if one.get("id")} | set(named)
    asked = [str(one["href"]) for tag, one in there if tag in ("a", "area") and one.get("href")]
    assert sorted(page.links) == sorted(asked)


def test_what_a_page_loads_is_seen_once() -> None:
    html = (
        '<link rel="icon stylesheet" href=i.png><link rel=canonical href=c.html><link href>'
        '<img src=a.png srcset="b.png 1x, c.png 2x"><IMG SRC=a.png><img src><object data=o.svg>'
        "<video src=v.mp4 poster=p.png><source src=s.mp4></video><audio src=u.mp3></audio>"
        "<iframe src=f.html></iframe><embed src=e.svg><script src=j.js></script>"
        "<meta http-equiv=Refresh content='0; url=z.html'><meta http-equiv>"
    )
    page = read_page("a.html", html)
    assert sorted(page.loads) == sorted(
        "i.png a.png b.png c.png a.png o.svg v.mp4 p.png s.mp4 u.mp3 f.html e.svg j.js".split()
    )
    assert page.links == ("c.html", "z.html")


def test_one_address_is_another_file_in_another_folder(tmp_path: Path) -> None:
    """Addresses are remembered by folder, and those of a page itself not at all."""
    link = '<a href="x.html#one">x</a> <a href="#own">y</a> <a href="?q#own">z</a>'
    pages = {
        "a/x.html": "<p id=one></p>",
        "a/y.html": link,
        "a/z.html": link + "<p id=own></p>",
        "b/y.html": link,
        "b/x.html": "<p id=own></p>" + link,
    }
    lay(tmp_path, pages)
    found = [(one.file, one.target) for one in check_site(tmp_path)]
    assert found == [
        ("site/a/y.html", "#own"),
        ("site/a/y.html", "?q#own"),
        ("site/b/x.html", "x.html#one"),
        ("site/b/y.html", "#own"),
        ("site/b/y.html", "?q#own"),
        ("site/b/y.html", "x.html#one"),
    ]
