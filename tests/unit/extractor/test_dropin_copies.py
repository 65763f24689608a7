"""Processes that serve one name are copies of one drop-in, or are mixed."""

import json
from typing import Any

import pytest

from biaswatch.services.extractor.handlers.dropin_discovery import (
    are_mixed,
    dropin_copies,
    dropin_versions,
)


def reply(name: str = "toy", version: str = "1.0.0", **more: Any) -> bytes:
    """Return what NATS's services answer about themselves."""
    code = more.pop("code", None)
    about = {"role": "extractor", "contract": "1"} | ({} if code is None else {"code": code})
    info = {"name": f"extractor-{name}", "version": version, "id": "x", "metadata": about}
    return json.dumps({**info, "endpoints": [{"name": "spec"}], **more}).encode()


@pytest.mark.parametrize(
    ("replies", "mixed"),
    [
        ([reply()], False),
        ([reply(), reply()], False),
        ([reply(code="a"), reply(code="a")], False),
        ([reply(code="a"), reply(code="b")], True),
        ([reply(code="a"), reply()], True),
        ([reply(code="a"), reply(version="2.0.0", code="b")], False),
        ([reply(code="a"), reply(version="2.0.0", code="b"), reply(code="c")], True),
        ([reply(code="a"), reply(code="b", endpoints=[])], False),
    ],
)
def test_different_code_under_one_name_and_version_is_mixed(
    replies: list[bytes], mixed: bool
) -> None:
    assert are_mixed(dropin_copies(replies)["toy"]) is mixed


def test_other_names_and_other_services_are_kept_apart() -> None:
    replies = [
        reply("a"), reply("b", code="x"), reply("b", version="1.2.0"), reply("c", endpoints=[]),
        reply(name="a", metadata={"role": "other"}), b"no JSON", b"[]",
        json.dumps({"name": "other", "version": "1"}).encode(),
    ]  # fmt: skip
    assert dropin_versions(replies) == {"a": "1.0.0", "b": "1.2.0"}
    assert {name: len(copies) for name, copies in dropin_copies(replies).items()} == {
        "a": 1,
        "b": 2,
    }
