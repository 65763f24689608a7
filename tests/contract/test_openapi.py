"""The HTTP API describes itself: errors, security, one title for a schema, valid in 3.1."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from biaswatch.services.gateway.json_bodies import StrictRoute
from biaswatch.services.gateway.openapi import operations
from biaswatch.shared.store import Store, migrate
from tests.support.api import api_on


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    url = f"sqlite:///{Path(tmp_path_factory.mktemp('store')) / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield api_on(store)


def test_every_operation_names_its_errors_and_the_token_it_takes(app: FastAPI) -> None:
    document = app.openapi()
    for path, method, operation in operations(document):
        named = set(operation["responses"])
        assert named >= {"401", "403", "404", "422", "429", "503"}, (method, path)
        assert ("413" in named) == ("requestBody" in operation), (method, path)
        assert operation["security"] == [{"bearer": []}]
        assert not [
            parameter for parameter in operation["parameters"] if parameter["in"] == "header"
        ]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_names_of_operations_and_titles_of_schemas_are_given_once(app: FastAPI) -> None:
    document = app.openapi()
    names = Counter(operation["operationId"] for _, _, operation in operations(document))
    schemas: dict[str, Any] = document["components"]["schemas"]
    titles = Counter(schema["title"] for schema in schemas.values() if "title" in schema)
    assert [name for name, count in (names + titles).items() if count > 1] == []


def test_streams_are_described_in_words_of_3_1(app: FastAPI) -> None:
    document = app.openapi()
    assert document["openapi"].startswith("3.1.")
    assert "itemSchema" not in str(document)
    streams = [
        content["schema"]["contentSchema"]["$ref"].rpartition("/")[2]
        for _, _, operation in operations(document)
        for content in operation["responses"].get("200", {}).get("content", {}).values()
        if "contentSchema" in content["schema"]
    ]
    assert set(streams) >= {"RunProgress", "AnswerMeasurements"}


def test_every_route_with_a_body_reads_it_strictly(app: FastAPI) -> None:
    lax = [
        route.path
        for route in app.routes
        if isinstance(route, APIRoute) and route.body_field and not isinstance(route, StrictRoute)
    ]
    assert lax == []
