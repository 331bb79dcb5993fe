"""The cluster bootstrap: against resampling done plainly, by its coverage, and where there is nothing to resample."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtr
from sklearn.metrics import roc_auc_score

from hallcheck.stats.arrays import as_score_and_bad, group_index
from hallcheck.stats.bootstrap import (
    BootstrapInterval,
    Ratio,
    _Pairs,
    bootstrap_auroc,
    bootstrap_detection,
    bootstrap_ratios,
    clustered,
)
from hallcheck.stats.detection import auroc, confusion
from hallcheck.stats.intervals import wilson
from hallcheck.stats.penalty import mean_penalty_score


def _clustered(n_groups: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores rounded so that they tie, labels that depend on the group, groups of one to six rows."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 7, n_groups))
    shift = rng.normal(size=n_groups)[groups]
    score = np.round(expit(rng.normal(size=groups.size) + shift), 2)
    bad = rng.random(groups.size) < expit(-2 * (score - 0.3) - shift)
    return score, bad, groups


def _plain(score: np.ndarray, bad: np.ndarray, groups: np.ndarray, n_replicates: int) -> dict[str, np.ndarray]:
    """The bootstrap as a textbook does it: copy the rows of the drawn groups, compute, repeat."""
    rng = np.random.default_rng(99)
    members = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    drawn: dict[str, list[float]] = {"f1": [], "auroc": [], "risk": [], "penalty_score": []}
    for _ in range(n_replicates):
        rows = np.concatenate([members[g] for g in rng.integers(0, len(members), len(members))])
        counts = confusion(score[rows], bad[rows], 0.6)
        drawn["f1"].append(counts.f1 or 0.0)
        drawn["auroc"].append(auroc(score[rows], bad[rows]) or 0.0)
        drawn["risk"].append(counts.risk or 0.0)
        drawn["penalty_score"].append(mean_penalty_score(score[rows], bad[rows], 0.6, 0.75) or 0.0)
    return {name: np.array(values) for name, values in drawn.items()}


def test_it_agrees_with_resampling_done_plainly() -> None:
    score, bad, groups = _clustered(60, seed=4)
    ours = bootstrap_detection(score, bad, 0.6, groups, t=0.75, n_replicates=4000)
    for name, values in _plain(score, bad, groups, 1500).items():
        low, high = np.quantile(values, [0.025, 0.975])
        noise = 0.2 * np.std(values)  # an end of the interval is itself estimated
        assert ours[name].low == pytest.approx(low, abs=noise)
        assert ours[name].high == pytest.approx(high, abs=noise)
        assert ours[name].method == "cluster bootstrap"
        assert (ours[name].n_groups, ours[name].n_replicates, ours[name].note) == (60, 4000, "")


rows = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 0.9]), st.integers(0, 1), st.integers(0, 5)), min_size=2)


@settings(deadline=None)
@given(data=rows, seed=st.integers(0, 2**32 - 1))
def test_the_weighted_auroc_is_that_of_the_copied_rows(data: list[tuple[float, int, int]], seed: int) -> None:
    score, bad = as_score_and_bad([s for s, _, _ in data], [b for _, b, _ in data])
    index, n_groups = group_index([g for _, _, g in data], len(data))
    times = np.bincount(np.random.default_rng(seed).integers(0, n_groups, n_groups), minlength=n_groups)
    ours = _Pairs(score, bad, index).auroc(times)
    copied = np.repeat(np.arange(len(data)), times[index])
    if len(set(bad[copied].tolist())) < 2:
        assert math.isnan(ours)
    else:
        assert ours == pytest.approx(roc_auc_score(bad[copied], -score[copied]), abs=1e-12)


def test_equal_input_gives_equal_intervals_and_another_seed_others() -> None:
    score, bad, groups = _clustered(40, seed=1)
    first = bootstrap_detection(score, bad, 0.5, groups, n_replicates=300)
    assert bootstrap_detection(score, bad, 0.5, groups, n_replicates=300) == first
    assert bootstrap_detection(score, bad, 0.5, groups, n_replicates=300, seed=1)["f1"] != first["f1"]
    assert bootstrap_auroc(score, bad, groups, n_replicates=300) == first["auroc"]


def test_the_names_of_the_groups_do_not_matter() -> None:
    score, bad, groups = _clustered(40, seed=2)
    named = [f"source {g}" for g in groups]
    assert bootstrap_auroc(score, bad, named, n_replicates=200) == bootstrap_auroc(score, bad, groups, n_replicates=200)


def test_a_higher_level_is_wider() -> None:
    score, bad, groups = _clustered(50, seed=3)
    narrow = bootstrap_auroc(score, bad, groups, level=0.8, n_replicates=500)
    wide = bootstrap_auroc(score, bad, groups, level=0.99, n_replicates=500)
    assert wide.low < narrow.low < narrow.high < wide.high  # type: ignore[operator]


def test_copies_within_groups_carry_no_information_and_rows_taken_as_independent_pretend_they_do() -> None:
    score, bad, groups = _clustered(80, seed=5)
    copies = [np.tile(part, 5) for part in (score, bad, groups)]
    once = bootstrap_auroc(score, bad, groups, n_replicates=500)
    assert bootstrap_auroc(*copies, n_replicates=500)[:2] == pytest.approx(once[:2])
    naive = bootstrap_auroc(copies[0], copies[1], n_replicates=500)
    assert naive.high - naive.low < 0.7 * (once.high - once.low)  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ratio", "auroc"])
def test_the_interval_covers_the_truth_as_often_as_it_says(kind: str) -> None:
    rng = np.random.default_rng(23)
    n_groups, size, trials = 80, 4, 500
    groups = np.repeat(np.arange(n_groups), size)
    held = naive_held = 0
    for trial in range(trials):
        if kind == "ratio":
            share = rng.beta(2, 1, n_groups)  # mean 2/3; rows of one group share it
            correct = rng.random(groups.size) < share[groups]
            ratio = Ratio(correct, np.ones(groups.size))
            low, high = bootstrap_ratios({"x": ratio}, groups, n_replicates=400, seed=trial)["x"][:2]
            truth = 2 / 3
            naive_low, naive_high = wilson(int(correct.sum()), groups.size) or (0.0, 1.0)
            naive_held += naive_low <= truth <= naive_high
        else:
            bad = np.repeat(rng.random(n_groups) < 0.4, size)
            score = expit(rng.normal(size=groups.size) * 0.8 + np.repeat(rng.normal(size=n_groups), size) * 0.6 - bad)
            low, high = bootstrap_auroc(score, bad, groups, n_replicates=400, seed=trial)[:2]
            truth = float(ndtr(1 / math.sqrt(2)))
        assert low is not None
        assert high is not None
        held += low <= truth <= high
    assert 0.925 <= held / trials <= 0.97
    if kind == "ratio":
        assert naive_held / trials < 0.9


def test_ratios_by_hand_where_every_replicate_can_be_listed() -> None:
    # Two groups: replicates are aa, ab, ba, bb, hence the values 1/4, 2/5, 1.
    values = bootstrap_ratios({"x": Ratio([1, 0, 0, 0, 1], [1, 1, 1, 1, 1])}, list("aaaab"), n_replicates=500)["x"]
    assert values[:2] == (0.25, 1.0)
    assert "only 2 groups" in values.note


@pytest.mark.parametrize(("hits", "end"), [(0, 0), (1, 1)])
def test_at_nought_and_at_a_hundred_percent_the_interval_has_width(hits: int, end: int) -> None:
    groups = np.repeat(np.arange(30), 4)
    found = bootstrap_ratios({"x": Ratio(np.full(120, hits), np.ones(120))}, groups)["x"]
    by_group = wilson(30 * hits, 30)
    assert by_group is not None
    assert found[:2] == pytest.approx(by_group)
    assert found[end] == end
    assert (found.method, found.n_groups) == ("score, by group", 30)
    assert "all 30 groups agree" in found.note


def test_a_mean_penalty_without_a_wrong_answer_leaves_room_for_one() -> None:
    score, bad, groups = [0.9] * 40, [0] * 40, [i // 2 for i in range(40)]
    found = bootstrap_detection(score, bad, 0.5, groups, t=0.9)["penalty_score"]
    assert found.high == pytest.approx(1.0)
    assert found.low == pytest.approx(1 - 10 * (1 - (wilson(20, 20) or (0,))[0]))
    refused = bootstrap_detection(score, bad, 0.95, groups, t=0.9)["penalty_score"]
    assert refused.low < 0 < refused.high  # type: ignore[operator]


def test_at_t_one_the_penalty_has_no_interval() -> None:
    score, bad, groups = _clustered(30, seed=6)
    found = bootstrap_detection(score, bad, 0.5, groups, t=1.0, n_replicates=50)["penalty_score"]
    assert found[:2] == (None, None)
    assert "unbounded" in found.note


@pytest.mark.parametrize(
    ("score", "bad", "groups", "why"),
    [
        ([0.1, 0.5, 0.9], [1, 0, 0], ["a", "a", "a"], "one group only"),
        ([0.1], [1], None, "one row only"),
        ([], [], None, "no rows"),
        ([], [], [], "no rows"),
    ],
)
def test_nothing_to_resample_gives_no_interval_and_says_why(
    score: list[float], bad: list[int], groups: list[str] | None, why: str
) -> None:
    for found in bootstrap_detection(score, bad, 0.5, groups).values():
        assert found[:2] == (None, None)
        assert why in found.note


def test_one_class_has_no_auroc_interval() -> None:
    found = bootstrap_auroc([0.1, 0.4, 0.5, 0.8], [0, 0, 0, 0], n_replicates=50)
    assert found[:2] == (None, None)
    assert found.note == "undefined in 50 of 50 replicates"


def test_a_ratio_with_nothing_to_divide_by_has_no_interval() -> None:
    found = bootstrap_ratios({"x": Ratio([0, 0], [0, 0])})["x"]
    assert found[:2] == (None, None)
    assert found.note == "nothing to divide by"


def test_replicates_where_it_is_undefined_are_left_out_and_counted() -> None:
    # Two of 40 groups answered: in about 0.95^40 = 13% of the replicates neither is drawn.
    answered = np.zeros(40)
    answered[:2] = 1
    correct = np.zeros(40)
    correct[0] = 1
    found = bootstrap_ratios({"x": Ratio(correct, answered)})["x"]
    missing = 2000 - found.n_replicates
    assert 150 < missing < 380
    assert found.note == f"undefined in {missing} of 2000 replicates"
    assert found[:2] == (0.0, 1.0)


def test_undefined_in_more_than_half_gives_none() -> None:
    # Of two rows, one of each class, half the replicates miss a class.
    seen = set()
    for seed in range(30):
        found = bootstrap_auroc([0.1, 0.9], [1, 0], n_replicates=11, seed=seed)
        seen.add(found.low is None)
        assert (found.low is None) == (found.n_replicates <= 5)
        assert f"undefined in {11 - found.n_replicates} of 11 replicates" in found.note
    assert seen == {True, False}


def test_rows_without_a_group_stand_alone() -> None:
    score, bad, _ = _clustered(40, seed=8)
    alone: list[str | None] = [None] * score.size
    assert bootstrap_auroc(score, bad, alone, n_replicates=100) == bootstrap_auroc(score, bad, n_replicates=100)
    assert bootstrap_auroc(score, bad, n_replicates=100).method == "bootstrap"


def test_whether_rows_are_clustered() -> None:
    assert clustered(["a", "b", "a"])
    assert not clustered(["a", "b", None, None])
    assert not clustered(None)
    assert not clustered([])


def test_no_ratios_no_intervals() -> None:
    assert bootstrap_ratios({}) == {}


def test_malformed_input_is_refused() -> None:
    with pytest.raises(ValueError, match="x: numerator has 3 rows, denominator 2"):
        bootstrap_ratios({"x": Ratio([1, 0, 1], [1, 1])})
    with pytest.raises(ValueError, match="y: numerator has 2 rows, denominator 2, the data 3"):
        bootstrap_ratios({"x": Ratio([1, 0, 1], [1, 1, 1]), "y": Ratio([1, 0], [1, 1])})
    with pytest.raises(ValueError, match="denominators must be >= 0"):
        bootstrap_ratios({"x": Ratio([1, 0], [1, -1])})
    with pytest.raises(ValueError, match=r"x: numerator\[1\] is nan"):
        bootstrap_ratios({"x": Ratio([1, math.nan], [1, 1])})
    with pytest.raises(ValueError, match="n_replicates"):
        bootstrap_auroc([0.1, 0.9], [1, 0], n_replicates=0)
    with pytest.raises(ValueError, match="level"):
        bootstrap_auroc([0.1, 0.9], [1, 0], level=95)
    with pytest.raises(ValueError, match="groups has 1 rows"):
        bootstrap_auroc([0.1, 0.9], [1, 0], ["a"])


def test_an_interval_is_a_plain_tuple() -> None:
    assert BootstrapInterval(0.1, 0.2, "bootstrap", 5, 100)[:2] == (0.1, 0.2)
