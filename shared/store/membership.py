"""Whether a column has one of many values: a list that is one parameter, however long it is.

SQLAlchemy's own `in_` writes a place for every value into the statement, which both it and the
driver then read anew each time: for hundreds of ids that takes longer than the database itself.
"""

from collections.abc import Iterable
from typing import Any

from pydantic_core import to_json
from sqlalchemy import ColumnElement, Dialect, Text, TypeDecorator, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _InJson(TypeDecorator[list[str]]):
    """A list of texts as one parameter, which both databases read in C."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: list[str] | None, dialect: Dialect) -> str:
        return to_json(value).decode()


class among(FunctionElement[bool]):  # noqa: N801 - reads as the operator that it is
    """The condition that a column of texts has one of these values; true nowhere for none.

    Unlike `in_` it takes values alone, and no query.
    """

    inherit_cache = True
    name = "among"
    """Without one SQLAlchemy keeps an element, and so its values, until garbage is collected."""

    def __init__(self, column: ColumnElement[str], values: Iterable[str]) -> None:
        super().__init__(column, bindparam(None, list(values), type_=_InJson(), unique=True))


@compiles(among, "postgresql")
def _in_array(element: among, compiler: SQLCompiler, **named: Any) -> str:
    column, values = (compiler.process(each, **named) for each in element.clauses)
    # An array, and no set: the index is gone through once for all of them.
    return f"{column} = ANY (ARRAY (SELECT json_array_elements_text({values}::json)))"


@compiles(among, "sqlite")
def _in_json(element: among, compiler: SQLCompiler, **named: Any) -> str:
    column, values = (compiler.process(each, **named) for each in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - a place
