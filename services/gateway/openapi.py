"""The description of the HTTP API: valid OpenAPI 3.1, with errors and security everywhere."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

ERRORS = {
    "401": "The token is missing, or the gateway does not know it.",
    "403": "The token may not do this.",
    "404": "The resource does not exist.",
    "413": "The body is too large.",
    "422": "Something in the request has to be corrected.",
    "429": "Too much is waiting already; `Retry-After` says when to try again.",
    "503": "Something outside does not answer now; try again later.",
}
LINES = "application/jsonl"
SCHEMAS = "#/components/schemas/"
_WITH_BODY = {"413"}
AUTHORIZATION = ("header", "authorization")
_BEARER = {"bearer": {"type": "http", "scheme": "bearer", "description": "A token of the gateway."}}
_ERROR = {"$ref": "#/components/schemas/ErrorResponse"}
_PARAMETER = re.compile(r"\{(\w+)\}")

Document = dict[str, Any]


def describe(app: FastAPI, bodies: Sequence[type[BaseModel]]) -> None:
    """Install a valid description, made once on the first request.

    `bodies` are the models of bodies that routes read themselves.
    """
    original = app.openapi

    def openapi() -> Document:
        if app.openapi_schema is None:
            app.openapi_schema = valid_document(original(), bodies)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def body_of(model: type[BaseModel]) -> Document:
    """Return the description of a JSON body that an operation reads itself."""
    schema = {"$ref": f"{SCHEMAS}{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def schemas_of(model: type[BaseModel]) -> Document:
    """Return the schema of a body and the schemas it refers to, by name."""
    schema = model.model_json_schema(ref_template=SCHEMAS + "{model}")
    return {**schema.pop("$defs", {}), model.__name__: schema}


def valid_document(document: Document, bodies: Sequence[type[BaseModel]]) -> Document:
    """Add errors, security and streams to the operations of a document."""
    for path, method, operation in operations(document):
        operation["operationId"] = _operation_id(path, method)
        operation["security"] = [{"bearer": []}]
        for code in ERRORS:
            if code not in _WITH_BODY or "requestBody" in operation:
                operation["responses"][code] = _error(code)
        for response in operation["responses"].values():
            contents = response.get("content", {})
            for kind, content in contents.items():
                _describe_stream(kind, content)
            if LINES in contents:  # generators of clients may not support JSON lines
                contents["text/plain"] = {"schema": {"type": "string"}}
        operation["parameters"] = [
            parameter
            for parameter in operation.get("parameters", [])
            if (parameter.get("in"), parameter.get("name", "").lower()) != AUTHORIZATION
        ]
    schemas = document["components"]["schemas"]
    for model in bodies:
        schemas = {**schemas_of(model), **schemas}
    document["components"]["schemas"] = schemas
    document["components"]["securitySchemes"] = _BEARER
    return document


def operations(document: Document) -> Iterator[tuple[str, str, Document]]:
    """Yield path, method and description of each operation."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _operation_id(path: str, method: str) -> str:
    """Return the name of an operation in a client: `get_runs_by_run_id_diagnoses`."""
    plain = _PARAMETER.sub(r"by_\1", path.removeprefix("/v1"))
    return "_".join([method, *re.findall(r"\w+", plain)])


def _error(code: str) -> Document:
    response: Document = {
        "description": ERRORS[code],
        "content": {"application/json": {"schema": _ERROR}},
    }
    if code in {"429", "503"}:
        seconds = {"type": "integer", "minimum": 0}
        response["headers"] = {"Retry-After": {"schema": seconds, "description": "In seconds."}}
    return response


def _describe_stream(kind: str, content: Document) -> None:
    """Describe a stream as text of items, because OpenAPI 3.1 has no schema for it."""
    item = content.pop("itemSchema", None)
    if item is not None:
        inner = item.get("properties", {}).get("data", {}).get("contentSchema", item)
        content["schema"] = {
            "type": "string",
            "contentMediaType": kind,
            "contentSchema": inner,
            "description": "One such object for each line, or event; they come as they are known.",
        }
