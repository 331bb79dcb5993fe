"""Draws, ids and limits that the data sets share."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallcheck.datasets.sampling import check_fraction, choose, content_hash, letter, numbered, sampled, unique_texts
from hallcheck.errors import ConfigError
from hallcheck.types import Item


@given(st.integers(0, 200), st.one_of(st.none(), st.integers(1, 250)), st.integers())
def test_choose(total, limit, seed):
    chosen = choose(total, limit, random.Random(seed))
    assert chosen == sorted(set(chosen))
    assert len(chosen) == (total if limit is None else min(limit, total))
    assert all(0 <= i < total for i in chosen)
    assert chosen == choose(total, limit, random.Random(seed))


def test_every_index_can_be_chosen():
    counts = Counter(i for seed in range(2000) for i in choose(10, 3, random.Random(seed)))
    assert min(counts.values()) > 450  # 600 expected, sd 20
    assert max(counts.values()) < 750


def test_sampled_opens_the_stream_once_without_a_limit():
    opened = []

    def items():
        opened.append(1)
        return iter([Item(id=str(i), question="q") for i in range(10)])

    assert len(list(sampled(items, None, 1))) == 10
    assert len(opened) == 1
    assert len(list(sampled(items, 4, 1))) == 4
    assert len(opened) == 3


def test_content_hash():
    assert content_hash("a", ["b"]) == content_hash(" a\n", ("b ",))
    assert content_hash("a", ["b"]) != content_hash("a", "b")
    assert content_hash("ab", "c") != content_hash("a", "bc")
    assert content_hash(None) != content_hash("None")
    assert len(content_hash("é\ud83d", digits=16)) == 16


def test_numbered():
    ids = Counter()
    assert [numbered(ids, n) for n in ("a", "b", "a", "a")] == ["a", "b", "a-2", "a-3"]


def test_small_helpers():
    assert [letter(i) for i in (0, 9, 25)] == ["A", "J", "Z"]
    assert unique_texts([" a", "", "b", "a "]) == ("a", "b")
    for good in (0, 1, 0.25):
        check_fraction("--idk-frac", good)
    for bad in (-1, 2, float("nan"), float("inf"), "x", None):
        with pytest.raises(ConfigError, match="--idk-frac"):
            check_fraction("--idk-frac", bad)
