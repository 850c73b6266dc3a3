"""The topology decoder of the page: the same records as the program, and kind to its reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Locator, Page, expect
from py_mini_racer import MiniRacer

from tests.browser import waiting
from tests.browser.conftest import Window
from tests.programs.test_topo_decode import LANGUAGES, MESSAGES, ROOT, SAMPLES, InputError, decode

SCRIPT = ROOT / "docs/assets/javascripts/topo-decoder.js"
PROBE = """function probe(text, language) {
  try {
    return JSON.stringify({record: topoDecoder.decode(text, language)});
  } catch (error) {
    if (error instanceof topoDecoder.InputError) {
      return JSON.stringify({error: error.message});
    }
    return JSON.stringify({crash: String(error && error.stack)});
  }
}"""
Answer = dict[str, Any]
Probe = Callable[[str, str], Answer]


def expected(text: str, language: str) -> Answer:
    """What the Python program answers, as JSON has it."""
    try:
        answer: Answer = {"record": decode(text, language)}
    except InputError as error:
        answer = {"error": str(error)}
    result: Answer = json.loads(json.dumps(answer))
    return result


@pytest.fixture(scope="module")
def probe() -> Iterator[Probe]:
    """The script in an engine without a page."""
    with MiniRacer() as engine:
        engine.eval(SCRIPT.read_text(encoding="utf-8"))
        engine.eval(PROBE)

        def ask(text: str, language: str) -> Answer:
            answer: Answer = json.loads(str(engine.call("probe", text, language)))
            return answer

        yield ask


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", SAMPLES)
def test_same_record_of_every_sample(name: str, language: str, probe: Probe) -> None:
    text = SAMPLES[name].read_text(encoding="utf-8")
    assert probe(text, language) == expected(text, language)


def test_same_messages() -> None:
    with MiniRacer() as engine:
        engine.eval(SCRIPT.read_text(encoding="utf-8"))
        messages = json.loads(str(engine.eval("JSON.stringify(topoDecoder.messages)")))
    assert messages == {key: list(texts) for key, texts in MESSAGES.items()}


CODES = st.sampled_from("NV1 NV2 NV18 PIX PXB PHB NODE SYS SOC X WAT N/A".split())
BLANKS = st.sampled_from(["\t", "    ", " ", "\u00a0", "\u3000"])


@st.composite
def matrices(draw: st.DrawFn) -> str:
    """Matrices of odd machines: one-sided cells, lost rows, lost blanks, no affinity."""
    gpus = [f"GPU{i}" for i in range(draw(st.integers(1, 6)))]
    nics = draw(st.lists(st.sampled_from("NIC0 NIC1 NIC2 mlx5_0 mlx5_3 ib0".split()), unique=True))
    names = gpus + nics
    if draw(st.integers(0, 5)) == 0:
        names = draw(st.permutations(names))
    titles = draw(st.sampled_from([[], ["CPU Affinity"], ["CPU Affinity", "NUMA Affinity"]]))
    blank = draw(BLANKS)
    codes = {frozenset((a, b)): draw(CODES) for i, a in enumerate(names) for b in names[i + 1 :]}
    lines = [blank + blank.join([*names, *titles])]
    for a in names:
        cells = [" X " if a == b else codes[frozenset((a, b))] for b in names]
        if draw(st.integers(0, 7)) == 0:
            cells[draw(st.integers(0, len(cells) - 1))] = draw(CODES)
        cells = cells[: draw(st.integers(0, len(cells)))] if draw(st.integers(0, 9)) == 0 else cells
        numa = draw(st.sampled_from(["", "0", "1", "0-1", "N/A"]))
        tail = ["0-7", numa][: len(titles)] if a.startswith("GPU") else []
        glue = "" if draw(st.integers(0, 19)) == 0 else blank
        if draw(st.integers(0, 12)):
            lines.append(a + blank + glue.join(cells) + blank + blank.join(tail))
    legend = draw(st.sampled_from(["", "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_bond_1\n"]))
    return "\n".join(lines) + "\n" + legend


ATTRIBUTES = {
    "host_hash": st.sampled_from(["0x1", "0x2"]),
    "numaid": st.sampled_from(["0", "1", "-1"]),
    "arch": st.sampled_from(["x86_64", "arm64", "ppc64"]),
    "vendor": st.sampled_from(["GenuineIntel", "AuthenticAMD", "0x1000", "CentaurHauls"]),
    "familyid": st.sampled_from(["6", "7"]),
    "modelid": st.sampled_from(["79", "85", "143", "207", "91"]),
    "device": st.sampled_from(["0xc010", "0xc030"]),
    "subsystem_vendor": st.sampled_from(["0x1000", "0x10de"]),
    "subsystem_device": st.sampled_from(["0xa096", "0x0100", "0x1100", "-1"]),
    "busid": st.sampled_from([f"0000:0{i}:00.0" for i in range(6)]),
    "class": st.sampled_from(["0x060400", "0x030200", "0x020700"]),
    "link_speed": st.sampled_from(["32.0 GT/s PCIe", "2.5 GT/s", "Unknown", ""]),
    "link_width": st.sampled_from(["16", "8", "1", "0", ""]),
    "dev": st.sampled_from(["0", "1", "0x2", "?"]),
    "sm": st.sampled_from(["70", "86", "90", "100"]),
    "gdr": st.sampled_from(["0", "1"]),
    "name": st.sampled_from(["mlx5_0", "mlx5_1", "__proto__", "<b>"[1:2], "网卡"]),
    "speed": st.sampled_from(["400000", "250000", "-1"]),
    "target": st.sampled_from([f"0000:0{i}:00.0" for i in range(6)] + ["fffffff:ffff:ff"]),
    "count": st.sampled_from(["1", "2", "18", "0"]),
    "tclass": st.sampled_from(["0x030200", "0x068000", "0x068001"]),
    "bw": st.sampled_from(["44712", "0"]),
    "id": st.sampled_from(["0", "1", "7"]),
    "pattern": st.sampled_from(["4", "1", "9"]),
    "nchannels": st.sampled_from(["0", "1", "12"]),
    "speedintra": st.sampled_from(["0.1", "30", "20.5"]),
    "typeintra": st.sampled_from(["NVL", "PHB", "SYS", "constructor"]),
    "typeinter": st.sampled_from(["PIX", "SYS", ""]),
}
SHAPES = {
    "system": ("cpu", ""),
    "cpu": ("pci nic", "host_hash numaid arch vendor familyid modelid"),
    "pci": (
        "pci pci gpu nic",
        "busid class vendor device subsystem_vendor subsystem_device link_speed link_width",
    ),
    "gpu": ("nvlink nvlink c2c", "dev sm gdr"),
    "nic": ("net", ""),
    "net": ("", "name dev speed gdr"),
    "nvlink": ("", "target count tclass"),
    "c2c": ("", "bw count"),
    "graphs": ("graph", ""),
    "graph": ("channel", "id pattern nchannels speedintra typeintra typeinter"),
    "channel": ("gpu net", ""),
}


@st.composite
def elements(draw: st.DrawFn, name: str, depth: int = 0) -> str:
    """Files with any attribute missing and any element where it may stand."""
    inside, attributes = SHAPES[name]
    written = "".join(
        f' {key}="{draw(ATTRIBUTES[key])}"' for key in attributes.split() if draw(st.integers(0, 7))
    )
    count = draw(st.integers(0, 4)) if inside and depth < 6 else 0
    kinds = [draw(st.sampled_from(inside.split())) for _ in range(count)]
    children = "\n".join(draw(elements(kind, depth + 1)) for kind in kinds)
    return f"<{name}{written}>{children}</{name}>" if children else f"<{name}{written}/>"


garbage = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=" \t\n<>/=\"'!-?aAGPUXNV0189:_&;\u3000\ufeff\x1b[m😀", max_size=80),
    st.text(alphabet='<>/ a="\n', max_size=40).map(lambda text: "<system" + text),
    st.text(max_size=20).map(lambda text: "GPU0 GPU1\nGPU0 X " + text),
)
many = settings(
    max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


@many
@given(text=matrices(), language=st.sampled_from(LANGUAGES))
def test_same_record_of_random_matrices(text: str, language: str, probe: Probe) -> None:
    assert probe(text, language) == expected(text, language)


@pytest.mark.slow
@many
@given(text=st.one_of(elements("system"), elements("graphs")), language=st.sampled_from(LANGUAGES))
def test_same_record_of_random_files(text: str, language: str, probe: Probe) -> None:
    assert probe(text, language) == expected(text, language)


@many
@given(text=garbage, language=st.sampled_from(LANGUAGES))
def test_same_answer_to_garbage(text: str, language: str, probe: Probe) -> None:
    assert probe(text, language) == expected(text, language)


# ------------------------------------------------------------------ in a browser

PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8"><title>t</title>
<h1>t</h1><div class="topo-decoder" markdown="1"><p>FALLBACK</p></div>
<div class="topo-decoder"></div><script src="{script}"></script></html>"""


@pytest.fixture
def open_page(window: Window, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    """Open a page with two decoders from a file, as the offline handbook is read."""

    def open_it(language: str) -> Page:
        path = tmp_path / f"{language}.html"
        html = PAGE.format(language=language, script=SCRIPT.as_uri())
        path.write_text(html, encoding="utf-8")
        page = window("file:", viewport={"width": 390, "height": 800}).new_page()
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else fail(page))
        page.goto(path.as_uri())
        return page

    def fail(page: Page) -> None:
        pytest.fail(f"{page.url} asked for something from elsewhere")

    yield open_it


def explain(page: Page, text: str) -> Locator:
    """Paste a text into the first decoder, press its button, return its status line."""
    tool = page.locator(".topo-decoder").first
    tool.locator("textarea").fill(text)
    tool.locator("button").first.click()
    return tool.locator("[role=status]")


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_page_decodes_every_sample_like_the_program(
    language: str, open_page: Callable[[str], Page]
) -> None:
    page = open_page(language)
    for path in SAMPLES.values():
        text = path.read_text(encoding="utf-8")
        answer = page.evaluate(f"([text, language]) => ({PROBE})(text, language)", [text, language])
        assert json.loads(answer) == expected(text, language), path.name


@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "button", "done", "count", "finding", "warning"),
    [
        ("zh", "解读", "已解读", "GPU 8 块，网卡 1 张", "要跨 NUMA 节点", "警告"),
        ("en", "Explain", "Done", "GPUs: 8, NICs: 1", "cross NUMA nodes", "Warning"),
    ],
)
def test_page_explains_in_its_language(
    language: str,
    button: str,
    done: str,
    count: str,
    finding: str,
    warning: str,
    open_page: Callable[[str], Page],
) -> None:
    page = open_page(language)
    tool = page.locator(".topo-decoder").first
    expect(tool.locator("button").first).to_have_text(button)
    expect(tool).not_to_contain_text("FALLBACK")
    expect(tool.locator("[role=region]")).to_be_hidden()
    status = explain(page, SAMPLES["pcie-8gpu-cascade"].read_text(encoding="utf-8"))
    expect(status).to_contain_text(done)
    expect(status).to_contain_text(count)
    result = tool.locator("[role=region]")
    expect(result).to_contain_text(finding)
    expect(result).to_contain_text(warning)
    expect(result.locator("table")).to_have_count(2)
    expect(result.locator("th[scope=row]", has_text="GPU7")).to_have_count(1)


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_page_answers_garbage_kindly(language: str, open_page: Callable[[str], Page]) -> None:
    page = open_page(language)
    tool = page.locator(".topo-decoder").first
    expect(tool.locator("[role=status]")).to_have_attribute("aria-live", "polite")
    for text in ("", "hello", "<system><cpu></system>", "<img src=x onerror=alert(1)>"):
        with pytest.raises(InputError) as caught:
            decode(text, language)
        expect(explain(page, text)).to_contain_text(str(caught.value))
        expect(tool.locator("[role=region]")).to_be_hidden()
    expect(explain(page, SAMPLES["dgx-1v"].read_text(encoding="utf-8"))).to_contain_text("GPU")
    expect(tool.locator("[role=region]")).to_be_visible()


@pytest.mark.browser
def test_page_shows_pasted_markup_as_text(open_page: Callable[[str], Page]) -> None:
    page = open_page("en")
    evil = '<img src=x onerror="document.title=1">'
    text = SAMPLES["dgx-1v"].read_text(encoding="utf-8").replace("0-19,40-59", evil)
    text += f"\nNIC0: {evil.replace(' ', '')}\n"
    explain(page, text)
    xml = SAMPLES["made-up-rails"].read_text(encoding="utf-8")
    explain(page, xml.replace("mlx5_0", "&lt;b onclick=1>x").replace("0000:01:00.0", "a>b"))
    tool = page.locator(".topo-decoder").first
    expect(tool).to_contain_text("a>b")
    expect(tool.locator("img, b, script")).to_have_count(0)
    expect(page).to_have_title("t")


@pytest.mark.browser
def test_page_example_and_keyboard(open_page: Callable[[str], Page]) -> None:
    page = open_page("en")
    first, second = page.locator(".topo-decoder").all()
    first.locator("button").nth(1).click()
    expect(first.locator("[role=status]")).to_contain_text("GPUs: 4, NICs: 2")
    expect(second.locator("[role=status]")).to_be_empty()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(first.locator("textarea")).to_have_value("")
    expect(first.locator("textarea")).to_be_focused()
    names = [tool.locator("textarea").get_attribute("id") or "" for tool in (first, second)]
    assert len(set(names)) == 2
    for tool, name in zip((first, second), names, strict=True):
        expect(tool.locator("label")).to_have_attribute("for", name)
    waiting.fits(page)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["dgx-h100", "made-up-two-sockets", "vm-4x-h200-graphs"])
def test_page_fits_a_phone(name: str, open_page: Callable[[str], Page]) -> None:
    page = open_page("en")
    expect(explain(page, SAMPLES[name].read_text(encoding="utf-8"))).to_contain_text("Done.")
    waiting.fits(page)


def test_script_is_es5() -> None:
    """Old browsers read it too: no arrow functions, no templates, no let or const."""
    source = SCRIPT.read_text(encoding="utf-8")
    code = "\n".join(line for line in source.split("\n") if not line.strip().startswith(("*", "/")))
    for word in ("=>", "let ", "const ", "${", "async ", "class ", "fetch(", "innerHTML"):
        assert word not in code.replace('"class "', ""), word
