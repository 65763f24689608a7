"""What the dashboard's pages show: moments and names as people read them."""

from datetime import UTC, datetime, timedelta

import pytest

from biaswatch.services.gateway.auth import local_path
from biaswatch.services.gateway.dashboard.rendering import ago, breakable, due, page, with_code
from biaswatch.shared.presentation.tables import words

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("distance", "text"),
    [
        (timedelta(0), "0 s ago"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(seconds=59.7), "59 s ago"),
        (timedelta(hours=2.9), "2 h ago"),
        (timedelta(days=40), "40 d ago"),
    ],
)
def test_moments_are_told_by_their_distance(distance: timedelta, text: str) -> None:
    assert ago(NOW - distance, NOW) == text
    assert ago(None, NOW) == due(None, NOW) == "-"


def test_what_is_due_is_told_from_what_is_overdue() -> None:
    assert due(NOW + timedelta(hours=3), NOW) == "in 3 h"
    assert due(NOW, NOW) == "due now"
    assert due(NOW - timedelta(minutes=5), NOW) == "overdue by 5 min"


def test_names_are_escaped_before_they_are_made_breakable() -> None:
    assert breakable("a.b:<i>") == "a.<wbr>b:<wbr>&lt;i&gt;"
    assert words("inconclusive") == "inconclusive"


def test_commands_in_sentences_are_code_and_nothing_else_is() -> None:
    html = with_code("<b>: `biaswatch runs` lists them.")
    assert html == "&lt;b&gt;: <code>biaswatch runs</code> lists them."
    assert with_code("one ` alone") == "one ` alone"
    assert with_code("`<i>`") == "<code>&lt;i&gt;</code>"


def test_pages_run_nothing_and_load_nothing_from_elsewhere() -> None:
    shown = page("error.html", 404, sentence="<script>alert(1)</script>")
    assert shown.status_code == 404
    assert b"<script>" not in shown.body
    assert b"&lt;script&gt;" in shown.body
    policy = shown.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'")
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ("/monitors/hiring", "/monitors/hiring"),
        ("//evil.example/", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_to_no_other_site(asked: str, where: str) -> None:
    assert local_path(asked) == where
