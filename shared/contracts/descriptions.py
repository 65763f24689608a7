"""Descriptions of fields in JSON Schemas, read from the source when a schema is made."""

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel


def describe_fields(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Add the docstrings of fields to a schema, as `use_attribute_docstrings` does.

    That option parses the source of each model on import, which is slow; few processes make
    schemas.
    """
    for name, text in field_docstrings(model).items():
        schema["properties"][name].setdefault("description", text)


def field_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of a model's fields, each from the class that declares it."""
    texts: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        declared = vars(cls).get("__annotations__", {}).keys() & model.model_fields.keys()
        written = _docstrings(cls.__module__).get(cls.__qualname__, {}) if declared else {}
        texts = {name: text for name, text in texts.items() if name not in declared}
        texts |= {name: text for name, text in written.items() if name in declared}
    return texts


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return the docstrings of attributes by class of a module."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        node.name: dict(_of_class(node)) for node in tree.body if isinstance(node, ast.ClassDef)
    }


def _of_class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for attribute, text in zip(node.body, node.body[1:], strict=False):
        match attribute, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(docstring))),
            ):
                yield name, inspect.cleandoc(docstring)
