"""Folding: what looks the same compares the same, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.text.normalize import canonical, fold, skeleton, squash, strip_reasoning


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ＡＢＣ", "abc"),
        ("don’t", "don't"),
        ("“x”", '"x"'),
        ("a–b—c−d", "a-b-c-d"),
        ("a\u00a0\u2009b\n\tc", "a b c"),
        ("zero\u200bwid\u2060th\ufeff", "zerowidth"),
        ("cafe\u0301", "café"),
        ("STRASSE", "straße"),
        ("答案：是。", "答案:是."),
        ("H₂O", "h2o"),
        ("don&#39;t &amp; won&rsquo;t", "don't & won't"),
    ],
)
def test_lookalikes_share_one_canonical_form(text: str, same: str) -> None:
    assert canonical(text) == canonical(same)


@pytest.mark.parametrize(("text", "other"), [("10²", "102"), ("1½", "11/2"), ("10₂", "102"), ("résumé", "resume")])
def test_different_texts_stay_apart(text: str, other: str) -> None:
    assert canonical(text) != canonical(other)


def test_fold_keeps_case_and_lines() -> None:
    assert fold("“A”\nB") == '"A"\nB'
    assert squash("  a \n b ") == "a b"


def test_skeleton_drops_accents_and_vowel_points() -> None:
    assert skeleton("Não sé") == "nao se"
    assert skeleton("لَا أَعْرِف") == skeleton("لا أعرف")


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>a</think>b", "b"),
        ("<THINKING>a</THINKING>\nb", "\nb"),
        ("<reasoning depth='3'>a</reasoning>b", "b"),
        ("a<think>x</think>b", "ab"),
        ("guess</think>b", "b"),
        ("<think>a<think>b</think>c", "c"),
        ("<think>a</think><think>b</think>c", "c"),
        ("[THINK]a[/THINK]b", "b"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b"),
        ("b<|im_end|>", "b"),
        ("2 < 3 [sic]", "2 < 3 [sic]"),
    ],
)
def test_hidden_reasoning_is_removed(text: str, visible: str) -> None:
    assert strip_reasoning(text) == (visible, False)


@pytest.mark.parametrize(
    "text", ["<think>a", "b<think>a", "<think>a</think><think>b", "<|channel|>analysis<|message|>a"]
)
def test_unclosed_reasoning_is_reported(text: str) -> None:
    assert strip_reasoning(text)[1]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_canonical_is_idempotent_and_one_line(text: str) -> None:
    once = canonical(text)
    assert "\n" not in once
    assert canonical(once) == canonical(canonical(once))
