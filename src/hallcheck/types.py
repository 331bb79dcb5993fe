"""The values that travel through hallcheck: frozen, keyword-only, standard library only.

Direction of every score: in [0, 1], higher = safer; an item is accepted iff score >= tau. Undefined is None.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Outcome = Literal["correct", "wrong", "abstained", "unscored"]
OUTCOMES: tuple[Outcome, ...] = ("correct", "wrong", "abstained", "unscored")
UNSCORED_REASONS = ("empty", "truncated", "blocked", "unparsed", "judge_failed", "error")
RetryKind = Literal["no", "transient", "rate_limit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One question.

    `answers`: the accepted answers; for an item with `choices`, the letter of the right option ("A", "B", ...).
    Empty only where `unknown_ok`: then no answer is right and abstaining is the right behaviour.
    `choices`: the options in order, without their letters. `group`: what dependent items share.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    choices: tuple[str, ...] | None = None
    unknown_ok: bool = False
    group: str | None = None
    category: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gold(self) -> str:
        """The accepted answers as the `gold` column holds them: joined by `|`."""
        return "|".join(self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that decides a reply. `repeat` tells apart repeated samples of one prompt.

    `item_id`, `question` and `t` say what the request is about; they are no part of the key. Recorded answers are
    found by them.
    """

    provider: str
    endpoint: str
    model: str
    messages: tuple[Message, ...]
    temperature: float = 0.0
    max_tokens: int = 128
    seed: int | None = None
    logprobs: bool = False
    thinking_budget: int | None = None
    repeat: int = 0
    item_id: str = ""
    question: str = ""
    t: float | None = None

    @property
    def key(self) -> str:
        """sha256 of the canonical JSON (sorted keys, no spaces, UTF-8) of what decides the reply: the cache's key."""
        about = ("messages", "item_id", "question", "t")
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in about}
        fields["messages"] = [[m.role, m.content] for m in self.messages]
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, as the provider counts them; None where it does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model answered.

    `finish`: "stop", "length", "content_filter" or "refusal"; an unknown value is kept as it came.
    `logprobs`: (token text, natural log of its probability) for each token of the answer, if asked and given.
    `correct`: only from the replay of a recorded, already judged answer. `abstained` likewise.
    """

    text: str
    finish: str = "stop"
    usage: Usage = Usage()
    logprobs: tuple[tuple[str, float], ...] | None = None
    model_version: str | None = None
    latency_s: float = 0.0
    correct: bool | None = None
    abstained: bool | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why no reply came. `kind` is the name of the error's class; `attempts` counts every try."""

    kind: str
    message: str
    attempts: int
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """A provider's word on an error: whether asking again may help, and the least wait in seconds."""

    kind: RetryKind
    after_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a reply is worth. `reason`: why it abstained or is unscored (see the outcomes table), else ""."""

    outcome: Outcome
    reason: str = ""
    extracted: str | None = None
    judge: str = ""
    judge_version: str = ""
    disagreement: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRecord:
    """One line of the journal `run.jsonl`: one reply, or the failure to get one, with its verdict.

    `slot`: the place of this trial in the run's fixed order (item-major). `t`: None for the confidence methods, whose
    verdict is on the committed answer and holds for every t. `outcome` "" : replied, not yet judged.
    `confidence`: the model's stated or measured confidence in [0, 1]. `error`: why there is no reply.
    """

    slot: int
    id: str
    t: float | None
    repeat: int = 0
    text: str = ""
    finish: str = ""
    outcome: str = ""
    reason: str = ""
    extracted: str | None = None
    confidence: float | None = None
    judge: str = ""
    disagreement: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    latency_s: float = 0.0
    model_version: str | None = None
    error: str | None = None
    recorded_correct: bool | None = None
    recorded_abstained: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval. `value` None: undefined (nothing to divide by); the note says why."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = ""
    n: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A warning or remark with a stable code, the figure that raised it, and what to do."""

    code: str
    severity: Literal["info", "warning", "error"]
    message: str
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a renderer draws: JSON-able parts of one finished (or partial) run.

    `run`: the manifest. `metrics`: as written to metrics.json. `behavior`: as written to behavior.json.
    `examples`: outcome -> rows of results.csv, a few each.
    """

    title: str
    run: Mapping[str, Any]
    metrics: Mapping[str, Any]
    behavior: Mapping[str, Any]
    examples: Mapping[str, Sequence[Mapping[str, Any]]]
    notes: tuple[Note, ...] = ()
    partial: bool = False


class Provider(Protocol):
    """The only way to a model. One method asks; the other says whether asking again may help."""

    name: str
    endpoint: str
    supports: frozenset[str]  # of "logprobs", "seed", "temperature"
    changes: tuple[str, ...]  # how requests were adapted to this model, for the user to read

    async def complete(self, request: Request) -> Reply:
        """Ask once. Raises ProviderError only (and asyncio.CancelledError)."""
        ...

    def classify(self, error: BaseException) -> Retry:
        """Whether to retry after `error`."""
        ...

    def adapt(self, error: BaseException) -> Provider | None:
        """A provider that leaves out or renames the optional field that `error` complains of; None if none is."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class Judge(Protocol):
    """Turns a reply into a verdict."""

    name: str
    version: str

    async def judge(self, item: Item, reply: Reply) -> Verdict:
        """Verdict on `reply` to `item`. Never raises for what a model said."""
        ...

    async def same(self, item: Item, first: str, second: str) -> bool:
        """Whether two extracted answers to `item` mean the same (used to cluster samples)."""
        ...


class Dataset(Protocol):
    """A source of items. Iterating validates: the first bad row raises DataError. Iterable once or often."""

    name: str
    settings: Mapping[str, Any]  # what selects the items, JSON-able; part of the run's configuration

    def __iter__(self) -> Any: ...


class Renderer(Protocol):
    """Draws a report."""

    def render(self, report: Report) -> bytes: ...
