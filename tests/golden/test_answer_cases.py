"""The golden corpus of replies and what each is worth: every class of outcome, many languages, adversarial forms.

One JSON object a line in answer_cases.jsonl: `output`, `gold`, `expect` (the outcome), and where it matters `reason`,
`extracted`, `choices`, `unknown_ok`, `finish`. The cases are written by hand: add a line for every fault found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hallcheck.judges.answer import judge_answer
from hallcheck.text.answers import is_idk

CASES = Path(__file__).with_name("answer_cases.jsonl")


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def verdict_faults(cases: list[dict[str, Any]]) -> list[str]:
    """One line for every case that does not hold."""
    faults = []
    for case in cases:
        got = judge_answer(
            case["output"],
            case["gold"],
            choices=case.get("choices"),
            unknown_ok=case.get("unknown_ok", False),
            finish=case.get("finish", "stop"),
        )
        expected = [case["expect"]] + [case[k] for k in ("reason", "extracted") if k in case]
        found = [got.outcome] + [getattr(got, k) for k in ("reason", "extracted") if k in case]
        if expected != found:
            faults.append(
                f"{case['id']}: {case['output']!r} -> {got.outcome}/{got.reason}/{got.extracted}, not {expected}"
            )
    return faults


def test_every_case_of_the_corpus_holds() -> None:
    cases = load(CASES)
    assert len(cases) >= 200
    assert verdict_faults(cases) == []


def test_the_corpus_covers_every_outcome_and_reason() -> None:
    cases = load(CASES)
    assert {c["expect"] for c in cases} == {"correct", "wrong", "abstained", "unscored"}
    reasons = {c.get("reason") for c in cases}
    assert {"idk", "hedge", "refusal", "rejects_premise", "empty", "truncated", "blocked", "unparsed"} <= reasons
    assert len({c["id"] for c in cases}) == len(cases)


def test_dressing_never_changes_an_abstention() -> None:
    plain = [c["output"] for c in load(CASES) if c["id"].startswith("abstain-") and "\n" not in c["output"]]
    plain = [p for p in plain if p.isprintable() and not any(m in p for m in '*"`_{}<>#:')]
    for text in plain:
        core = text.rstrip(".! ")
        for dressed in (
            f"**{core}**",
            f'"{core}."',
            f"Answer: {core}",
            json.dumps({"answer": core}),
            f"<think>x</think>{core}",
        ):
            assert judge_answer(dressed, "Oslo").outcome == "abstained", dressed


def test_is_idk_agrees_with_the_verdict() -> None:
    for case in load(CASES):
        if "choices" in case or case.get("finish", "stop") != "stop" or case.get("reason") == "rejects_premise":
            continue
        if case["output"].strip(". ").casefold() == case["gold"].casefold():
            continue
        abstained = judge_answer(case["output"], case["gold"], unknown_ok=case.get("unknown_ok", False)).outcome
        assert is_idk(case["output"]) == (abstained == "abstained"), case["output"]


@pytest.mark.shared
def test_the_maintainers_cases_hold(shared: Path) -> None:
    cases = load(shared / "cases" / "answers.jsonl")
    assert len(cases) >= 100
    assert verdict_faults(cases) == []
