"""The base of all records: an id derived from the inputs, a tenant, a purpose, a time."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cache, cached_property
from operator import attrgetter
from typing import Any, ClassVar, Self, TypeVar, overload

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, computed_field

from biaswatch.shared.contracts.descriptions import describe_fields
from biaswatch.shared.contracts.identity import DEFAULT_TENANT, Token, derived_id, id_beginning_with
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import UndecodableError

T = TypeVar("T")


class computed_once(cached_property[T]):  # noqa: N801 - a decorator, as what it builds on
    """`cached_property` without the lock that it has before Python 3.12.

    A lock costs more than it saves where several ids of every record are needed. Two
    threads may compute the same value twice, which changes nothing: records do not change.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> "computed_once[T]": ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Any:
        """Return the value, and keep it in the object, so that later access finds it."""
        if instance is None:
            return self
        value = self.func(instance)
        instance.__dict__[self.func.__name__] = value
        return value


class Text:
    """Marks a field that people or models wrote: it is stored apart, so that it can be purged."""


TEXT = Text()
_MEASURED = "_measured"
"""Where a record keeps its message from when it is measured until it is sent."""


class Purpose(StrEnum):
    """Why a record was made; a part of its subject."""

    STUDY = "study"
    MONITOR = "monitor"
    JUDGE = "judge"
    PRODUCTION = "production"
    SEARCH = "search"


def empty_mapping() -> Any:
    """Return the default of a field that is a mapping: an empty one.

    Written as `= {}`, it would be copied for every record, which costs more than making it.
    """
    return Field(default_factory=dict, json_schema_extra={"default": {}})


class Part(BaseModel):
    """A piece of a record, with the same rules but no identity of its own."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        json_schema_extra=describe_fields,
        defer_build=True,
        allow_inf_nan=False,
        ignored_types=(computed_once,),
    )

    def json_bytes(self, without: set[str] | None = None) -> bytes:
        """Return its JSON, without what is null and without some fields.

        Straight from the serializer: `model_dump_json` takes half as long again, and makes a text.
        """
        written: bytes = self.__pydantic_serializer__.to_json(
            self, exclude=without, exclude_none=True
        )
        return written


class Record(Part):
    """One message on the bus and one row in the store; it never changes."""

    kind: ClassVar[str]
    """The record's name in subjects, tables and metrics."""
    version: ClassVar[int] = 1
    identity: ClassVar[tuple[str, ...]]
    """The fields whose values make the id; two records equal in these are the same record."""

    tenant: Token = DEFAULT_TENANT
    """Whose record it is."""
    purpose: Purpose = Purpose.STUDY
    """Why it was made: study, monitor, judge, production or search."""
    at: AwareDatetime
    """When it was made; not part of the id."""

    @computed_field
    @computed_once
    def id(self) -> str:
        """Return the id derived from the inputs: never read from the wire, so it is not forged."""
        id_ = derived_id(*self._id_inputs()(self))
        return id_beginning_with(self.id_beginning, id_)

    @classmethod
    @cache
    def _id_inputs(cls) -> "attrgetter[tuple[Any, ...]]":
        """Return a getter of the inputs of an id: several ids of each record are needed."""
        return attrgetter("kind", "tenant", "purpose", *cls.identity)

    @property
    def id_beginning(self) -> str:
        """The prefix of an ordered id; empty if the whole id is a hash."""
        return ""

    @property
    def lane(self) -> str:
        """The last token of the subject: records in different lanes never wait for one another."""
        return "all"

    @property
    def run(self) -> str | None:
        """The run it belongs to: its `run_id`, where it has one."""
        return getattr(self, "run_id", None)

    @property
    def unit(self) -> str | None:
        """The unit of analysis: its `unit_id`, where it has one."""
        return getattr(self, "unit_id", None)

    @classmethod
    @cache
    def embedded_kinds(cls) -> "dict[str, type[Record]]":
        """Return the fields that hold a record inside this one, which has its own table."""
        return {
            name: field.annotation
            for name, field in cls.model_fields.items()
            if isinstance(field.annotation, type) and issubclass(field.annotation, Record)
        }

    @property
    def embedded(self) -> "tuple[Record, ...]":
        """Records inside this one, which are stored in their own tables (ADR 0004)."""
        return tuple(getattr(self, name) for name in self.embedded_kinds())

    @classmethod
    @cache
    def text_fields(cls) -> tuple[str, ...]:
        """Return the names of the text fields."""
        return tuple(name for name, field in cls.model_fields.items() if TEXT in field.metadata)

    def encode(self) -> bytes:
        """Return the JSON of the message."""
        measured: bytes | None = self.__dict__.pop(_MEASURED, None)
        return measured or self.json_bytes()

    def message_bytes(self) -> int:
        """Return the size of the message, which is kept for `encode`."""
        message = self.__dict__[_MEASURED] = self.encode()
        return len(message)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values, whose id and message are those of the values."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]  # what was computed of the old values
        return copied

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read the JSON of a message; unknown fields are ignored, so that v1 can grow.

        Raises
        ------
        UndecodableError
            The bytes are not such a record; the sentence names the first field that is wrong and
            never repeats its content.
        """
        try:
            read: Self = cls.__pydantic_validator__.validate_json(data)
        except ValidationError as error:
            mistake = first_mistake(error).in_words("the whole message")
            more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
            raise UndecodableError(
                f"These bytes are not a {cls.kind} record: {mistake}{more}."
            ) from None
        return read
