"""The AsyncAPI document is the address book's, and every reference in it leads somewhere."""

import json
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from biaswatch.shared.contracts import ROUTES

ROOT = Path(__file__).parents[2]
COMMITTED = json.loads((ROOT / "docs" / "asyncapi.json").read_text())


def generated() -> str:
    spec = spec_from_file_location("asyncapi_tool", ROOT / "tools" / "asyncapi.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.text())


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for each in part.values():
            yield from references(each)
    elif isinstance(part, list):
        for each in part:
            yield from references(each)


def test_the_committed_document_is_current() -> None:
    assert (ROOT / "docs" / "asyncapi.json").read_text() == generated(), "run `make contracts`"


def test_every_record_has_its_channel_and_every_service_its_operation() -> None:
    for route in ROUTES:
        assert COMMITTED["channels"][route.record.kind]["address"].startswith("bias.v1.")
        for service in route.producers:
            assert f"{service}-send-{route.record.kind}" in COMMITTED["operations"]
        for service in route.consumers:
            assert f"{service}-receive-{route.record.kind}" in COMMITTED["operations"]


def test_every_reference_leads_somewhere() -> None:
    found = set(references(COMMITTED))
    assert len(found) > 20
    for reference in found:
        place: Any = COMMITTED
        for word in reference.removeprefix("#/").split("/"):
            place = place[word]
        assert isinstance(place, dict)
