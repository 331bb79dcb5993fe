"""The package's own questions."""

from __future__ import annotations

import pytest

from hallcheck.datasets.builtin import BuiltinDataset
from hallcheck.errors import ConfigError


def test_all_items_are_whole():
    items = list(BuiltinDataset())
    assert len({i.id for i in items}) == len(items)
    assert all(i.category and i.meta["tier"] for i in items)
    assert all(bool(i.answers) != i.unknown_ok for i in items)
    for item in items:
        if item.choices and not item.unknown_ok:
            assert 0 <= ord(item.answers[0]) - ord("A") < len(item.choices)
    assert any(i.unknown_ok for i in items)


def test_demo_is_a_part_in_the_same_order():
    ids = [i.id for i in BuiltinDataset()]
    demo = [i.id for i in BuiltinDataset(subset="demo")]
    assert 0 < len(demo) < len(ids)
    assert demo == [i for i in ids if i in set(demo)]


def test_limit_seed_and_subset():
    some = [i.id for i in BuiltinDataset(limit=5)]
    assert some == [i.id for i in BuiltinDataset(limit=5, seed=1234)]
    assert some != [i.id for i in BuiltinDataset(limit=5, seed=2)]
    assert len(some) == 5
    with pytest.raises(ConfigError, match="'dmo'") as caught:
        BuiltinDataset(subset="dmo")
    assert "did you mean 'demo'?" in caught.value.hint
    with pytest.raises(ConfigError):
        BuiltinDataset(limit=0)
