"""From a question to its record: what each method reads as the confidence, and what becomes of odd replies."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hallcheck
from hallcheck.calling import RetryPolicy
from hallcheck.config import AskConfig
from hallcheck.engine import run_sync
from hallcheck.errors import BadRequest, Unavailable
from hallcheck.types import Item, Reply, Request
from hallcheck.verbs import ask_judging
from hallcheck.verbs.ask import run_ask
from hallcheck.verbs.ask_run import AskRun
from hallcheck.verbs.ask_trials import split_stated
from support.scripted import Script, Scripted

GOLD = Item(id="gold", question="Which symbol has gold?", answers=("Au",))


def ask(script: Script | Scripted, out: Path, items: list[Item] | None = None, **settings: Any) -> AskRun:
    provider = script if isinstance(script, Scripted) else Scripted(script)
    config = AskConfig(**{"model": "google/scripted", "out": str(out), "figures": False, "concurrency": 1, **settings})
    retry = RetryPolicy(max_retries=0)
    return run_sync(run_ask(config, items or [GOLD], {"name": "test"}, provider=provider, retry=retry))


def rows(run: AskRun) -> list[tuple[str, str, Any]]:
    return [(row["outcome"], row["reason"], row["confidence"]) for row in run.records]


@pytest.mark.parametrize(
    ("text", "answer", "stated"),
    [
        ("Answer: Au\nProbability: 0.9", "Au", 0.9),
        ("Answer: Au\nProbability: 90%", "Au", 0.9),
        ("Answer: Au\nProbability: 90 %.", "Au", 0.9),
        ("Answer: Au\nProbability: 90", "Au", None),
        ("Answer: Au\nProbability: .1", "Au", 0.1),
        ("Answer: Au\nProbability: 1", "Au", 1.0),
        ("Answer: Au\nProbability: 1.0.", "Au", 1.0),
        ("Answer: Au\nProbability: 0", "Au", 0.0),
        ("Answer: Au\nProbability: 9e-1", "Au", 0.9),
        ("Answer: Au\nProbability: 1.01", "Au", None),
        ("Answer: Au\nProbability: 101%", "Au", None),
        ("Answer: Au\nProbability: -0.5", "Au", None),
        ("Answer: Au\nProbability: \u22120.5", "Au", None),
        ("Answer: Au\nProbability: 1e999", "Au", None),
        ("Answer: Au\nProbability: nan", "Au\nProbability: nan", None),
        ("Answer: Au\nProbability: high", "Au\nProbability: high", None),
        ("Answer: Au", "Au", None),
        ("Au", "Au", None),
        ("", "", None),
        ("Probability: 0.8\nAnswer: Au", "Au", 0.8),
        ("Answer: Au\nProbability: 0.2\nProbability: 0.7", "Au", 0.7),
        ("Answer: Pb\nAnswer: Au\nProbability: 0.7", "Au", 0.7),
        ("**Answer:** Au\n**Probability:** 0.9", "Au", 0.9),
        ("**Answer**: Au\n**Probability**: **0.9**", "Au", 0.9),
        ("- Answer: Au\n- Probability: 0.9", "Au", 0.9),
        ("* **Answer:** Au\n* **Probability:** 0.9", "Au", 0.9),
        ("1. Answer: Au\n2. Probability: 0.9", "Au", 0.9),
        ("Answer:\nAu\nProbability:\n0.9", "Au", 0.9),
        ("ANSWER = Au\nCONFIDENCE = 0.9", "Au", 0.9),
        ("answer: Au\np: 0.9", "Au", 0.9),
        ("Answer: Au\r\nProbability: 0.9\r\n", "Au", 0.9),
        ("The metal is gold.\n\nAnswer: Au\n\nProbability: 0.9\n\nI hope that helps!", "Au", 0.9),
        ("Answer: p: 3\nProbability: 0.9", "p: 3", 0.9),
        ("Answer: $\nProbability: 0.9", "$", 0.9),
        ("Answer: 0.25\nProbability: 0.9", "0.25", 0.9),
    ],
)
def test_an_answer_with_its_stated_probability(text: str, answer: str, stated: float | None) -> None:
    found = split_stated(text)
    if stated is None:
        assert found[0].split("\n")[0] == answer.split("\n")[0]
        assert found[1] is None
    else:
        assert found == (answer, pytest.approx(stated))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_read_and_a_probability_lies_in_0_to_1(text: str) -> None:
    _, stated = split_stated(text)
    assert stated is None or 0 <= stated <= 1


@given(st.floats(0, 1).map(lambda p: round(p, 6)), st.sampled_from(["Au", "42", "IDK", "the Seine"]))
def test_what_the_prompt_asks_for_is_read_exactly(probability: float, answer: str) -> None:
    assert split_stated(f"Answer: {answer}\nProbability: {probability:f}") == (answer, probability)


@pytest.mark.parametrize("text", ["\n" * 200_000, "*" * 200_000, "Probability" + ":" * 200_000, "answer " * 50_000])
def test_a_reply_of_nothing_but_dressing_does_not_hold_a_run_up(text: str) -> None:
    assert split_stated(text)[1] is None


@pytest.mark.parametrize(
    ("text", "at_half", "at_nine"),
    [
        ("Answer: Au\nProbability: 0.8", ("correct", "", 0.8), ("abstained", "below_threshold", 0.8)),
        ("Answer: Pb\nProbability: 0.95", ("wrong", "", 0.95), ("wrong", "", 0.95)),
        ("**Answer:** Au\n**Probability:** 95%", ("correct", "", 0.95), ("correct", "", 0.95)),
        # Answered iff the probability is greater than t, not equal.
        ("Answer: Au\nProbability: 0.5", *[("abstained", "below_threshold", 0.5)] * 2),
        ("Answer: IDK\nProbability: 0.1", *[("abstained", "idk", 0.1)] * 2),
        ("IDK", *[("abstained", "idk", None)] * 2),
        ("Answer: Au", *[("unscored", "unparsed", None)] * 2),
        ("Answer: Au\nProbability: 90", *[("unscored", "unparsed", None)] * 2),
        ("", *[("unscored", "empty", None)] * 2),
        ("<think>Answer: Pb\nProbability: 0.2</think>Answer: Au\nProbability: 0.97", *[("correct", "", 0.97)] * 2),
        ("<think>Say it is lead.\nAnswer: Pb\nProbability: 0.3", *[("unscored", "truncated", None)] * 2),
    ],
)
def test_the_stated_probability_decides_at_every_threshold_at_once(
    text: str, at_half: Any, at_nine: Any, tmp_path: Path
) -> None:
    provider = Scripted(lambda _r: text)
    run = ask(provider, tmp_path, method="verbal", thresholds=(0.5, 0.9))
    assert rows(run) == [at_half, at_nine]
    assert len(provider.requests) == 1


def test_token_probabilities_are_averaged(tmp_path: Path) -> None:
    logprobs = (("A", math.log(0.9)), ("u", math.log(0.6)), ("", 0.0))

    def script(request: Request) -> Reply:
        assert request.logprobs
        return Reply(text="Au", logprobs=logprobs)

    run = ask(script, tmp_path, method="logprob", thresholds=(0.5, 0.9))
    (_, _, first), (outcome, reason, _) = rows(run)
    assert first == pytest.approx((0.9 + 0.6 + 1) / 3)
    assert (outcome, reason) == ("abstained", "below_threshold")


@pytest.mark.parametrize(
    ("logprobs", "confidence"),
    [((("x", 5000.0),), 1.0), ((("x", -math.inf),), 0.0), ((("x", math.nan), ("y", math.log(0.5))), 0.5)],
)
def test_odd_token_probabilities_stay_in_0_to_1(logprobs: Any, confidence: float, tmp_path: Path) -> None:
    run = ask(lambda _r: Reply(text="Au", logprobs=logprobs), tmp_path, method="logprob", thresholds=(0.1,))
    assert rows(run)[0][2] == pytest.approx(confidence)


@pytest.mark.parametrize("logprobs", [None, (), (("x", math.nan),)])
def test_without_token_probabilities_a_committed_answer_is_unparsed(logprobs: Any, tmp_path: Path) -> None:
    run = ask(lambda _r: Reply(text="Au", logprobs=logprobs), tmp_path, method="logprob", thresholds=(0.5,))
    assert rows(run) == [("unscored", "unparsed", None)]


class TestSamples:
    """Agreement of k samples."""

    @staticmethod
    def of(*texts: Any) -> Scripted:
        return Scripted(lambda request: texts[request.repeat])

    @pytest.mark.parametrize(
        ("texts", "outcome", "reason", "confidence"),
        [
            (("Au", "au.", "**Au**", "The answer is Au", "Au"), "correct", "", 1.0),
            (("Au", "Au", "Au", "Pb", "Ag"), "correct", "", 0.6),
            (("Pb", "Pb", "Pb", "Au", "Ag"), "wrong", "", 0.6),
            (("IDK", "Au", "Au", "I don't know.", "Au"), "correct", "", 0.6),
            (("IDK", "IDK", "IDK", "IDK", "Au"), "correct", "", 0.2),
            (("IDK",) * 5, "abstained", "idk", 0.0),
            # Of four readable samples three agree; the empty one is no vote.
            (("", "Au", "Au", "Au", "Pb"), "correct", "", 0.75),
            (("",) * 5, "unscored", "empty", None),
        ],
    )
    def test_confidence_is_the_share_of_readable_samples_that_give_the_top_answer(
        self, texts: Any, outcome: str, reason: str, confidence: float | None, tmp_path: Path
    ) -> None:
        provider = self.of(*texts)
        run = ask(provider, tmp_path, method="samples", samples=5, thresholds=(0.0,))
        wanted = confidence if confidence is None else pytest.approx(confidence)
        assert rows(run) == [(outcome, reason, wanted)]
        assert len(provider.requests) == 5

    def test_samples_differ_in_seed_and_repeat_and_share_the_rest(self, tmp_path: Path) -> None:
        provider = self.of(*["Au"] * 4)
        ask(provider, tmp_path, method="samples", samples=4, thresholds=(0.5,), seed=7)
        assert [(r.repeat, r.seed, r.temperature) for r in provider.requests] == [(n, 7 + n, 0.7) for n in range(4)]
        assert len({r.messages for r in provider.requests}) == 1
        assert len({r.key for r in provider.requests}) == 4

    def test_options_are_compared_as_options(self, tmp_path: Path) -> None:
        item = Item(id="a", question="Which?", answers=("B",), choices=("iron", "gold", "lead"))
        texts = ("B", "gold", "(b)", "A", "**B. gold**")
        run = ask(self.of(*texts), tmp_path, [item], method="samples", samples=5, thresholds=(0.5,))
        assert rows(run) == [("correct", "", pytest.approx(0.8))]

    def test_where_no_answer_is_right_the_top_answer_is_wrong_and_abstaining_is_not(self, tmp_path: Path) -> None:
        item = Item(id="a", question="Which?", unknown_ok=True)
        run = ask(self.of("x", "x", "IDK"), tmp_path / "1", [item], method="samples", samples=3, thresholds=(0.5, 0.9))
        assert rows(run) == [
            ("wrong", "", pytest.approx(2 / 3)),
            ("abstained", "below_threshold", pytest.approx(2 / 3)),
        ]
        run = ask(self.of("IDK", "IDK", "IDK"), tmp_path / "2", [item], method="samples", samples=3, thresholds=(0.5,))
        assert rows(run) == [("abstained", "idk", 0.0)]

    def test_a_failed_sample_is_no_vote_and_is_asked_again_with_a_new_verdict(self, tmp_path: Path) -> None:
        texts: list[Any] = ["Au", BadRequest("no"), "Pb"]
        settings: dict[str, Any] = {"method": "samples", "samples": 3, "thresholds": (0.0,)}
        assert rows(ask(self.of(*texts), tmp_path, **settings)) == [("correct", "", 0.5)]
        again = self.of("never", "Pb", "never")
        assert rows(ask(again, tmp_path, **settings)) == [("wrong", "", pytest.approx(2 / 3))]
        assert [r.repeat for r in again.requests] == [1]
        nothing = self.of()
        assert rows(ask(nothing, tmp_path, **settings)) == [("wrong", "", pytest.approx(2 / 3))]
        assert nothing.requests == []

    def test_when_every_sample_fails_the_row_is_an_error(self, tmp_path: Path) -> None:
        run = ask(self.of(*[Unavailable("down")] * 3), tmp_path, method="samples", samples=3, thresholds=(0.5,))
        assert rows(run) == [("unscored", "error", None)]

    def test_an_llm_judge_says_which_answers_are_the_same(self, tmp_path: Path, monkeypatch: Any) -> None:
        alike = {frozenset({"gold", "Au"})}

        def judge(request: Request) -> str:
            lines = dict(line.split(": ", 1) for line in request.messages[0].content.split("\n") if ": " in line)
            pair = frozenset({lines["Gold answer"], lines["Candidate answer"]})
            return "YES" if len(pair) == 1 or pair in alike else "NO"

        judging = Scripted(judge)
        real = ask_judging.registry.load

        def load(family: str, name: str) -> Any:
            return (lambda *_a, **_k: judging) if family == "providers" else real(family, name)

        monkeypatch.setattr(ask_judging.registry, "load", load)
        run = ask(
            self.of("gold", "Au", "Ag", "Au"), tmp_path, method="samples", samples=4, thresholds=(0.5,), judge="llm"
        )
        assert rows(run) == [("correct", "", 0.75)]
        assert judging.closed == 1


class TestJudging:
    """Replies are written down before a judge is asked, and judged once."""

    @pytest.fixture
    def judged(self, monkeypatch: Any) -> Scripted:
        judging = Scripted(lambda _r: "YES")
        real = ask_judging.registry.load

        def load(family: str, name: str) -> Any:
            return (lambda *_a, **_k: judging) if family == "providers" else real(family, name)

        monkeypatch.setattr(ask_judging.registry, "load", load)
        return judging

    def test_a_judge_that_fails_leaves_the_reply_and_is_asked_again(self, judged: Scripted, tmp_path: Path) -> None:
        judged.script = lambda _r: BadRequest("no")
        provider = Scripted(lambda _r: "element 79")
        settings: dict[str, Any] = {"judge": "llm", "thresholds": (0.5,)}
        assert rows(ask(provider, tmp_path, **settings)) == [("unscored", "judge_failed", None)]
        judged.script = lambda _r: "YES"
        assert rows(ask(provider, tmp_path, **settings)) == [("correct", "", None)]
        assert len(provider.requests) == 1

    def test_what_is_not_an_answer_never_reaches_the_judge(self, judged: Scripted, tmp_path: Path) -> None:
        items = [
            Item(id="idk", question="IDK", answers=("x",)),
            Item(id="empty", question="", answers=("x",)),
            Item(id="none", question="made up", unknown_ok=True),
            Item(id="options", question="A", answers=("A",), choices=("x", "y")),
        ]
        run = ask(lambda r: r.question, tmp_path, items, judge="llm", thresholds=(0.5,))
        assert [outcome for outcome, _, _ in rows(run)] == ["abstained", "unscored", "wrong", "correct"]
        assert judged.requests == []

    def test_the_judge_shares_the_limits_and_its_requests_are_counted(self, judged: Scripted, tmp_path: Path) -> None:
        run = ask(lambda _r: "gold", tmp_path, judge="llm", thresholds=(0.5, 0.9))
        assert len(judged.requests) == 2
        assert run.manifest["requests"]["sent"] == 4


def test_the_request_is_what_the_settings_say(tmp_path: Path) -> None:
    provider = Scripted(lambda _r: "Au")
    ask(
        provider,
        tmp_path,
        thresholds=(0.75,),
        temperature=0.3,
        max_output_tokens=9,
        seed=5,
        thinking_budget=64,
        shots=1,
    )
    (request,) = provider.requests
    assert (request.temperature, request.max_tokens, request.seed, request.thinking_budget) == (0.3, 9, 5, 64)
    assert (request.model, request.provider, request.endpoint) == ("scripted", "scripted", "test://scripted")
    assert (request.item_id, request.question, request.t, request.repeat) == (GOLD.id, GOLD.question, 0.75, 0)
    assert not request.logprobs


@pytest.mark.parametrize(
    ("reply", "outcome", "reason"),
    [
        (Reply(text="", finish="stop"), "unscored", "empty"),
        (Reply(text="", finish="length"), "unscored", "truncated"),
        (Reply(text="the symbol", finish="content_filter"), "unscored", "blocked"),
        (Reply(text="", finish="refusal"), "abstained", "refusal"),
        (Reply(text="Au", finish="SOMETHING_NEW"), "correct", ""),
        (Reply(text="<think>It is"), "unscored", "truncated"),
        (Reply(text="<think>It is Pb</think>Au"), "correct", ""),
    ],
)
def test_the_finish_reason_decides_and_is_stored(reply: Reply, outcome: str, reason: str, tmp_path: Path) -> None:
    run = ask(lambda _r: reply, tmp_path, thresholds=(0.5,))
    (row,) = run.records
    assert (row["outcome"], row["reason"], row["finish"]) == (outcome, reason, reply.finish)
    if outcome == "unscored":
        assert (row["abstained"], row["correct"], row["score"]) == (None, None, None)


def test_a_reply_of_lone_surrogates_is_kept_as_far_as_utf_8_can(tmp_path: Path) -> None:
    run = ask(lambda _r: Reply(text="Au \ud83d", model_version="m\ud800"), tmp_path, thresholds=(0.5,))
    (row,) = run.records
    assert row["pred"] == "Au \ufffd"
    assert (tmp_path / "results.csv").read_text(encoding="utf-8")


def test_one_function_answers_from_python_too(tmp_path: Path) -> None:
    run = hallcheck.ask([GOLD], "google/x", [0.5], out=tmp_path, provider=Scripted(lambda _r: "Au"), figures=False)
    assert run.metrics["0.5"]["correct_answers"] == 1
