"""The description of the HTTP API: valid OpenAPI 3.1, with errors and security everywhere."""

import re
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from shared.contracts import Suite

ERRORS = {
    "401": "The token is missing, or the gateway does not know it.",
    "403": "The token may not do this.",
    "404": "There is no such thing.",
    "413": "The body is too large.",
    "422": "Something in the request has to be corrected.",
    "429": "Too much is waiting already; `Retry-After` says when to come again.",
    "503": "Something outside does not answer now; try again later.",
}
LINES = "application/jsonl"
SCHEMAS = "#/components/schemas/"
_WITH_BODY = {"413"}
_BEARER = {"bearer": {"type": "http", "scheme": "bearer", "description": "A token of the gateway."}}
_ERROR = {"$ref": "#/components/schemas/ErrorResponse"}
_PARAMETER = re.compile(r"\{(\w+)\}")

Document = dict[str, Any]


def describe(app: FastAPI) -> None:
    """Have the application describe itself so; the document is made once, when it is asked for."""
    original = app.openapi

    def openapi() -> Document:
        if app.openapi_schema is None:
            app.openapi_schema = valid_document(original())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def body_of(model: type[BaseModel]) -> Document:
    """Return how an operation describes a body that it reads itself, as JSON."""
    schema = {"$ref": f"{SCHEMAS}{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def schemas_of(model: type[BaseModel]) -> Document:
    """Return the schema of such a body, and those that it refers to, by their names."""
    schema = model.model_json_schema(ref_template=SCHEMAS + "{model}")
    return {**schema.pop("$defs", {}), model.__name__: schema}


def valid_document(document: Document) -> Document:
    """Return a document whose operations name their errors, their token and their streams."""
    for path, method, operation in operations(document):
        operation["operationId"] = _name_of(path, method)
        operation["security"] = [{"bearer": []}]
        for code in ERRORS:
            if code not in _WITH_BODY or "requestBody" in operation:
                operation["responses"][code] = _error(code)
        for response in operation["responses"].values():
            contents = response.get("content", {})
            for kind, content in contents.items():
                _say_stream(kind, content)
            if LINES in contents:  # not every generator of clients knows it
                contents["text/plain"] = {"schema": {"type": "string"}}
        parameters = [each for each in operation.get("parameters", []) if not _is_token(each)]
        operation["parameters"] = parameters
    schemas = document["components"]["schemas"]
    document["components"]["schemas"] = {**schemas_of(Suite), **schemas}
    document["components"]["securitySchemes"] = _BEARER
    return document


def operations(document: Document) -> Iterator[tuple[str, str, Document]]:
    """Yield path, method and description of each operation."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _name_of(path: str, method: str) -> str:
    """Return what a generated client calls an operation: `get_runs_by_run_id_diagnoses`."""
    plain = _PARAMETER.sub(r"by_\1", path.removeprefix("/v1"))
    return "_".join([method, *re.findall(r"\w+", plain)])


def _error(code: str) -> Document:
    said: Document = {
        "description": ERRORS[code],
        "content": {"application/json": {"schema": _ERROR}},
    }
    if code in {"429", "503"}:
        seconds = {"type": "integer", "minimum": 0}
        said["headers"] = {"Retry-After": {"schema": seconds, "description": "In seconds."}}
    return said


def _say_stream(kind: str, content: Document) -> None:
    """Describe a stream by a text of such items, as 3.1 has no word for their schema."""
    item = content.pop("itemSchema", None)
    if item is not None:
        inner = item.get("properties", {}).get("data", {}).get("contentSchema", item)
        content["schema"] = {
            "type": "string",
            "contentMediaType": kind,
            "contentSchema": inner,
            "description": "One such object for each line, or event; they come as they are known.",
        }


def _is_token(parameter: Document) -> bool:
    return parameter.get("in") == "header" and parameter.get("name", "").lower() == "authorization"
