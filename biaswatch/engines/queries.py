"""The queries: sums of each group, from rows or from the means of units, in one pass over a table.

A value that is not finite, or beyond 1e150, is missing. Only what every engine has is used, so the
dialects differ in how names are quoted and how a number of double precision is written.
"""

from dataclasses import dataclass, field, replace

LARGEST = "1e150"
SHIFTED_BY = 1000
"""Rows whose means are the shifts."""


@dataclass(frozen=True)
class Dialect:
    """SQL spellings that differ between engines."""

    name: str
    quote: str
    double: str
    """The type of a number of double precision that may be missing."""
    text: str
    """The type of a text that may be missing."""


DUCKDB = Dialect("duckdb", '"', "DOUBLE", "VARCHAR")
SPARK = Dialect("spark", "`", "DOUBLE", "STRING")
POSTGRESQL = Dialect("postgres", '"', "DOUBLE PRECISION", "TEXT")
CLICKHOUSE = Dialect("clickhouse", "`", "Nullable(Float64)", "Nullable(String)")


@dataclass(frozen=True)
class SummedColumns:
    """Columns to sum, and their grouping."""

    group: str
    features: tuple[str, ...]
    domains: tuple[str, ...] = ()
    unit: str | None = None
    """Column of the unit; values are first averaged over its rows."""
    shifts: tuple[float, ...] = field(default=())
    """Values near the means, one for each feature; subtracted before summing."""


def named(name: str, dialect: Dialect) -> str:
    """Return a column's name as quoted SQL."""
    quote = dialect.quote
    # ClickHouse and Spark read a backslash within quotes as the beginning of an escape or as itself
    # by their settings; no column of ours has one.
    return f"{quote}{name.replace(quote, quote * 2)}{quote}"


def sums_query(source: str, columns: SummedColumns, dialect: Dialect) -> str:
    """Return the query of the sums of each group and domain; `source` is a table in its SQL."""
    values = _rows(source, columns, dialect)
    if columns.unit is not None:
        values = _unit_means(values, columns, dialect)
    moved = ", ".join(
        f"v{i}, v{i} - {_written(shift, dialect)} AS x{i}" for i, shift in enumerate(columns.shifts)
    )
    rows = "rows_of" if columns.unit is not None else "1 AS rows_of"
    sums = ", ".join(
        f"COUNT(v{i}), SUM(x{i}), SUM(x{i} * x{i}), SUM(x{i} * x{i} * x{i}), MIN(v{i}), MAX(v{i})"
        for i in range(len(columns.features))
    )
    return (
        f"SELECT grp, dom, SUM(rows_of), {sums} FROM"  # noqa: S608 - names are quoted
        f" (SELECT grp, dom, {rows}, {moved} FROM ({values}) AS r) AS m GROUP BY grp, dom"
    )


def shifts_query(source: str, columns: SummedColumns, dialect: Dialect) -> str:
    """Return the query of the means of the first rows."""
    means = ", ".join(f"AVG(v{i})" for i in range(len(columns.features)))
    rows = _rows(source, columns, dialect)
    return f"SELECT {means} FROM ({rows} LIMIT {SHIFTED_BY}) AS r"  # noqa: S608 - as above


def fractions_query(source: str, columns: SummedColumns, dialect: Dialect) -> str:
    """Return the query that counts fractional values of each feature."""
    counts = ", ".join(
        f"SUM(CASE WHEN v{i} <> FLOOR(v{i}) THEN 1 ELSE 0 END)"
        for i in range(len(columns.features))
    )
    rows = _rows(source, columns, dialect)
    return f"SELECT {counts} FROM ({rows}) AS r"  # noqa: S608 - as above


def shared_units_query(source: str, columns: SummedColumns, dialect: Dialect) -> str:
    """Return the query that counts units in several groups of a domain."""
    rows = _rows(source, replace(columns, features=()), dialect)
    several = (
        f"SELECT unit_of, dom FROM ({rows}) AS r WHERE unit_of IS NOT NULL"  # noqa: S608
        " GROUP BY unit_of, dom HAVING COUNT(DISTINCT grp) > 1"
    )
    return f"SELECT COUNT(*) FROM ({several}) AS u"  # noqa: S608 - as above


def _rows(source: str, columns: SummedColumns, dialect: Dialect) -> str:
    """Return the query of rows in a group: group, domain and clean values."""
    text, double = dialect.text, dialect.double
    parts = [f"CAST({named(name, dialect)} AS {text})" for name in columns.domains]
    domain = " || ', ' || ".join(parts) if parts else f"CAST('' AS {text})"
    unit = ""
    if columns.unit is not None:
        unit = f", CAST({named(columns.unit, dialect)} AS {text}) AS unit_of"
    values = "".join(
        f", CASE WHEN {cell} BETWEEN -{LARGEST} AND {LARGEST} THEN {cell} END AS v{i}"
        for i, name in enumerate(columns.features)
        for cell in [f"CAST({named(name, dialect)} AS {double})"]
    )
    group = named(columns.group, dialect)
    return (
        f"SELECT CAST({group} AS {text}) AS grp, {domain} AS dom{unit}{values}"  # noqa: S608
        f" FROM {source} WHERE {group} IS NOT NULL"
    )


def _unit_means(rows: str, columns: SummedColumns, dialect: Dialect) -> str:
    """Return the query of unit means; rows without a unit are dropped."""
    means = ", ".join(f"AVG(v{i}) AS v{i}" for i in range(len(columns.features)))
    return (
        f"SELECT grp, dom, COUNT(*) AS rows_of, {means} FROM ({rows}) AS u"  # noqa: S608
        " WHERE unit_of IS NOT NULL GROUP BY grp, dom, unit_of"
    )


def _written(number: float, dialect: Dialect) -> str:
    """Return a number cast to double precision; plain decimals have other types."""
    return f"CAST({number!r} AS {dialect.double})"
