"""What error bodies mean, how long to wait, and what a message may hold."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.errors import AuthError, BadRequest, ModelNotFound, RateLimited, Unavailable
from hallcheck.providers.faults import Site, error_of, one_line, retry_after

SITE = Site(name="acme", key_names="ACME_KEY", base_name="ACME_URL", secrets=("hush-hush-1",))


def test_the_longest_wait_wins() -> None:
    error = {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "53s"}]}
    assert retry_after({"Retry-After": "4"}, error, "Please retry in 12.5s.") == 53.0
    assert retry_after({"Retry-After": "60"}, error, "") == 60.0
    assert retry_after({}, {}, "Please retry in 12.5s.") == 12.5
    assert retry_after({}, {}, "nothing about time in 5s") is None


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [("53s", 53.0), ("1.5s", 1.5), ("0.250s", 0.25), ("0s", 0.0), ("", None), ("soon", None), ("-1s", None), (7, None)],
)
def test_retry_info(delay: object, seconds: float | None) -> None:
    assert retry_after({}, {"details": [{"retryDelay": delay}, "odd"]}, "") == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 20s. Visit the page", 20.0),
        ("please try again in 6m0s", 360.0),
        ("Try again in 1h2m3s", 3723.0),
        ("try again in 350ms", 0.35),
        ("retry after 500 milliseconds", 0.5),
        ("Please retry after 10 seconds.", 10.0),
        ("try again in 1 minute", 60.0),
        ("try again in 3 parsecs", None),
    ],
)
def test_waits_in_messages(text: str, seconds: float | None) -> None:
    assert retry_after({}, {}, text) == (seconds and pytest.approx(seconds))


def test_http_dates_are_read_by_the_servers_clock() -> None:
    headers = {"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert retry_after(headers, {}, "") == 30.0
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT"}, {}, "") == 0.0
    assert retry_after({"Retry-After": "Wed, 21 Oct 2999 07:28:30 GMT"}, {}, "") > 1e9


@pytest.mark.parametrize("value", ["inf", "nan", "-3", "", "whenever", "1e999", f"Wed, 21 Oct {9**30} 07:28:30 GMT"])
def test_senseless_waits_are_none(value: str) -> None:
    assert retry_after({"Retry-After": value, "retry-after-ms": value}, {}, "") is None


@settings(deadline=None)
@given(st.text(), st.text(), st.text())
def test_a_wait_is_none_or_a_number_that_can_be_slept(header: str, delay: str, message: str) -> None:
    wait = retry_after({"Retry-After": header}, {"details": [{"retryDelay": delay}]}, message)
    assert wait is None or (math.isfinite(wait) and wait >= 0)


@settings(deadline=None)
@given(st.text(max_size=400), st.text(max_size=400))
def test_a_message_is_one_short_printable_line_without_secrets(before: str, after: str) -> None:
    line = one_line(f"{before}hush-hush-1{after}", SITE.secrets)
    assert "hush-hush-1" not in line
    assert len(line) <= 300
    assert line.isprintable()


def test_an_encoded_secret_is_removed_too() -> None:
    assert one_line("at /v1?key=a%2Fb%2Bc%3D%3D", ("a/b+c==",)) == "at /v1?key=[key]"


def test_a_site_hides_its_secrets() -> None:
    assert "hush" not in repr(SITE)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "no such thing"}}, "no such thing"),
        ([{"error": {"message": "listed"}}], "listed"),
        ({"error": "a plain sentence"}, "a plain sentence"),
        ({"object": "error", "message": "flat", "code": 400}, "flat"),
        ({"detail": "from a framework"}, "from a framework"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}, "body.seed: Extra inputs"),
        ({"error": {"message": "Unsupported parameter", "param": "seed"}}, "Unsupported parameter (seed)"),
        ({"error": {"message": 5}}, "HTTP 400"),
        ({}, "HTTP 400"),
    ],
)
def test_the_providers_own_words_are_found(body: object, said: str) -> None:
    error = error_of(SITE, 400, {}, body, b"")
    assert type(error) is BadRequest
    assert said in error.message
    assert error.message.startswith("acme")


def test_an_invalid_google_key_is_an_auth_error_although_400() -> None:
    by_reason = {"error": {"code": 400, "message": "?", "details": [{"reason": "API_KEY_INVALID"}]}}
    by_text = {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}
    for body in (by_reason, by_text):
        error = error_of(SITE, 400, {}, body, b"")
        assert type(error) is AuthError
        assert "ACME_KEY" in error.hint


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota"}),
        (429, {"type": "insufficient_quota", "message": "You exceeded your current quota"}),
        (400, {"type": "invalid_request_error", "message": "Your credit balance is too low to access the API."}),
        (402, {"message": "Insufficient credits"}),
    ],
)
def test_an_exhausted_balance_stops_the_run(status: int, error: dict[str, str]) -> None:
    found = error_of(SITE, status, {}, {"error": error}, b"")
    assert type(found) is AuthError
    assert "exhausted" in found.message


def test_a_google_quota_message_alone_is_a_rate_limit() -> None:
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota"}}
    assert type(error_of(SITE, 429, {}, body, b"")) is RateLimited


def test_a_model_not_found_under_400() -> None:
    body = {"error": {"code": "model_not_found", "message": "no model gpt-9"}}
    assert type(error_of(SITE, 400, {}, body, b"")) is ModelNotFound


def test_an_unnamed_error_inside_a_200_may_pass() -> None:
    assert type(error_of(SITE, 200, {}, {"error": {"code": True, "message": "?"}}, b"")) is Unavailable
    assert type(error_of(SITE, 200, {}, {"error": {"type": "permission_error"}}, b"")) is AuthError
