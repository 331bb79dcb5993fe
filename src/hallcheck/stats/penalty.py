"""The score of the abstention test: +1 right, -t/(1-t) wrong, 0 abstained (Kalai et al., arXiv 2509.04664).

Conventions: t in [0, 1] is the confidence that the prompt demands. It is exclusive (answer iff confidence >
t), while a threshold tau is inclusive (accept iff score >= tau); `inclusive_threshold` is the only place that
converts. With these scores answering pays exactly where the answer is right with probability above t. numpy
is imported only where arrays come.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def check_t(t: float) -> float:
    """`t` as a float in [0, 1].

    Raises ValueError for anything else, saying what was probably meant (75 -> 0.75).
    """
    if isinstance(t, bool | str):
        raise ValueError(f"t must be a number in [0, 1], not {t!r}")
    try:
        number = float(t)
    except (TypeError, ValueError):
        raise ValueError(f"t must be a number in [0, 1], not {t!r}") from None
    if 2 <= number <= 100:
        raise ValueError(f"t must lie in [0, 1], not {number:g}: did you mean {number / 100:.12g}?")
    if not 0 <= number <= 1:
        raise ValueError(f"t must be a number in [0, 1], not {number!r}")
    return abs(number)  # -0.0 would print and score as a negative number


@lru_cache(maxsize=256)
def _penalty(t: float) -> float:
    # In decimal, so that t = 0.9 costs the 9 that the prompt announces, not 9.000000000000002.
    from decimal import Decimal

    exact = Decimal(repr(t))
    return math.inf if t == 1 else float(exact / (1 - exact))


def penalty(t: float) -> float:
    """What a wrong answer costs at t: t/(1-t), in [0, inf]; inf at t = 1.

    Raises ValueError for t outside [0, 1]. Source: arXiv 2509.04664, section 4.2.
    """
    return _penalty(check_t(t))


def score_item(answered: bool, correct: bool, t: float) -> float:
    """The score of one item at t: +1 answered and right, -t/(1-t) answered and wrong, 0 not answered.

    `correct` is not looked at where nothing was answered. At t = 1 a wrong answer scores -inf.
    Raises ValueError for t outside [0, 1].
    """
    cost = penalty(t)
    if not answered:
        return 0.0
    return 1.0 if correct else 0.0 - cost  # 0.0 - 0.0 is 0.0, -(0.0) is not


def inclusive_threshold(t: float) -> float:
    """The inclusive tau of an exclusive t: score >= tau iff score > t. At t = 1 nothing is accepted.

    Raises ValueError for t outside [0, 1].
    """
    number = check_t(t)
    return math.nextafter(number, 1.0) if number < 1 else math.nextafter(1.0, 2.0)


def mean_penalty_score(score: ArrayLike, bad: ArrayLike, tau: float, t: float) -> float | None:
    """Mean of +1 / -t/(1-t) / 0 over all rows, if those with score >= tau are let out and the others are not.

    `score`: (n,) in [0, 1], higher = safer; `bad`: (n,) of 0/1. Higher is better, at most 1. None without
    rows; -inf at t = 1 where a bad row is accepted. Raises ValueError for t outside [0, 1] and for malformed
    arrays.
    """
    import numpy as np

    from .arrays import as_score_and_bad, as_tau

    scores, labels = as_score_and_bad(score, bad)
    cost = penalty(t)
    if not scores.size:
        return None
    accepted = scores >= as_tau(tau)
    n_bad = int(np.count_nonzero(accepted & labels))
    n_good = int(np.count_nonzero(accepted)) - n_bad
    lost = n_bad * cost if n_bad else 0.0
    return (n_good - lost) / scores.size
