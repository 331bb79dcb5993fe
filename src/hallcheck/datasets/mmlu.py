"""MMLU: 57 subjects of four-option questions, with an optional share made unanswerable. Source: Hendrycks et al.,
arXiv 2009.03300.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from hallcheck.datasets.mmlu_sources import REVISION, SPLITS, Question, load_questions
from hallcheck.datasets.sampling import check_fraction, check_limit, choose, content_hash, letter, numbered
from hallcheck.errors import ConfigError
from hallcheck.registry import suggest
from hallcheck.types import Item

IDK_STYLES = ("swap", "duplicate")
# An option about the other options: right as soon as the right one is gone, and out of place elsewhere.
_ABOUT_OPTIONS = re.compile(
    r"\b(none|neither|all|both|any|either|each|more than one|two) (of )?(the )?(two )?"
    r"(above|below|these|those|them|others?(?=\W*$)|following|foregoing|preceding|options?|choices?|answers?|listed)\b"
    r"|\b(all|both|none|neither|either) (is|are) (true|correct|right|false|incorrect|wrong)\b"
    r"|\b(the|of) above\b|(?<!\w)\(?[A-D]\)? (and|or|nor|&) \(?[A-D]\)?(?!\w)"
    r"|^(none|all|both|neither|either)\W*$",
    re.IGNORECASE,
)


# Subject -> its wrong options: folded -> as written.
Pools = dict[str, dict[str, str]]


class MMLUDataset:
    """MMLU from the Hugging Face hub (`path` None, extra `hf`, pinned revision) or from a folder of its files.

    `subjects`: ("all",) or names. `limit`: that many items, drawn by `seed`, in file order. Ids are
    `subject:content-hash`, the same for any limit or seed; category is the subject.

    `idk_frac` of the items (in [0, 1], rounded) lose their right option and become `unknown_ok`: id `…|idk`, category
    `subject|unanswerable`. `idk_style` "swap" puts a wrong option of another question of the subject in its place,
    so that the item cannot be spotted; "duplicate" repeats one of the item's own wrong options.

    The constructor raises ConfigError; iterating raises DataError, MissingExtra, and ConfigError for a split or
    subject that is not there.
    """

    name = "mmlu"

    def __init__(
        self,
        *,
        path: str | PathLike[str] | None = None,
        split: str = "test",
        subjects: Sequence[str] = ("all",),
        limit: int | None = None,
        seed: int = 1234,
        idk_frac: float = 0.0,
        idk_style: str = "swap",
    ) -> None:
        check_limit(limit)
        check_fraction("--idk-frac", idk_frac)
        if idk_style not in IDK_STYLES:
            raise ConfigError(f"--idk-style: unknown style {idk_style!r}", hint=suggest(idk_style, IDK_STYLES))
        self.path = None if path is None else Path(path)
        self.split = _split(split)
        self.subjects = _subjects(subjects)
        self.limit, self.seed, self.idk_frac, self.idk_style = limit, seed, idk_frac, idk_style
        self.settings: Mapping[str, Any] = {
            "path": None if path is None else str(path),
            "revision": REVISION if path is None else None,
            "split": self.split,
            "subjects": ["all"] if self.subjects is None else list(self.subjects),
            "limit": limit,
            "seed": seed,
            "idk_frac": idk_frac,
            "idk_style": idk_style,
        }

    def __iter__(self) -> Iterator[Item]:
        questions = load_questions(self.path, self.split, self.subjects)
        rng = random.Random(self.seed)
        chosen = choose(len(questions), self.limit, rng)
        pools = _pools(questions) if self.idk_style == "swap" and self.idk_frac else None
        picked = _choose_idk([questions[i] for i in chosen], self.idk_frac, pools, rng)
        idk = {chosen[position] for position in picked}
        ids: Counter[str] = Counter()
        wanted = set(chosen)
        for index, question in enumerate(questions):
            digest = content_hash(question.question, question.choices, question.answer)
            name = numbered(ids, f"{question.subject}:{digest}")
            if index in idk:
                yield _corrupted(name, question, pools, rng)
            elif index in wanted:
                yield Item(
                    id=name,
                    question=question.question,
                    answers=(letter(question.answer),),
                    choices=question.choices,
                    category=question.subject,
                )


def _split(split: str) -> str:
    for name, spellings in SPLITS.items():
        if split.strip().lower() in spellings:
            return name
    raise ConfigError(f"--split: unknown split {split!r}", hint=suggest(split, SPLITS))


def _subjects(subjects: Sequence[str]) -> tuple[str, ...] | None:
    # None for all of them. A single string may list several.
    parts = [part for text in ([subjects] if isinstance(subjects, str) else subjects) for part in text.split(",")]
    names = dict.fromkeys("_".join(part.lower().split()) for part in parts if part.strip())
    if not names:
        raise ConfigError("--subjects names no subject", hint="give subjects, or all")
    return None if "all" in names else tuple(sorted(names))


def _choose_idk(questions: Sequence[Question], share: float, pools: Pools | None, rng: random.Random) -> list[int]:
    # Indices of the items to make unanswerable. One in which another option would then be right ("none of the
    # above") is taken only if there are too few others.
    count = round(share * len(questions))
    if not count:
        return []
    plain: list[int] = []
    rest: list[int] = []
    for index, question in enumerate(questions):
        gone = _gone(question)
        if _enough(question, len(gone), pools):
            (plain if len(gone) == 1 else rest).append(index)
    if count > len(plain) + len(rest):
        how = "have a wrong option" if pools is None else "can take an option from another question of their subject"
        raise ConfigError(
            f"--idk-frac {share:g} asks for {count} items without a right option; {len(plain) + len(rest)} {how}",
            hint="lower --idk-frac" + ("" if pools is None else ", or use --idk-style duplicate"),
        )
    if count <= len(plain):
        return rng.sample(plain, count)
    return plain + rng.sample(rest, count - len(plain))


def _gone(question: Question) -> list[int]:
    # The options to replace: the right one, and those that are right once it is gone (its copies, "none of these").
    right = _squash(question.choices[question.answer])
    others = (
        i
        for i, choice in enumerate(question.choices)
        if i != question.answer and (_squash(choice) == right or _ABOUT_OPTIONS.search(choice))
    )
    return [question.answer, *others]


def _enough(question: Question, needed: int, pools: Pools | None) -> bool:
    if pools is None:
        return needed < len(question.choices)
    pool = pools[question.subject]
    return len(pool) - len(pool.keys() & {_squash(choice) for choice in question.choices}) >= needed


def _pools(questions: Sequence[Question]) -> Pools:
    # Of the whole split, so that a limit does not thin them out.
    pools: Pools = {}
    for question in questions:
        pool = pools.setdefault(question.subject, {})
        for index, choice in enumerate(question.choices):
            if index != question.answer and choice and not _ABOUT_OPTIONS.search(choice):
                pool.setdefault(_squash(choice), choice)
    return pools


def _corrupted(name: str, question: Question, pools: Pools | None, rng: random.Random) -> Item:
    choices = list(question.choices)
    gone = _gone(question)
    if pools is None:
        own = [choice for index, choice in enumerate(choices) if index not in gone]
        new = [rng.choice(own) for _ in gone]
    else:
        taken = {_squash(choice) for choice in choices}
        new = rng.sample([c for key, c in pools[question.subject].items() if key not in taken], len(gone))
    for index, choice in zip(gone, new, strict=True):
        choices[index] = choice
    return Item(
        id=f"{name}|idk",
        question=question.question,
        choices=tuple(choices),
        unknown_ok=True,
        category=f"{question.subject}|unanswerable",
        meta={"idk_style": "duplicate" if pools is None else "swap"},
    )


def _squash(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
