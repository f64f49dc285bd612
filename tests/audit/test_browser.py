"""The audit page in a real browser: every click, keys, both widths, dark and
light, hostile documents.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sliders.audit import RUN, view_file

from .world import changed, harbour, harmless, hostile, listed

playwright = pytest.importorskip(
    "playwright.sync_api", reason="no playwright: the page is not looked at in a browser"
)
_NAMES = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in _NAMES if name and (found := shutil.which(name))), None)
if CHROMIUM is None:
    pytest.skip(
        "no Chromium: the page is not looked at in a browser (apt-get install chromium)",
        allow_module_level=True,
    )

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
WAIT = 120_000


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages, made before the browser starts."""
    folder = tmp_path_factory.mktemp("pages")
    long = [
        (f"{n}.txt", "Filling words. " * 4_000 + f"The words {n} stand.", f"words {n} stand")
        for n in range(20)
    ]
    made = {
        "harbour": harbour(folder / "harbour.db"),
        "hostile": listed(folder / "hostile.db", hostile()),
        "harmless": listed(folder / "harmless.db", harmless()),
        "large": listed(folder / "large.db", long, rows=125),
    }
    pages = {name: view_file(path, folder / f"{name}.html") for name, path in made.items()}
    return {
        **pages,
        "changed": view_file(changed(folder / "changed.db"), folder / "changed.html", against=1),
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass
class Watched:
    """A page with what it asked for and complained of."""

    page: Any
    requests: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def open(self, file: Path) -> Any:
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(dialog.message))
        self.page.set_default_timeout(WAIT)
        self.page.goto(file.as_uri())
        return self.page


@pytest.fixture
def watched(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a file; at the end nothing was requested but the file, and nothing
    stood on the console.
    """
    opened: list[tuple[Watched, Path]] = []

    def start(file: Path, size: dict[str, int] = WIDE, scheme: str = "light") -> Any:
        watched = Watched(browser.new_page(viewport=size, color_scheme=scheme))
        opened.append((watched, file))
        return watched.open(file)

    yield start
    for one, file in opened:
        assert one.problems == []
        assert set(one.requests) == {file.as_uri()}
        one.page.close()


def violations(page: Any) -> list[str]:
    """What axe-core finds on the page as it stands."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-core is not installed"
    ).Axe()
    found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{v['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for v in found
        for node in v["nodes"]
    ]


def overflows(page: Any) -> bool:
    return bool(
        page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    )


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1440", "390"])
def test_a_click_on_a_value_shows_its_words_and_its_story(
    files: dict[str, Path], watched: Any, size: dict[str, int]
) -> None:
    page = watched(files["harbour"], size)
    assert not overflows(page)
    assert page.locator(".value").inner_text() == "Anna."
    assert "1 value is unverified" in page.locator(".facts").inner_text()
    assert page.locator(".range").inner_text() == "Range: 1 to 3: 1 open conflict"
    cells, pane, marks = (
        page.locator("button.cell"),
        page.locator("#evidence"),
        page.locator("#reader mark"),
    )
    cells.nth(1).click()
    assert marks.all_inner_texts() == ["The pilot", "two sailors"], (
        "the words stand after a sign of two units, too"
    )
    assert "computed: it follows from several words" in pane.inner_text()
    assert "1 + 2" in pane.inner_text()
    page.locator("#next").click()
    assert marks.all_inner_texts() == ["4,600"]
    assert page.locator("#reader td mark").count() == 1, "a table is shown as a table"
    assert "page 2" in page.locator("#reader .name").inner_text()
    assert "4,500 → 4,600 (repair): audited over unaudited" in page.locator(".changes").inner_text()
    page.locator("button.source").nth(1).click()
    assert marks.all_inner_texts() == ["4,500"]
    assert "note.txt" in page.locator("#reader .name").inner_text()
    page.keyboard.press("n")
    assert {"yes", "judged"} <= set(pane.inner_text().replace("\n", " ").split())
    assert "its odds lie near the cut" in pane.inner_text()
    assert marks.first.is_visible()
    page.keyboard.press("n")
    assert "maria decided" in pane.inner_text()
    page.keyboard.press("p")
    page.keyboard.press("Escape")
    assert not pane.is_visible()
    assert page.evaluate("document.activeElement.matches('button.cell')"), (
        "focus returns to the value"
    )
    page.locator("summary").first.click()
    page.locator("button.cite").first.click()
    assert marks.all_inner_texts() == ["two sailors"]
    page.locator("#close").click()
    page.locator("#documents button.open").click()
    assert "Nothing happened." in page.locator("#reader").inner_text()
    assert not overflows(page)


def test_rows_are_sorted_filtered_and_searched(files: dict[str, Path], watched: Any) -> None:
    page = watched(files["harmless"])
    cells = page.locator("tbody tr td:first-child button.cell")
    assert cells.first.inner_text().startswith("plain words 0")
    heading, expect = (
        page.locator("table.data thead th").first,
        playwright.expect,
    )  # the table sorts and searches in its own time
    heading.focus() if heading.get_attribute("tabindex") else heading.locator(
        "[tabindex]"
    ).first.focus()
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending", timeout=WAIT)
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending", timeout=WAIT)
    expect(cells.first).to_contain_text("plain words 9", timeout=WAIT)
    page.get_by_label("Search all columns").fill("words 41")
    expect(cells).to_have_count(1, timeout=WAIT)
    page.get_by_label("Search all columns").fill("")
    page.get_by_label("contains").fill("words 4")
    expect(cells).to_have_count(11, timeout=WAIT)
    page.get_by_label("Values").select_option("judged")
    expect(cells).to_have_count(0, timeout=WAIT)
    expect(page.locator("table.data")).to_contain_text("no row fits", timeout=WAIT)
    page.get_by_label("Values").select_option("unverified")
    page.get_by_label("contains").fill("")
    expect(cells).to_have_count(25, timeout=WAIT)
    page.locator(".dt-paging-button", has_text="2").click()
    expect(page.locator(".dt-info")).to_contain_text("26 to 50", timeout=WAIT)


@pytest.mark.parametrize(
    ("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["1440 light", "390 dark"]
)
def test_nobody_is_shut_out(
    files: dict[str, Path], watched: Any, size: dict[str, int], scheme: str
) -> None:
    page = watched(files["harbour"], size, scheme)
    for summary in page.locator("summary").all():
        summary.click()
    assert violations(page) == []
    page.locator("button.cell").nth(2).click()
    assert violations(page) == []


def test_by_keys_alone_dark_and_on_paper(files: dict[str, Path], watched: Any) -> None:
    page = watched(files["harbour"])
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("button.cell").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator("#evidence").is_visible()
    assert page.evaluate("document.activeElement.id") == "evidence-title"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert not page.locator("#evidence").is_visible()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.locator("button.cell").nth(1).click()
    page.emulate_media(media="print")
    assert not page.locator("#evidence").is_visible()
    assert not page.locator(".tools").first.is_visible()
    assert len(page.pdf()) > 1_000
    assert page.locator("details[open]").count() == page.locator("details").count(), (
        "paper cannot be opened"
    )


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["1440", "390"])
def test_a_change_shows_the_words_that_it_rests_on(
    files: dict[str, Path], watched: Any, size: dict[str, int]
) -> None:
    page = watched(files["changed"], size)
    assert not overflows(page)
    assert violations(page) == []
    line = page.get_by_role("row", name="value birch.txt bridges.length")
    assert line.locator("del").inner_text() == "50"
    line.get_by_role("button", name="60").click()
    assert page.locator("#reader mark").inner_text().startswith("60")
    page.locator("#close").click()
    assert page.evaluate("document.activeElement.matches('table.differences button')")
    assert (
        "75"
        in page.locator("table.differences tr", has_text="average length")
        .locator("del")
        .inner_text()
    )


SKELETON = """() => {
    const walk = node => node.tagName + '(' + [...node.children].map(walk).join('') + ')';
    return walk(document.documentElement); }"""


def test_hostile_documents_change_nothing_but_their_own_text(
    files: dict[str, Path], watched: Any
) -> None:
    page, twin = watched(files["hostile"]), watched(files["harmless"])
    assert page.evaluate(SKELETON) == twin.evaluate(SKELETON)
    for number, (name, text, words) in enumerate(hostile()):
        if number == 25:
            page.locator("#close").click()
            page.locator(".dt-paging-button", has_text="2").click()
            playwright.expect(page.locator(".dt-info")).to_contain_text("26 to 50", timeout=WAIT)
        page.locator("button.cell").nth(2 * (number % 25)).evaluate("button => button.click()")
        assert page.locator("#reader mark").evaluate("mark => mark.textContent") == words
        assert page.locator("#reader .name").evaluate("node => node.textContent") == name
        assert (
            page.locator("#reader .block").evaluate("node => node.textContent")[: len(words) + 15]
            == text[: len(words) + 15]
        )
        assert (
            page.locator(
                "#evidence script, #evidence img, #evidence iframe, #evidence style"
            ).count()
            == 0
        )
    page.get_by_label("Search all columns").fill("onerror")
    playwright.expect(page.locator("table.data tbody tr")).to_have_count(2, timeout=WAIT)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate(
        SKELETON.replace("documentElement", "querySelector('header')")
    ) == twin.evaluate(SKELETON.replace("documentElement", "querySelector('header')"))


def test_a_large_page_opens_at_once(files: dict[str, Path], watched: Any) -> None:
    page = watched(files["large"])
    assert files["large"].stat().st_size < 5_000_000
    assert page.locator("table.data tbody tr").count() == 25, "only the rows in sight are made"
    assert "of 2,500 rows" in page.locator(".dt-info").inner_text()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    path = listed(tmp_path / "hostile.db", hostile())
    words = [sys.executable, "-m", "sliders", "view", "--serve", "--port", "0", "-w", str(path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        yield served.stdout.readline().split()[0]
        served.terminate()


def test_a_served_value_shows_its_words(address: str, browser: Any) -> None:
    page, problems, requests = browser.new_page(viewport=WIDE), [], []
    page.set_default_timeout(WAIT)
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    root = address.removesuffix(RUN)
    page.get_by_role("link", name="All 50 rows").click()
    number, words = next(
        (n, words) for n, (_, _, words) in enumerate(hostile()) if words.startswith("<img")
    )
    page.locator("tbody tr").nth(number).get_by_role("link").first.click()
    mark = page.locator("#reader mark")
    assert mark.evaluate("mark => mark.textContent") == words
    assert mark.is_visible()
    assert page.locator("#evidence").is_visible(), "the page opens at the value that was chosen"
    assert violations(page) == []
    page.get_by_role("link", name="All tables").click()
    playwright.expect(page).to_have_title(re.compile("^hostile"), timeout=WAIT)
    assert page.evaluate("window.hacked") is None
    assert [line for line in problems if "favicon" not in line] == []
    assert all(url.startswith(root) for url in requests)
    page.close()
