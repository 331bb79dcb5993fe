"""report.html: static, inert whatever a model said, and true to the metrics."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import NAMES, mapped, parts, report

from hallcheck.reports.html import render
from hallcheck.types import Note

TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "section", "h1", "h2", "p", "strong", "b", "bdi", "span",
    "table", "thead", "tbody", "tr", "th", "td", "div", "ul", "li", "dl", "dt", "dd", "figure", "figcaption", "details",
    "summary", "article", "svg", "desc", "line", "text", "circle", "polyline", "rect",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "name", "content", "http-equiv", "dir", "class", "scope", "tabindex", "id", "role", "viewbox",
    "aria-labelledby", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "points", "transform",
}  # fmt: skip
VOID = {"meta", "line", "circle", "polyline", "rect"}


class Page(HTMLParser):
    """Collects tags, attributes, text and table rows; fails on a tag closed out of order."""

    def __init__(self, data: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.classes: list[str] = []
        self.text = ""
        self.rows: list[list[str]] = []
        self.ids: list[str] = []
        self._open: list[str] = []
        self.feed(data.decode("utf-8"))
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        own = dict(attrs)
        self.classes += [own.get("class") or ""]
        self.ids += [own["id"] or ""] if "id" in own else []
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            assert "url(" not in data
            assert "@import" not in data
            return
        self.text += data
        if self._open and any(tag in ("td", "th") for tag in self._open):
            self.rows[-1][-1] += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")


def check_inert(page: Page) -> None:
    assert page.tags <= TAGS, page.tags - TAGS
    assert page.attributes <= ATTRIBUTES, page.attributes - ATTRIBUTES
    assert len(page.ids) == len(set(page.ids))


def hostile_parts(text: str, name: str) -> dict[str, Any]:
    """A report with `text` in every place where a user's, model's or data set's text may stand."""
    own = parts(name)
    own["title"] = text
    own["run"] = mapped(own["run"], lambda leaf: text if isinstance(leaf, str) else leaf)
    own["run"]["config"][text] = text
    own["run"]["notes"] = [text, {"message": text + "2", "severity": text, "advice": text}]
    own["examples"] = mapped(own["examples"], lambda leaf: text if isinstance(leaf, str) else leaf)
    own["examples"][text] = [{"id": text, "question": text, "pred": text, "gold": text}]
    own["notes"] = [Note(code=text, severity="warning", message=text + "3", advice=text)]
    own["behavior"]["answered_below_stated_confidence"] = [{"t": 0.5, "count": 9, "ids": [text, text]}]
    for key, m in own["metrics"].items():
        if key != "confidence":
            m["by_category"] = {text: {"n": 1, "answered": 1, "accuracy": 1.0}}
            m["unscored"] = m["abstained_by_reason"] = {text: 1}
            m["avg_expected_score_note"] = text
    return own


HOSTILE = [
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)' x=\"",
    "' autofocus onfocus=alert(1) '",
    "</style></title></textarea><!-- <iframe src=//e.example>",
    "<svg/onload=alert(1)><math><mi xlink:href='data:x'>",
    "&lt;b&gt; &amp; &#60;img&#62; ]]>",
    "\u202e\u2066 שלום عربى \u0000\x1b[31m\ud83d",
    "x" * 10_240,
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert_everywhere(text: str, name: str) -> None:
    check_inert(Page(render(report(hostile_parts(text, name)))))


@settings(deadline=None, max_examples=30)
@given(st.text(alphabet=st.sampled_from("<>&\"'=/ -!]\\`\n\x00aon;#"), max_size=60))
def test_any_text_is_inert_everywhere(text: str) -> None:
    check_inert(Page(render(report(hostile_parts(text, "confidence")))))


def test_markup_is_shown_as_the_text_it_is() -> None:
    own = parts()
    own["examples"]["wrong"][0]["pred"] = "<b>bold</b> & co"
    page = Page(render(report(own)))
    assert "<b>bold</b> & co" in page.text


def test_overrides_of_the_direction_and_controls_are_made_visible() -> None:
    text = render(report(hostile_parts(HOSTILE[6], "prompt"))).decode("utf-8")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\0\x1b]", text)
    assert "שלום عربى" in text


def test_a_long_reply_is_cut_and_says_so() -> None:
    own = parts()
    own["examples"]["wrong"][0]["pred"] = "word " * 2048
    text = Page(render(report(own))).text
    assert "(cut: 10,240 characters)" in text
    assert text.count("word ") < 150


def test_the_page_loads_nothing_and_forbids_it() -> None:
    for name in NAMES:
        data = render(report(name=name))
        check_inert(Page(data))
        assert b"default-src 'none'; style-src 'unsafe-inline'" in data
        assert not re.search(rb"<[^>]*\b(src|href|srcset|action)\s*=", data)


def test_the_summary_shows_the_metrics() -> None:
    page = Page(render(report()))
    for (key, m), row in zip(parts()["metrics"].items(), page.rows[1:], strict=False):
        interval = m["intervals"]["accuracy_conditioned_on_answering"]
        assert row[0] == key
        assert row[1] == f"{m['answered']} of {m['n']}"
        assert row[2].split()[0] == f"{m['coverage']:.1%}"
        assert row[3] == (
            f"{m['accuracy_conditioned_on_answering']:.1%} [{100 * interval['low']:.1f}, {100 * interval['high']:.1f}]"
        )


def test_the_curve_is_drawn_where_the_metrics_are() -> None:
    data = render(report()).decode("utf-8")
    frame = re.search(r'<line class="axis" x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)"', data)
    assert frame is not None
    drawn = [tuple(map(float, at)) for at in re.findall(r'class="point" cx="([\d.]+)" cy="([\d.]+)"', data)]
    ticks = [float(x) for x in re.findall(r'<line class="grid" x1="([\d.]+)" y1="16.0"', data)]
    levels = [float(y) for y in re.findall(r'<line class="grid" x1="62.0" y1="([\d.]+)"', data)]
    for (x, y), m in zip(drawn, parts()["metrics"].values(), strict=True):
        assert x == pytest.approx(ticks[0] + m["coverage"] * (ticks[-1] - ticks[0]), abs=0.2)
        accuracy = m["accuracy_conditioned_on_answering"]
        assert y == pytest.approx(levels[0] + accuracy * (levels[-1] - levels[0]), abs=0.2)


def test_the_drawing_is_told_in_words_too() -> None:
    page = Page(render(report()))
    for key, m in parts()["metrics"].items():
        accuracy = m["accuracy_conditioned_on_answering"]
        assert f"t = {key}: coverage {m['coverage']:.3f}, accuracy {accuracy:.3f}" in page.text


def test_the_reliability_diagram_is_there_where_confidences_are() -> None:
    bins = [one for one in parts("confidence")["metrics"]["confidence"]["reliability"] if one["n"]]
    page = Page(render(report(name="confidence")))
    assert page.classes.count("bar") == len(bins)
    assert "Confidence against accuracy" in page.text
    assert "Confidence against accuracy" not in Page(render(report())).text


def test_examples_of_each_outcome_are_there() -> None:
    page = Page(render(report()))
    for rows in parts()["examples"].values():
        for row in rows:
            assert row["question"] in page.text
            assert (row["pred"] or "(empty)") in page.text
    assert "none: abstaining is right" in page.text


def test_a_partial_run_and_an_empty_one_say_so() -> None:
    text = Page(render(report(name="empty"))).text
    assert "Partial run." in text
    assert "No row was scored: there is nothing to draw." in text
    assert "Partial run." not in Page(render(report())).text


@pytest.mark.parametrize("name", NAMES)
def test_nulls_everywhere_are_survived(name: str) -> None:
    own = parts(name)
    own |= {key: mapped(own[key], lambda _: None) for key in ("metrics", "behavior", "run", "examples")}
    page = Page(render(report(own)))
    check_inert(page)
    assert not re.search(r"\b(nan|None|null)\b", page.text)


def test_a_report_of_nothing_is_still_a_page() -> None:
    page = Page(render(report(metrics={}, behavior={}, run={}, examples={}, notes=())))
    assert "No threshold was evaluated." in page.text
