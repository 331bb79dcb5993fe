"""JSON in and out, and addresses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallcheck.providers.http import decode, encode, is_loopback, join_url

ANY_TEXT = st.text(st.characters())  # lone surrogates too


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_text_survives(text: str) -> None:
    assert decode(encode({"text": text})) == {"text": text}


@settings(deadline=None)
@given(ANY_TEXT)
def test_any_text_can_be_sent_as_valid_json(text: str) -> None:
    sent = json.loads(encode({"text": text}).decode("utf-8"))["text"]
    sent.encode("utf-8")
    assert len(sent) <= len(text)


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert decode(encode({"text": "a\ud800b\ud83e\uddea"})) == {"text": "a\ufffdb🧪"}
    assert decode(b'{"text": "a\\ud800b\\ud83e\\uddea"}') == {"text": "a\ufffdb🧪"}


@pytest.mark.parametrize("raw", [b"", b"{", b'{"a": "\xff"}', b"<html>", b"{} {}", b"[" * 50_000])
def test_broken_json_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        decode(raw)


def test_a_byte_order_mark_is_no_fault() -> None:
    assert decode(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("http://h", "v1/x", "http://h/v1/x"),
        ("http://h/", "/v1/x", "http://h/v1/x"),
        ("http://h/f/a=50;b=0.1/", "v1beta/models/m:go", "http://h/f/a=50;b=0.1/v1beta/models/m:go"),
        ("http://h/p%2Fq", "x", "http://h/p%2Fq/x"),
        ("https://h/v1?api-version=3", "x", "https://h/v1/x?api-version=3"),
    ],
)
def test_paths_are_joined_as_they_are(base: str, path: str, url: str) -> None:
    assert str(join_url(base, path)) == url


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "x.localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", None, "localhost.example.com", "10.0.0.1", "128.0.0.1", "example.com"])
def test_not_loopback(host: str | None) -> None:
    assert not is_loopback(host)
