"""The AsyncAPI document of the bus: records by their routes, and the endpoints of drop-ins."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from biaswatch.shared.bus.bundles import MOST_RECORDS, RECORDS
from biaswatch.shared.contracts import ROUTES, Route
from biaswatch.shared.contracts.dropin import Call, CallAnswer, Checked, DropInSpec, endpoint
from biaswatch.shared.contracts.partitions import PARTITIONS

Document = dict[str, Any]
SUBJECT_PARAMETERS = {
    "tenant": "Whose record it is; `default` unless you host several.",
    "purpose": "study, monitor, judge or production.",
    "lane": "A target or an extractor; lanes do not wait for one another.",
}
PARTITION_PARAMETER = {
    "partition": f"CRC-32 of the tenant modulo {PARTITIONS}; none waits for another."
}
BUNDLED = (
    f"Up to {MOST_RECORDS} records that are published at the same time go in one message, a line of"
    f" JSON each; the header {RECORDS} then says how many."
)
ENDPOINTS: dict[str, tuple[type[BaseModel] | None, type[BaseModel]]] = {
    "spec": (None, DropInSpec),
    "check": (None, Checked),
    "extract": (Call, CallAnswer),
}
"""The request and the reply of each endpoint of a drop-in."""


@dataclass
class _Parts:
    """The growing parts of the document."""

    channels: Document = field(default_factory=dict)
    operations: Document = field(default_factory=dict)
    messages: Document = field(default_factory=dict)
    schemas: Document = field(default_factory=dict)

    def add_record(self, route: Route) -> None:
        """Add the channel, the message and the operations of a record."""
        kind = route.record.kind
        parameters = SUBJECT_PARAMETERS | (PARTITION_PARAMETER if route.fair else {})
        self.channels[kind] = {
            "address": ".".join(("bias", "v1", kind, *(f"{{{name}}}" for name in parameters))),
            "description": f"Stream {route.stream}.",
            "parameters": {name: {"description": text} for name, text in parameters.items()},
            "messages": {kind: _ref("messages", kind)},
        }
        self.add_message(kind, route.record)
        if route.bundled:
            self.messages[kind]["description"] = BUNDLED
        for action, services in (("send", route.producers), ("receive", route.consumers)):
            for service in services:
                self.operations[f"{service}-{action}-{kind}"] = _operation(action, kind)

    def add_endpoint(
        self, name: str, request: type[BaseModel] | None, reply: type[BaseModel]
    ) -> None:
        """Add the request and the reply of an endpoint of drop-ins."""
        call, answer = f"dropin-{name}", f"dropin-{name}-answer"
        self.add_message(call, request)
        self.add_message(answer, reply)
        self.channels[call] = {
            "address": endpoint("{name}", name),
            "description": "A request of NATS, answered by one member of a queue group.",
            "parameters": {"name": {"description": "The drop-in's name."}},
            "messages": {call: _ref("messages", call)},
        }
        self.channels[answer] = {"address": None, "messages": {answer: _ref("messages", answer)}}
        self.operations[call] = {
            **_operation("receive", call),
            "reply": {
                "channel": {"$ref": f"#/channels/{answer}"},
                "messages": [{"$ref": f"#/channels/{answer}/messages/{answer}"}],
            },
        }

    def add_message(self, name: str, model: type[BaseModel] | None) -> None:
        """Add a message and the schemas of its model."""
        if model is None:
            self.messages[name] = {"name": name, "summary": "No content."}
            return
        template = "#/components/schemas/{model}"
        schema = model.model_json_schema(mode="serialization", ref_template=template)
        self.schemas.update(schema.pop("$defs", {}))
        self.schemas[model.__name__] = schema
        summary = (model.__doc__ or name).strip().splitlines()[0]
        payload = _ref("schemas", model.__name__)
        self.messages[name] = {"name": name, "summary": summary, "payload": payload}


def asyncapi_document() -> Document:
    """Return the whole document, in AsyncAPI 3.0."""
    parts = _Parts()
    for route in ROUTES:
        parts.add_record(route)
    for name, (request, reply) in ENDPOINTS.items():
        parts.add_endpoint(name, request, reply)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "biaswatch on NATS JetStream",
            "version": "1.0.0",
            "description": "Records between the services, and what a drop-in extractor answers.",
        },
        "defaultContentType": "application/json",
        "channels": parts.channels,
        "operations": parts.operations,
        "components": {"messages": parts.messages, "schemas": parts.schemas},
    }


def _operation(action: str, channel: str) -> Document:
    return {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{channel}"}],
    }


def _ref(kind: str, name: str) -> Document:
    return {"$ref": f"#/components/{kind}/{name}"}
