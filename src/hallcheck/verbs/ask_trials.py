"""One trial from question to record: build the request, ask, read the confidence, judge, write it down."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import orjson

from hallcheck.calling import Caller
from hallcheck.config import AskConfig
from hallcheck.prompts import build_messages
from hallcheck.store.journal import Journal, JournalReader
from hallcheck.text.normalize import strip_reasoning
from hallcheck.types import AskRecord, Failure, Item, Judge, Reply, Request, Usage, Verdict
from hallcheck.verbs.ask_plan import REPLIED, Plan

# Dressing is bounded and stays on its line: a reply of a million stars must not take a million steps each. Before the
# number it holds no dot and no minus: ".1" is not 1, and -0.5 is not 0.5.
_PROBABILITY = re.compile(
    r"(?:^[^\w\n]{0,20}(?:\d[.)] *)?[^\w\n]{0,20}|[,;|] ?)"
    r"(?:probability|confidence|p)(?: ?\([^()\n]{0,20}\))?[^\w\n:=]{0,20}[:=]"
    r"[^\w\n.\-\u2212]{0,20}\n?[^\w\n.\-\u2212]{0,20}"
    r"((?:\d{1,20}(?:[.,]\d{0,40})?|\.\d{1,40})(?:e-?\d{1,4})?)[ \t]*(%?)(?: ?\([^()\n]{0,40}\))?[^\w\n]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER = re.compile(r"^[^\w\n]{0,20}?(?:\d[.)] *)?([*_`]{0,3})answer[^\w\n:=]{0,20}[:=]", re.IGNORECASE | re.MULTILINE)


@dataclass(slots=True, kw_only=True)
class Trials:
    """Does the work of one run. `judge_for(item)` gives the judge of an item."""

    config: AskConfig
    caller: Caller
    judge_for: Callable[[Item], Judge]
    plan: Plan
    journal: Journal
    reader: JournalReader
    provider_name: str
    endpoint: str
    model_name: str

    async def unit(self, item: Item, index: int, parts: tuple[int, ...]) -> None:
        """All that is left to do for one unit of work (see Plan.work)."""
        if self.config.method == "samples":
            for part in parts:
                if part < self.config.samples:
                    await self._sample(item, index, part)
            await self._agree(item, index)
        else:
            await self._single(item, self.plan.slot(index, parts[0]), parts[0])

    def request(self, item: Item, part: int) -> Request:
        """The request of part `part` (a threshold's place for `prompt`, a repeat for `samples`)."""
        config = self.config
        t = config.thresholds[part] if config.method == "prompt" else None
        repeat = part if config.method == "samples" else 0
        return Request(
            provider=self.provider_name,
            endpoint=self.endpoint,
            model=self.model_name,
            messages=build_messages(item, method=config.method, t=t, shots=config.shots),
            temperature=config.sampling_temperature,
            max_tokens=config.max_output_tokens,
            seed=config.seed + repeat,
            logprobs=config.method == "logprob",
            thinking_budget=config.thinking_budget,
            repeat=repeat,
            item_id=item.id,
            question=item.question,
            t=t,
        )

    async def _single(self, item: Item, slot: int, part: int) -> None:
        request = self.request(item, part)
        if self.plan.state[slot] == REPLIED:
            record = self.reader.read(self.plan.offset[slot])
        else:
            result = await self.caller.call(request)
            record = self._replied(request, slot, result)
        if record.error is None:
            reply, confidence, reason = self._read(record)
            judge = self.judge_for(item)
            sync = getattr(judge, "verdict", None)
            if sync is not None:
                verdict: Verdict = sync(item, reply)
            else:
                # The reply is paid for: it is written down before the judge is asked.
                if self.plan.state[slot] != REPLIED:
                    self._write(record)
                verdict = await judge.judge(item, reply)
            record = _with_verdict(record, verdict, confidence, reason)
        self._write(record)

    async def _sample(self, item: Item, index: int, repeat: int) -> None:
        slot = self.plan.slot(index, repeat)
        if not self.plan.missing(slot):
            return
        request = self.request(item, repeat)
        record = self._replied(request, slot, await self.caller.call(request))
        if record.error is None:
            # A sample is only read here; right and wrong are judged once, on the answer that most samples give.
            verdict = _reading(item, _reply_of(record))
            record = replace(
                record, outcome=verdict.outcome, reason=verdict.reason, extracted=verdict.extracted, judge="reading"
            )
        self._write(record)

    async def _agree(self, item: Item, index: int) -> None:
        """The verdict on an item's samples: confidence = share of the readable samples that give the top answer."""
        k = self.config.samples
        slot = self.plan.slot(index, k)
        if self.plan.state[slot] > REPLIED:
            return
        samples = [self.reader.read(self.plan.offset[self.plan.slot(index, r)]) for r in range(k)]
        readable = [s for s in samples if s.outcome != "unscored"]
        committed = [s for s in readable if s.outcome != "abstained"]
        base = AskRecord(slot=slot, id=item.id, t=None, repeat=k, finish="stop")
        if not readable:
            first = samples[0]
            self._write(replace(base, outcome="unscored", reason=first.reason, error=first.error))
            return
        if not committed:
            reason = readable[0].reason
            self._write(replace(base, text=readable[0].text, outcome="abstained", reason=reason, confidence=0.0))
            return
        judge = self.judge_for(item)
        clusters: list[list[AskRecord]] = []
        for sample in committed:
            for cluster in clusters:
                if await judge.same(item, _answer_of(cluster[0]), _answer_of(sample)):
                    cluster.append(sample)
                    break
            else:
                clusters.append([sample])
        top = max(clusters, key=len)
        verdict = await judge.judge(item, _reply_of(top[0]))
        record = replace(base, text=top[0].text, model_version=top[0].model_version, finish=top[0].finish)
        self._write(_with_verdict(record, verdict, len(top) / len(readable), ""))

    def _replied(self, request: Request, slot: int, result: Reply | Failure) -> AskRecord:
        if isinstance(result, Failure):
            return AskRecord(
                slot=slot,
                id=request.item_id,
                t=request.t,
                repeat=request.repeat,
                outcome="unscored",
                reason="error",
                error=f"{result.kind} (tries: {result.attempts}): {result.message}",
            )
        usage = result.usage
        return AskRecord(
            slot=slot,
            id=request.item_id,
            t=request.t,
            repeat=request.repeat,
            text=result.text,
            finish=result.finish,
            confidence=_confidence(request, result),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            thinking_tokens=usage.thinking_tokens,
            latency_s=round(result.latency_s, 4),
            model_version=result.model_version,
            recorded_correct=result.correct,
            recorded_abstained=result.abstained,
        )

    def _read(self, record: AskRecord) -> tuple[Reply, float | None, str]:
        """The reply to judge, its confidence, and why it cannot count ("" if it can)."""
        reply = _reply_of(record)
        if self.config.method == "verbal":
            visible, unclosed = strip_reasoning(record.text)
            if unclosed:  # what stands in there is a draft; the judge says so
                return reply, None, ""
            answer, stated = split_stated(visible)
            confidence = stated if stated is not None else record.confidence
            return replace(reply, text=answer), confidence, "" if confidence is not None else "no probability"
        if self.config.method == "logprob":
            return reply, record.confidence, "" if record.confidence is not None else "no logprobs"
        return reply, record.confidence, ""

    def _write(self, record: AskRecord) -> None:
        self.plan.add(record.slot, self.journal.append(record), record.outcome)


def split_stated(text: str) -> tuple[str, float | None]:
    """(answer, stated probability) of a reply to the `verbal` prompt; the probability is None if it is not readable.

    The last `Probability:` line counts. 90% is 0.9; a bare 90, or anything outside [0, 1], is not readable.
    """
    if (stated := _from_json(text)) is not None:
        return stated
    matches = list(_PROBABILITY.finditer(text))
    if not matches:
        return _answer(text), None
    last = matches[-1]
    try:
        value = float(last[1].replace(",", ".")) / (100 if last[2] else 1)
    except ValueError:
        value = math.nan
    return _answer(text[: last.start()] + text[last.end() :]), value if 0 <= value <= 1 else None


def _from_json(text: str) -> tuple[str, float | None] | None:
    """The same from a reply that is one JSON object with `answer` and `probability` (or `confidence`); else None."""
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not (bare.startswith("{") and bare.endswith("}")):
        return None
    try:
        row = orjson.loads(bare)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(row.get("answer"), str | int | float):
        return None
    stated = row.get("probability", row.get("confidence"))
    readable = isinstance(stated, int | float) and not isinstance(stated, bool) and 0 <= stated <= 1
    return str(row["answer"]), float(stated) if readable else None


def _answer(text: str) -> str:
    """What follows the last `Answer:`, on its line or, if that is blank, below it; the whole text if there is none."""
    matches = list(_ANSWER.finditer(text))
    if not matches:
        return text.strip()
    # What the label is dressed in ("**Answer:** Au") is no part of the answer.
    line, _, below = text[matches[-1].end() :].removeprefix(matches[-1][1]).partition("\n")
    return line.strip() or below.strip()


def _confidence(request: Request, reply: Reply) -> float | None:
    """Measured from the tokens where they were asked for; else what a recorded answer carries."""
    measured = _mean_probability(reply) if request.logprobs else None
    return reply.confidence if measured is None else measured


def _mean_probability(reply: Reply) -> float | None:
    """Arithmetic mean of the probabilities of the answer's tokens, in [0, 1]."""
    if not reply.logprobs:
        return None
    values = [math.exp(min(0.0, p)) for _, p in reply.logprobs if not math.isnan(p)]
    return sum(values) / len(values) if values else None


def _with_verdict(record: AskRecord, verdict: Verdict, confidence: float | None, unreadable: str) -> AskRecord:
    outcome, reason = verdict.outcome, verdict.reason
    if unreadable and outcome in ("correct", "wrong"):
        outcome, reason = "unscored", "unparsed"
    return replace(
        record,
        outcome=outcome,
        reason=reason,
        extracted=verdict.extracted,
        confidence=confidence,
        judge=f"{verdict.judge}@{verdict.judge_version}",
        disagreement=verdict.disagreement,
    )


def _reading(item: Item, reply: Reply) -> Verdict:
    from hallcheck.judges.answer import judge_answer

    return judge_answer(reply.text, item.answers, choices=item.choices, unknown_ok=item.unknown_ok, finish=reply.finish)


def _answer_of(record: AskRecord) -> str:
    return record.extracted if record.extracted is not None else record.text


def _reply_of(record: AskRecord) -> Reply:
    return Reply(
        text=record.text,
        finish=record.finish,
        usage=Usage(input_tokens=record.input_tokens, output_tokens=record.output_tokens),
        model_version=record.model_version,
        latency_s=record.latency_s,
        correct=record.recorded_correct,
        abstained=record.recorded_abstained,
        confidence=record.confidence,
    )
