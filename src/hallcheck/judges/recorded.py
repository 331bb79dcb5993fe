"""The recorded judge: takes the verdict that a replayed answer carries."""

from __future__ import annotations

from hallcheck.judges.answer import judge_answer
from hallcheck.text.answers import same_answer
from hallcheck.types import Item, Judge, Reply, Verdict


class RecordedJudge:
    """`Reply.abstained` true: abstained (`idk`). Else `Reply.correct`: correct or wrong. Else the inner judge.

    Without an inner judge, a reply that carries no verdict goes through the text rules for what needs no gold
    (blocked, empty, cut, abstained) and is otherwise unscored, `unparsed`.
    """

    name, version = "recorded", "recorded-1"

    def __init__(self, inner: Judge | None = None) -> None:
        self.inner = inner

    def verdict(self, item: Item, reply: Reply) -> Verdict:
        """`judge` without a coroutine; the inner judge is asked only if it has a `verdict` of its own."""
        found = self._recorded(reply)
        if found is not None:
            return found
        inner = getattr(self.inner, "verdict", None)
        if inner is not None:
            given: Verdict = inner(item, reply)
            return given
        return self._unjudged(item, reply)

    async def judge(self, item: Item, reply: Reply) -> Verdict:
        """Verdict on `reply` to `item`."""
        found = self._recorded(reply)
        if found is None and self.inner is not None:
            return await self.inner.judge(item, reply)
        return found if found is not None else self._unjudged(item, reply)

    async def same(self, item: Item, first: str, second: str) -> bool:
        """As the inner judge says; else text or numeric equality."""
        if self.inner is not None:
            return await self.inner.same(item, first, second)
        return same_answer(first, second)

    def _recorded(self, reply: Reply) -> Verdict | None:
        if reply.abstained:
            return Verdict(outcome="abstained", reason="idk", judge=self.name, judge_version=self.version)
        if reply.correct is None:
            return None
        return Verdict(
            outcome="correct" if reply.correct else "wrong",
            extracted=reply.text.strip() or None,
            judge=self.name,
            judge_version=self.version,
        )

    def _unjudged(self, item: Item, reply: Reply) -> Verdict:
        found = judge_answer(reply.text, (), choices=item.choices, finish=reply.finish)
        reason = "unparsed" if found.reason == "error" else found.reason
        return Verdict(
            outcome=found.outcome,
            reason=reason,
            extracted=found.extracted,
            judge=self.name,
            judge_version=self.version,
        )
