"""Derive the options of a verb from its request model; `--config` sets the other fields."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from typer.models import ArgumentInfo

from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text, yaml_mapping
from biaswatch.shared.parsing.yaml_values import parse_yaml

MAX_DEFAULT_CHARS = 20
"""Longer defaults are not shown in help, which would truncate them."""
EXPECTED = "a configuration is a mapping of fields to values"
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        metavar="FILE | FIELD=VALUE",
        help="Fields of the request, of a YAML file or one by one; repeatable. Options win.",
    ),
]


def with_options_of(
    model: type[BaseModel], *names: str, hidden: Sequence[str] = (), **spellings: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add options for fields of a model to a verb, and `--config` for all fields.

    Parameters
    ----------
    model
        The request. The verb is called with an instance of it as `request`.
    names
        Fields with an option of the same name; `--no-NAME` for those that are true by default.
    hidden
        Fields whose option is only named below the others in help.
    spellings
        Fields whose option has another name: `ranges="--range"`.
    """
    names = (*names, *hidden)
    switches = {name for name in names if model.model_fields[name].default is True}
    options = {
        name: f"--{'no-' if name in switches else ''}{name.replace('_', '-')}" for name in names
    } | spellings

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        @wraps(verb)
        def run(*, config: Sequence[str] | None, **values: Any) -> None:
            options_set = {name: values.pop(name) for name in options}
            options_set = {
                name: False if name in switches else value
                for name, value in options_set.items()
                if value not in (None, [])
            }
            verb(request=request_of(model, options_set, config or (), options), **values)

        hints = get_type_hints(verb, include_extras=True)
        own = [
            parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
            for name, parameter in signature(verb).parameters.items()
            if name != "request"
        ]
        fields = {
            name: _annotation(model.model_fields[name], options[name], hidden=name in hidden)
            for name in options
        }
        options_of_model = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in {**fields, "config": Config}.items()
        ]
        arguments = [parameter for parameter in own if _is_argument(parameter.annotation)]
        options_of_verb = [parameter for parameter in own if parameter not in arguments]
        parameters = [*arguments, *options_of_model, *options_of_verb]
        run.__signature__ = signature(verb).replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        rest = [name for name in model.model_fields if name not in options]
        more = [f"More options: {', '.join(options[name] for name in hidden)}."] if hidden else []
        more += [f"Fields for --config alone: {', '.join(rest)}."] if rest else []
        run.epilog = "\n\n".join(more)  # type: ignore[attr-defined]
        run.fields = rest  # type: ignore[attr-defined]
        return run

    return decorate


def _is_argument(annotation: Any) -> bool:
    return any(isinstance(part, ArgumentInfo) for part in getattr(annotation, "__metadata__", ()))


def request_of(
    model: type[BaseModel],
    options_set: Mapping[str, Any],
    config: Sequence[str],
    options: Mapping[str, str],
) -> BaseModel:
    """Return the request of options and configuration; options take precedence.

    Raises
    ------
    UsageError
        A file cannot be read, a field is unknown, or a value is invalid; the message names it.
    """
    fields: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for text in config:
        settings, source = _settings(text)
        for name, value in settings.items():
            several = _takes_several(model, name)
            values = value if isinstance(value, list | dict) or not several else [value]
            repeated = several and sources.get(name) == source and isinstance(values, list)
            fields[name] = [*fields[name], *values] if repeated else values
            sources[name] = source
    fields |= options_set
    sources |= {name: options[name] for name in options_set}
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        mistake = first_mistake(error)
        field = str(mistake.loc[0]) if mistake.loc else ""
        if field in options_set:
            raise UsageError(f"{options[field]}: {mistake.sentence}.") from None
        if mistake.kind == "missing":
            name = options.get(field, f"--config {field}=VALUE")
            raise UsageError(f"{name} is missing.") from None
        where = sources.get(field)
        raise UsageError(
            f"{where}, {mistake.field}: {mistake.sentence}." if where else f"{mistake.sentence}."
        ) from None


def _takes_several(model: type[BaseModel], name: str) -> bool:
    field = model.model_fields.get(name)
    return field is not None and _option_type(field.annotation) == list[str]


def _settings(text: str) -> tuple[dict[str, Any], str]:
    """Return the fields of a file, or of one `field=value`, and the name of their source."""
    name, assigned, value = text.partition("=")
    path = Path(text)
    exists = _exists(path)
    if assigned and not exists:
        return {name.strip(): parse_yaml(value)}, "--config"
    if not exists:
        raise UsageError(f"There is no file {text}. Write --config FILE or --config FIELD=VALUE.")
    return yaml_mapping(read_text(path, "configuration"), path, EXPECTED), text


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a value that is too long for the name of a file
        return False


def _annotation(field: FieldInfo, spelling: str, *, hidden: bool) -> Any:
    """Return the type of an option for a field, with its help."""
    kind = _option_type(field.annotation)
    option = typer.Option(
        spelling,
        help=field.description,
        metavar=_number_type(field.annotation) or _metavar(kind, spelling),
        show_default=_default_text(field.default),
        hidden=hidden,
    )
    return Annotated[kind | None, option]


def _option_type(annotation: Any) -> Any:
    """Return the type of an option on the command line; several values repeat the option."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _option_type(arguments[0])
    if origin in (Union, UnionType):
        inner = [argument for argument in arguments if argument is not type(None)]
        return _option_type(inner[0])
    if origin in (list, dict) or (origin is tuple and Ellipsis in arguments):
        return list[str]
    is_plain = isinstance(annotation, type) and issubclass(annotation, Enum | bool | Path)
    return annotation if is_plain else str  # numbers are read by the model, whose message is ours


def _number_type(annotation: Any) -> str | None:
    """Return the displayed type of a number; None for other types."""
    if annotation in (int, float):
        return f"<{annotation.__name__}>"
    if get_origin(annotation) not in (Annotated, Union, UnionType):
        return None
    parts = map(_number_type, get_args(annotation))
    return next((part for part in parts if part is not None), None)


def _metavar(kind: Any, spelling: str) -> str | None:
    """Return the name of an option's value; None for its type, or its choices where they fit."""
    if kind == list[str]:
        return "<str>"
    if not issubclass(kind, Enum):
        return None
    choices = "|".join(str(choice.value) for choice in kind)
    return spelling.strip("-").upper() if len(choices) > MAX_DEFAULT_CHARS else None


def _default_text(value: Any) -> str | bool:
    """Return the displayed default of a field; False for none."""
    if isinstance(value, Enum):
        return str(value.value)
    if type(value) in (int, float):
        return f"{value:g}"
    return value if isinstance(value, str) and 0 < len(value) <= MAX_DEFAULT_CHARS else False
