"""The choice judge: a committed letter, or the option's own text."""

from __future__ import annotations

from hallcheck.judges.answer import CHOICE
from hallcheck.judges.exact import ExactJudge


class ChoiceJudge(ExactJudge):
    """For items with options (without them it judges as `exact` does). See `text.choices` for what commits."""

    name, version = CHOICE
