"""Types of CEL that an API server derives from structural schemas, as protobuf messages."""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, struct_pb2

Schema = dict[str, Any]
Field = descriptor_pb2.FieldDescriptorProto
PACKAGE = "resource"
SCALARS = {
    "boolean": Field.TYPE_BOOL,
    "integer": Field.TYPE_INT64,
    "number": Field.TYPE_DOUBLE,
    "string": Field.TYPE_STRING,
}
RESERVED = {
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function",
    "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while",
}  # fmt: skip
"""Words of CEL: a field of such a name is read as `__name__`."""


class TypePool:
    """A pool of the message types of one schema and its parts."""

    def __init__(self) -> None:
        self.pool = descriptor_pool.DescriptorPool()
        self.pool.AddSerializedFile(struct_pb2.DESCRIPTOR.serialized_pb)
        self._count = 0

    def add(self, schema: Schema) -> str:
        """Declare an object with the fields that rules can read; return its type's name."""
        self._count += 1
        name = f"Object{self._count}"
        file = descriptor_pb2.FileDescriptorProto(
            name=f"{name}.proto", package=PACKAGE, syntax="proto3"
        )
        file.dependency.append("google/protobuf/struct.proto")
        message = file.message_type.add(name=name)
        for field, part in schema.get("properties", {}).items():
            self._add_field(file, message, field, part)
        self.pool.Add(file)
        return f"{PACKAGE}.{name}"

    def _add_field(self, file: Any, message: Any, name: str, part: Schema) -> None:
        if not readable(part):
            return
        repeated = part.get("type") == "array"
        element = part["items"] if repeated else part
        field = message.field.add(
            name=f"__{name}__" if name in RESERVED else name,
            number=len(message.field) + 1,
            label=Field.LABEL_REPEATED if repeated else Field.LABEL_OPTIONAL,
        )
        if (scalar := SCALARS.get(element.get("type", ""))) is not None:
            field.type = scalar
            return
        field.type = Field.TYPE_MESSAGE
        field.type_name = f".{self._message_of(file, element)}"

    def _message_of(self, file: Any, part: Schema) -> str:
        """Return the type of an object or union; maps and nested lists hold dynamic values."""
        if part.get("x-kubernetes-int-or-string"):
            return "google.protobuf.Value"
        if part["type"] == "array":
            return "google.protobuf.ListValue"
        if "additionalProperties" in part:
            return "google.protobuf.Struct"
        name = self.add(part)
        file.dependency.append(f"{name.removeprefix(f'{PACKAGE}.')}.proto")
        return name


def readable(schema: Schema) -> bool:
    """Return whether rules can read a value: its type, and that of its parts, is known.

    `SchemaDeclType` in k8s.io/apiserver/pkg/cel/common decides so.
    """
    if schema.get("x-kubernetes-int-or-string"):
        return True
    kind = schema.get("type")
    if kind == "array":
        return readable(schema.get("items", {}))
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return readable(schema["additionalProperties"])
    return kind is not None
