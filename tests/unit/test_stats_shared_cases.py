"""Golden cases of the statistics, from the maintainers' folder, each at its own tolerance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hallcheck.stats import calibration, curves, detection, intervals
from hallcheck.stats.bootstrap import bootstrap_auroc, bootstrap_detection
from hallcheck.stats.penalty import mean_penalty_score

pytestmark = pytest.mark.shared

Case = dict[str, Any]


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[Case]:
    found: list[Case] = json.loads((shared / "cases" / "stats.json").read_text(encoding="utf-8"))
    return found


def _near(case: Case, value: Any) -> Any:
    if value is None:
        return None
    return pytest.approx(value, abs=case["tolerance"], rel=case["tolerance"])


def _proportion(case: Case) -> None:
    k, n, level = (case["params"][name] for name in ("k", "n", "confidence"))
    expected = case["expected"]
    assert intervals.wilson(k, n, level) == _near(case, tuple(expected["wilson"]))
    assert intervals.clopper_pearson(k, n, level) == _near(case, tuple(expected["clopper_pearson"]))
    assert intervals.exact_lower(k, n, level) == _near(case, expected["cp_lower_one_sided"])
    assert intervals.exact_upper(k, n, level) == _near(case, expected["cp_upper_one_sided"])


def _confusion(case: Case) -> None:
    for row in case["expected"]["rows"]:
        counts = detection.confusion(case["scores"], case["labels"], row["tau"])
        assert counts._asdict() == {name: row[name] for name in ("tp", "fp", "tn", "fn")}
        assert counts.n_flagged == row["n_flagged"]


def _ranking(case: Case) -> None:
    score, bad, expected = case["scores"], case["labels"], case["expected"]
    assert detection.auroc(score, bad) == _near(case, expected["auroc"])
    assert detection.average_precision(score, bad) == _near(case, expected["average_precision"])


def _risk_coverage(case: Case) -> None:
    score, bad, expected = case["scores"], case["labels"], case["expected"]
    curve = curves.risk_coverage(score, bad)
    points = list(zip(curve.tau, curve.coverage, curve.risk, strict=True))
    assert len(points) == len(expected["points"])
    for point, wanted in zip(points, expected["points"], strict=True):
        assert point == _near(case, tuple(wanted))
    found = [[int(n), int(k)] for n, k in zip(curve.n_accepted, curve.n_bad, strict=True)]
    assert found == expected["points_counts"]
    assert curves.aurc(score, bad) == _near(case, expected["aurc"])
    assert curves.aurc_steps(score, bad) == _near(case, expected["aurc_steps"])
    assert curves.aurc_optimal(bad) == _near(case, expected["aurc_optimal"])
    assert curves.excess_aurc(score, bad) == _near(case, expected["eaurc"])
    assert curves.augrc(score, bad) == _near(case, expected["augrc"])
    assert curves.augrc_rank_sum(score, bad) == _near(case, expected["augrc_rank_sum"])
    assert detection.auroc(score, bad) == _near(case, expected["auroc_f"])
    assert curves.aurc([0.5] * len(bad), bad) == _near(case, expected["aurc_random_order"])


def _penalty(case: Case) -> None:
    for row in case["expected"]["rows"]:
        assert mean_penalty_score(case["scores"], case["labels"], row["tau"], row["t"]) == _near(case, row["mean"])


def _proper_scores(case: Case) -> None:
    score, bad, expected = case["scores"], case["labels"], case["expected"]
    assert calibration.brier(score, bad) == _near(case, expected["brier"])
    parts = calibration.murphy(score, bad)
    assert parts is not None
    assert parts._asdict() == _near(case, expected["murphy"])
    for eps, loss in expected["log_loss"].items():
        assert calibration.log_loss(score, bad, float(eps)) == _near(case, loss)


def _ece(case: Case) -> None:
    score, bad = case["scores"], case["labels"]
    for name, expected in case["expected"].items():
        strategy, n_bins = name.split("_")
        bins = calibration.reliability_bins(score, bad, int(n_bins), strategy)
        assert calibration.ece(score, bad, int(n_bins), strategy) == _near(case, expected["ece"])
        assert calibration.mce(score, bad, int(n_bins), strategy) == _near(case, expected["mce"])
        assert bins.n.tolist() == expected["counts"]
        assert bins.mean_good.tolist() == _near(case, expected["mean_good"])
        assert bins.mean_score.tolist() == _near(case, expected["mean_score"])


def _cluster_bootstrap(case: Case) -> None:
    score, bad, groups, params = case["scores"], case["labels"], case["groups"], case["params"]
    found = bootstrap_detection(score, bad, params["tau"], groups, level=params["confidence"])
    for name in ("f1", "auroc"):
        wanted = case["expected"][f"{name}_ci"]
        assert found[name][:2] == pytest.approx(tuple(wanted), abs=case["tolerance"])
    assert bootstrap_auroc(score, bad, groups, level=params["confidence"]) == found["auroc"]


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("proportion", _proportion),
        ("confusion", _confusion),
        ("ranking", _ranking),
        ("risk_coverage", _risk_coverage),
        ("penalty", _penalty),
        ("proper_scores", _proper_scores),
        ("ece", _ece),
        ("cluster_bootstrap", _cluster_bootstrap),
    ],
)
def test_golden_cases(cases: list[Case], kind: str, check: Any) -> None:
    of_kind = [case for case in cases if case["kind"] == kind]
    assert of_kind, f"no case of kind {kind}"
    failed = []
    for case in of_kind:
        try:
            check(case)
        except AssertionError as error:
            failed.append(f"{case['id']}: {error}")
    assert not failed, "\n".join(failed)
