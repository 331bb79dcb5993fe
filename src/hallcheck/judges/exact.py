"""The exact judge: text or numeric equality; items with options are judged by the choice rules."""

from __future__ import annotations

from hallcheck.judges.answer import EXACT, judge_answer
from hallcheck.text.answers import same_answer
from hallcheck.text.choices import committed_option
from hallcheck.types import Item, Reply, Verdict


class ExactJudge:
    """Anchored equality with an accepted answer. No request, no state. See `judge_answer` for the outcomes."""

    name, version = EXACT

    def verdict(self, item: Item, reply: Reply) -> Verdict:
        """`judge` without a coroutine, for hot paths."""
        return judge_answer(
            reply.text, item.answers, choices=item.choices, unknown_ok=item.unknown_ok, finish=reply.finish
        )

    async def judge(self, item: Item, reply: Reply) -> Verdict:
        """Verdict on `reply` to `item`."""
        return self.verdict(item, reply)

    def same_now(self, item: Item, first: str, second: str) -> bool:
        """`same` without a coroutine."""
        if item.choices is None:
            return same_answer(first, second)
        a, b = (committed_option(text, item.choices) for text in (first, second))
        return a == b if a is not None and b is not None else same_answer(first, second)

    async def same(self, item: Item, first: str, second: str) -> bool:
        """Whether two extracted answers are equal (as options, where the item has them)."""
        return self.same_now(item, first, second)
