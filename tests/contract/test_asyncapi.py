"""The AsyncAPI document has every route, and every reference in it resolves."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biaswatch.shared.contracts import ROUTES

ROOT = Path(__file__).parents[2]
COMMITTED = json.loads((ROOT / "docs" / "asyncapi.json").read_text())


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for item in part:
            yield from references(item)


def test_every_record_has_its_channel_and_every_service_its_operation() -> None:
    for route in ROUTES:
        assert COMMITTED["channels"][route.record.kind]["address"].startswith("bias.v1.")
        for service in route.producers:
            assert f"{service}-send-{route.record.kind}" in COMMITTED["operations"]
        for service in route.consumers:
            assert f"{service}-receive-{route.record.kind}" in COMMITTED["operations"]


def test_every_reference_resolves() -> None:
    targets = set(references(COMMITTED))
    assert len(targets) > 20
    for reference in targets:
        place: Any = COMMITTED
        for word in reference.removeprefix("#/").split("/"):
            place = place[word]
        assert isinstance(place, dict)
