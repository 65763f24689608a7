"""Reads plans from files; what is wrong is said with the file, the line and the field."""

from collections.abc import Sequence
from pathlib import Path

import yaml
from pydantic import ValidationError

from services.builder.domain.plan import Plan
from shared.contracts.mistakes import first_mistake
from shared.errors import UsageError
from shared.runtime import yaml_text


def load_plan(file: Path) -> Plan:
    """Read a plan.

    Raises
    ------
    UsageError
        It cannot be read, or something in it is wrong; the file, the line and the field are named.
    """
    try:
        text = file.read_text(encoding="utf-8")
        fields = yaml_text.parse_yaml(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except OSError as error:
        raise UsageError(f"The plan {file} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise UsageError(f"The plan {file} cannot be read: it is no text in UTF-8.") from None
    except yaml.YAMLError as error:
        raise UsageError(
            f"{file}{_where(error)}: this is not YAML ({yaml_text.yaml_problem(error)})."
        ) from None
    if not isinstance(fields, dict):
        raise UsageError(f"{file}: a plan is a mapping with name, domain, concepts and prompts.")
    try:
        return Plan.model_validate(fields)
    except ValidationError as error:
        raise UsageError(_sentence(file, node, error)) from None


def _where(error: yaml.YAMLError) -> str:
    line = yaml_text.yaml_line(error)
    return f", line {line}" if line else ""


def _sentence(file: Path, node: yaml.Node | None, error: ValidationError) -> str:
    mistake = first_mistake(error)
    loc = [part for part in mistake.loc if part not in {"files", "url", "wikipedia", "written"}]
    field = mistake.field
    line = f", line {_line(node, loc)}" if node else ""
    said = mistake.said
    if mistake.kind.startswith("union_tag"):
        said = "say of which kind the source is: files, url, wikipedia or written"
    return f"{file}{line}{', ' + field if field else ''}: {said}."


def _line(node: yaml.Node, loc: Sequence[int | str]) -> int:
    """Return the line of the innermost part that stands in the file."""
    line = node.start_mark.line + 1
    for part in loc:
        inner = _inner(node, part)
        if inner is None:
            break
        key, node = inner
        line = key.start_mark.line + 1
    return line


def _inner(node: yaml.Node, part: int | str) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None
