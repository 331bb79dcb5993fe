"""The audit of "accuracy when answering >= t", and the choice of one answer per group."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from hallcheck.stats.audit import MAX_N, SALT, Audit, audit_accuracy, n_for_power, one_per_group
from hallcheck.stats.intervals import exact_lower, exact_upper


def test_the_three_verdicts() -> None:
    assert audit_accuracy(95, 100, 0.75).verdict == "meets"
    assert audit_accuracy(50, 100, 0.75).verdict == "overconfident"
    unclear = audit_accuracy(20, 25, 0.75)
    assert unclear.verdict == "inconclusive"
    assert unclear.accuracy == 0.8
    assert unclear.lower == exact_lower(20, 25)
    assert unclear.upper == exact_upper(20, 25)


def test_nothing_answered_has_no_verdict() -> None:
    assert audit_accuracy(0, 0, 0.5) == Audit(None, None, None, None, None)


def test_t_nought_asks_nothing_and_t_one_is_refuted_by_one_error() -> None:
    assert audit_accuracy(0, 5, 0.0).verdict == "meets"
    assert audit_accuracy(0, 1, 1.0).verdict == "overconfident"
    assert audit_accuracy(999, 1000, 1.0).verdict == "overconfident"
    assert audit_accuracy(1000, 1000, 1.0) == Audit(
        "inconclusive", 1.0, exact_lower(1000, 1000), 1.0, None
    )  # no sample proves certainty


@settings(deadline=None)
@given(kn=st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), t=st.floats(0, 1))
def test_a_verdict_follows_from_the_exact_bounds(kn: tuple[int, int], t: float) -> None:
    k, n = kn
    audit = audit_accuracy(k, n, t)
    if audit.verdict == "meets":
        assert k == 0 or binom.sf(k - 1, n, t) <= 0.05 + 1e-9
    elif audit.verdict == "overconfident":
        assert binom.cdf(k, n, t) <= 0.05 + 1e-9
    else:
        assert binom.sf(k - 1, n, t) > 0.05 - 1e-9
        assert k == n or binom.cdf(k, n, t) > 0.05 - 1e-9
    assert (audit.n_for_power is None) or audit.verdict == "inconclusive"


@pytest.mark.parametrize("t", [0.25, 0.5, 0.75, 0.9, 0.99])
@pytest.mark.parametrize("n", [5, 29, 100, 400])
def test_a_verdict_is_wrong_at_most_one_time_in_twenty(n: int, t: float) -> None:
    verdicts = [audit_accuracy(k, n, t).verdict for k in range(n + 1)]
    # A model whose accuracy is t exactly meets it; one just below does not.
    called_overconfident = sum(binom.pmf(k, n, t) for k in range(n + 1) if verdicts[k] == "overconfident")
    said_to_meet = sum(binom.pmf(k, n, t - 1e-9) for k in range(n + 1) if verdicts[k] == "meets")
    assert called_overconfident <= 0.05
    assert said_to_meet <= 0.05


def _power(n: int, accuracy: float, t: float) -> float:
    """The probability of the right verdict, summed over all outcomes."""
    if accuracy > t:
        right = [k for k in range(n + 1) if (exact_lower(k, n) or 0.0) >= t]
    else:
        right = [k for k in range(n + 1) if (exact_upper(k, n) or 0.0) < t]
    return float(np.sum(binom.pmf(right, n, accuracy)))


@pytest.mark.parametrize(
    ("accuracy", "t"),
    [(0.9, 0.75), (0.6, 0.75), (1.0, 0.9), (1.0, 0.5), (0.0, 0.3), (0.98, 0.9), (0.5, 0.25), (0.3, 0.0), (0.8, 1.0)],
)
def test_the_sample_size_is_the_least_that_reaches_the_power(accuracy: float, t: float) -> None:
    found = n_for_power(accuracy, t)
    assert found is not None
    assert _power(found, accuracy, t) >= 0.8
    assert all(_power(n, accuracy, t) < 0.8 for n in range(max(1, found - 25), found))
    assert all(_power(n, accuracy, t) < 0.8 for n in range(1, found, max(1, found // 20)))


def test_large_samples_are_found_by_a_search_that_starts_late() -> None:
    # Few errors are expected here, where the normal guess of 3,720 is furthest off: no error in 2,995 answers will do.
    assert n_for_power(0.99995, 0.999) == math.ceil(math.log(0.05) / math.log(0.999))
    near = n_for_power(0.76, 0.75)
    assert near is not None
    n, tail = near, binom
    critical = next(k for k in range(int(0.75 * n), n) if tail.sf(k - 1, n, 0.75) <= 0.05)
    assert tail.sf(critical - 1, n, 0.76) == pytest.approx(0.8, abs=0.01)
    assert 11000 < n < 12000


def test_where_no_sample_would_do_there_is_no_number() -> None:
    assert n_for_power(0.75, 0.75) is None
    assert n_for_power(0.7501, 0.75) is None
    assert audit_accuracy(0, 1, 1e-290).n_for_power is None
    assert audit_accuracy(75, 100, 0.75).n_for_power is None
    assert audit_accuracy(20, 25, 0.75).n_for_power == n_for_power(0.8, 0.75)
    large = n_for_power(0.505, 0.5)
    assert large is not None
    assert large < MAX_N


def test_more_power_needs_more_answers() -> None:
    sizes = [n_for_power(0.85, 0.75, power=power) or 0 for power in (0.5, 0.8, 0.95)]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 3
    assert (n_for_power(0.85, 0.75, level=0.99) or 0) > sizes[1]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"did you mean 0\.75"):
        audit_accuracy(1, 2, 75)
    with pytest.raises(ValueError, match="k must not exceed n"):
        audit_accuracy(3, 2, 0.5)
    with pytest.raises(ValueError, match="accuracy"):
        n_for_power(1.2, 0.5)
    with pytest.raises(ValueError, match="level"):
        audit_accuracy(1, 2, 0.5, level=95)


def test_one_row_of_each_group_is_chosen_by_names_alone() -> None:
    groups = [f"g{i % 7}" for i in range(40)]
    ids = [f"item {i}" for i in range(40)]
    chosen = one_per_group(groups, ids)
    assert chosen == sorted(chosen)
    assert Counter(groups[row] for row in chosen) == dict.fromkeys(set(groups), 1)
    order = list(range(40))
    random.Random(3).shuffle(order)
    again = one_per_group([groups[i] for i in order], [ids[i] for i in order])
    assert {ids[order[row]] for row in again} == {ids[row] for row in chosen}
    # What other groups hold does not matter.
    kept = [i for i in range(40) if groups[i] != "g0"]
    fewer = one_per_group([groups[i] for i in kept], [ids[i] for i in kept])
    assert {ids[kept[row]] for row in fewer} == {ids[row] for row in chosen if groups[row] != "g0"}


def test_the_choice_does_not_change_from_release_to_release() -> None:
    assert SALT == "hallcheck one answer per group 1"
    assert one_per_group(["s"] * 6, list("abcdef")) == [0]


def test_the_choice_prefers_no_position() -> None:
    groups = np.repeat(np.arange(3000), 3).tolist()
    ids = [f"{g}-{i % 3}" for i, g in enumerate(groups)]
    places = Counter(row % 3 for row in one_per_group(groups, ids))
    assert all(900 < times < 1100 for times in places.values())


def test_rows_without_a_group_are_all_kept() -> None:
    assert one_per_group([None, "a", None, "a"], ["1", "2", "3", "4"])[0] == 0
    assert len(one_per_group([None, "a", None, "a"], ["1", "2", "3", "4"])) == 3
    assert one_per_group([], []) == []


def test_equal_names_in_a_group_give_the_first() -> None:
    assert one_per_group(["a", "a"], ["same", "same"]) == [0]
    assert one_per_group(["\ud800"], ["x"]) == [0]


def test_groups_and_ids_must_match() -> None:
    with pytest.raises(ValueError, match="groups has 2 rows and ids 1"):
        one_per_group(["a", "b"], ["x"])
