"""The accounts of the bus: complete, and without overlaps that would do a thing twice."""

import json
from itertools import permutations

import pytest

from biaswatch.shared.bus.accounts import NO_SERVICE, STREAMS, owner_of, server_config
from biaswatch.shared.bus.permissions import HOST, key_names, permissions_of_key

NAMES = [*key_names(), "dropin-toy", "ingest-hiring"]


def accounts() -> dict[str, dict[str, list[dict[str, object]]]]:
    config = server_config({name: f"key of {name}" for name in NAMES})
    lines = [line.strip() for line in config.splitlines()[1:-1]]
    return {name: json.loads(body) for name, body in (line.split(": ", 1) for line in lines)}


def overlap(one: str, other: str) -> bool:
    """Tell whether a subject matches both patterns."""
    first, second = one.split("."), other.split(".")
    for token, other_token in zip(first, second, strict=False):
        if ">" in (token, other_token):
            return True
        if token != other_token and "*" not in (token, other_token):
            return False
    return len(first) == len(second)


@pytest.mark.parametrize("key", [name for name in NAMES if not name.startswith("dropin")])
def test_no_request_of_a_key_is_carried_out_twice(key: str) -> None:
    imports = [dict(item) for item in accounts()[key].get("imports", [])]
    subjects = [item["service"]["subject"] for item in imports if "to" not in item]  # type: ignore[index]
    assert [pair for pair in permutations(subjects, 2) if overlap(*pair)] == []


@pytest.mark.parametrize("key", NAMES)
def test_every_grant_of_a_key_belongs_to_one_account(key: str) -> None:
    owners = {owner_of(subject) for subject in permissions_of_key(key).publish}
    assert owners <= {*STREAMS, HOST}


def test_streams_have_no_users_and_keys_no_streams() -> None:
    for name, account in accounts().items():
        assert ("users" in account) == (name not in (*STREAMS, NO_SERVICE))
        assert ("jetstream" in account) == (name in STREAMS)
