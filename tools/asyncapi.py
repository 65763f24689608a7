"""Write the AsyncAPI document of the bus from the address book: subjects, records, drop-ins."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from biaswatch.shared.bus.bundles import MOST_RECORDS, RECORDS
from biaswatch.shared.contracts import ROUTES, Route
from biaswatch.shared.contracts.dropin import Call, CallAnswer, Checked, DropInSpec, endpoint

PATH = Path("docs/asyncapi.json")
Document = dict[str, Any]
SUBJECT_WORDS = {
    "tenant": "Whose record it is; `default` unless you host several.",
    "purpose": "study, monitor, judge or production.",
    "lane": "What must not wait behind one another: a target, an extractor.",
}
BUNDLED = (
    f"Up to {MOST_RECORDS} records that are published at the same time go in one message, a line of"
    f" JSON each; the header {RECORDS} then says how many."
)
ASKED: dict[str, tuple[type[BaseModel] | None, type[BaseModel]]] = {
    "spec": (None, DropInSpec),
    "check": (None, Checked),
    "extract": (Call, CallAnswer),
}


def document() -> Document:
    """Return the whole document, in AsyncAPI 3.0."""
    channels: Document = {}
    operations: Document = {}
    messages: Document = {}
    schemas: Document = {}
    for route in ROUTES:
        _add_record(route, channels, operations, messages, schemas)
    for what, (question, answer) in ASKED.items():
        _add_endpoint(what, question, answer, channels, operations, messages, schemas)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "biaswatch on NATS JetStream",
            "version": "1.0.0",
            "description": "Records between the services, and what a drop-in extractor answers.",
        },
        "defaultContentType": "application/json",
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": schemas},
    }


def _add_record(
    route: Route, channels: Document, operations: Document, messages: Document, schemas: Document
) -> None:
    kind = route.record.kind
    channels[kind] = {
        "address": f"bias.v1.{kind}.{{tenant}}.{{purpose}}.{{lane}}",
        "description": f"Stream {route.stream}.",
        "parameters": {word: {"description": told} for word, told in SUBJECT_WORDS.items()},
        "messages": {kind: _ref("messages", kind)},
    }
    messages[kind] = _message(kind, route.record, schemas)
    if route.bundled:
        messages[kind]["description"] = BUNDLED
    for action, services in (("send", route.producers), ("receive", route.consumers)):
        for service in services:
            operations[f"{service}-{action}-{kind}"] = _operation(action, kind, kind)


def _add_endpoint(
    what: str,
    question: type[BaseModel] | None,
    answer: type[BaseModel],
    channels: Document,
    operations: Document,
    messages: Document,
    schemas: Document,
) -> None:
    asked, answered = f"dropin-{what}", f"dropin-{what}-answer"
    messages[asked] = _message(asked, question, schemas)
    messages[answered] = _message(answered, answer, schemas)
    channels[asked] = {
        "address": endpoint("{name}", what),
        "description": "A request of NATS, answered by one member of a queue group.",
        "parameters": {"name": {"description": "The drop-in's name."}},
        "messages": {asked: _ref("messages", asked)},
    }
    channels[answered] = {"address": None, "messages": {answered: _ref("messages", answered)}}
    operations[asked] = {
        **_operation("receive", asked, asked),
        "reply": {
            "channel": {"$ref": f"#/channels/{answered}"},
            "messages": [{"$ref": f"#/channels/{answered}/messages/{answered}"}],
        },
    }


def _operation(action: str, channel: str, message: str) -> Document:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{message}"}],
    }


def _message(name: str, model: type[BaseModel] | None, schemas: Document) -> Document:
    if model is None:
        return {"name": name, "summary": "No content."}
    template = "#/components/schemas/{model}"
    schema = model.model_json_schema(mode="serialization", ref_template=template)
    schemas.update(schema.pop("$defs", {}))
    schemas[model.__name__] = schema
    told = (model.__doc__ or name).strip().splitlines()[0]
    return {"name": name, "summary": told, "payload": _ref("schemas", model.__name__)}


def _ref(kind: str, name: str) -> Document:
    return {"$ref": f"#/components/{kind}/{name}"}


def text() -> str:
    """Return the document as it is committed."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PATH.write_text(text())
    print(PATH)
