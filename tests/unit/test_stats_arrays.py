"""Malformed arrays: every public function of the statistics refuses them, and says where."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hallcheck.stats import bootstrap, calibration, curves, detection, penalty
from hallcheck.stats.arrays import as_level, as_tau, count_by_score, group_index

Figure = Callable[[Any, Any], object]

FIGURES: list[Figure] = [
    lambda s, b: detection.confusion(s, b, 0.5),
    lambda s, b: detection.f1(s, b, 0.5),
    detection.auroc,
    detection.average_precision,
    curves.risk_coverage,
    curves.aurc,
    curves.aurc_steps,
    curves.excess_aurc,
    curves.augrc,
    curves.augrc_rank_sum,
    calibration.ece,
    calibration.mce,
    calibration.reliability_bins,
    calibration.brier,
    calibration.murphy,
    calibration.log_loss,
    lambda s, b: penalty.mean_penalty_score(s, b, 0.5, 0.5),
    bootstrap.bootstrap_auroc,
    lambda s, b: bootstrap.bootstrap_detection(s, b, 0.5),
]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(
    ("score", "bad", "said"),
    [
        ([0.1, math.nan], [0, 1], r"score\[1\] is nan"),
        ([math.inf, 0.1], [0, 1], r"score\[0\] is inf"),
        ([0.1, 75], [0, 1], r"score\[1\] is 75"),
        ([-0.1, 0.1], [0, 1], r"score\[0\] is -0\.1"),
        ([0.1, 0.2, 0.3], [0, 1], "score has 3 rows and bad has 2"),
        ([0.1, 0.2], [0, 2], r"bad\[1\] is 2"),
        ([0.1, 0.2], [0.5, 1], r"bad\[0\] is 0\.5"),
        ([0.1, 0.2], [0, math.nan], r"bad\[1\] is nan"),
        ([0.1, 0.2], ["0", "1"], "bad must hold numbers only"),
        ([0.1, None], [0, 1], "score must hold numbers only"),
        ([[0.1, 0.2]], [0, 1], "score must be one-dimensional"),
    ],
)
def test_malformed_arrays_are_refused(figure: Figure, score: Any, bad: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        figure(score, bad)


@pytest.mark.parametrize("bad", [[True, False], np.array([1.0, 0.0]), np.array([1, 0], dtype=np.uint8), (1, 0)])
def test_labels_may_be_of_any_numeric_type(bad: Any) -> None:
    assert detection.auroc([0.1, 0.9], bad) == 1.0


def test_inputs_are_not_changed() -> None:
    score, bad = np.array([0.9, 0.1, 0.5]), np.array([0, 1, 1])
    for figure in FIGURES:
        figure(score, bad)
    assert score.tolist() == [0.9, 0.1, 0.5]
    assert bad.tolist() == [0, 1, 1]


def test_counts_at_each_distinct_score() -> None:
    table = count_by_score(np.array([0.5, 0.1, 0.5, -0.0, 0.0]), np.array([True, False, False, True, True]))
    assert table.value.tolist() == [0.0, 0.1, 0.5]
    assert table.n.tolist() == [2, 1, 2]
    assert table.n_bad.tolist() == [2, 0, 1]


def test_groups_are_numbered_and_none_is_a_group_of_its_own() -> None:
    index, n_groups = group_index(["a", None, "b", "a", None], 5)
    assert n_groups == 4
    assert index[0] == index[3]
    assert len({int(index[i]) for i in (0, 1, 2, 4)}) == 4
    for groups in (np.array([7, 3, 7]), np.array(["x", "y", "x"]), [7, 3, 7]):
        index, n_groups = group_index(groups, 3)
        assert n_groups == 2
        assert index[0] == index[2] != index[1]
    assert group_index(None, 4)[1] == 4


def test_groups_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="groups has 2 rows, the data 3"):
        group_index(["a", "b"], 3)
    with pytest.raises(ValueError, match=r"groups\[1\] is NaN"):
        group_index(["a", math.nan], 2)


def test_thresholds_and_levels() -> None:
    assert as_tau(math.nextafter(1, 2)) > 1
    with pytest.raises(ValueError, match="finite"):
        as_tau(math.nan)
    for level in (0, 1, 95, math.nan):
        with pytest.raises(ValueError, match="level"):
            as_level(level)
