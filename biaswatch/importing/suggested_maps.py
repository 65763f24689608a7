"""Suggestion of a mapping file from the names and values of a log's fields."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biaswatch.importing.times import moment_in
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import label_of, opened
from biaswatch.shared.conventions.outputs import logged_output
from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import grouped

Values = Mapping[str, Sequence[Any]]
"""Values of the first rows by field; dots lead into objects."""
MAX_DEPTH = 4
MOST_LABELS = 20
"""Distinct values of a group at most."""
MIN_CODES = 5
"""Values that must differ for a field to be guessed as the id."""
MAX_EXAMPLE_CHARACTERS = 40
MAX_LISTED = 600
"""Characters of the names of fields in an error."""
PERSONS = (
    r"(^|[._])(user|usr|customer|cust|client|person|applicant|subject|member|account|acct|patient|"
    r"student|employee|candidate|visitor)"
)
NAMES: Mapping[str, Sequence[str]] = {
    "id": (
        r"^(uu)?id$", r"(request|response|message|completion|record|row|sample|call)_id$",
        r"span_id$", r"_(uu)?id$|^key$", r"(^|_)(no|nr|num|number|ref)$",
    ),
    "time": (r"^at$", r"finished|completed|ended|end_time", r"time|^ts$", r"created|date"),
    "text": (
        "answer", "response", "output", "completion", "reply", "generat", "assistant", "^text$",
        "prediction", "content",
    ),
    "prompt": ("prompt|question", "input|query|messages|instruction|user_message|request"),
    "reason": ("^reason$", "error(_type|_code)?$|failure"),
    "unit": (
        rf"{PERSONS}([._]?u{{0,2}}id|[._]?(key|hash|no|nr|num|number))?$|(^|[._])uid$|^unit$",
        r"(session|conversation|thread)(_?(uu)?id)?$",
    ),
    "model": (r"model(_name|_id)?$", "deployment"),
}  # fmt: skip
"""Patterns of the names of fields in snake case, from the best to the worst."""
KNOWN_ROLES = ("id", "time", "unit")
GROUP_NAMES = re.compile(
    r"gender|^sex$|(^|[._])race|ethnic|(^|[._])age($|_|group|band)|religion|nationality|disab|"
    r"origin|orientation|caste|language_group|(^|[._])group|(^|[._])grp$|cohort|veteran|dialect"
)
TECHNICAL_NAMES = re.compile(
    r"status|code|type|version|level|model|provider|finish|stop|stream|token|latenc|duration|index|"
    r"count|cost|cache|success|error|score|operation|method|schema|service|^name$|(^|_)env"
)
"""Fields with few values that describe a call and no person."""
REPLIES = {"choices", "candidates", "generations"}
"""Fields of the body of a reply."""
STRATUM_NAMES = re.compile(r"topic|category|intent|product|channel|locale|^language$")


@dataclass
class SuggestedMap:
    """Fields that were guessed, and what remains to be decided."""

    fields: dict[str, Any] = field(default_factory=dict)
    """The mapping, as in its file."""
    remarks: list[str] = field(default_factory=list)
    """A sentence for each guess, and for each field without one."""


def suggest_map(
    rows: Sequence[Mapping[str, Any]], usual: FieldMapping, *, is_known: bool
) -> SuggestedMap:
    """Return a mapping for rows; fields that the format of the log names are left out.

    A known format needs no names of its texts.

    Groups are suggested from names and values of fields alone, never from texts.

    Raises
    ------
    UsageError
        No field holds texts, or there is nothing to map.
    """
    values = _values_by_field(rows)
    suggested = SuggestedMap()
    used: set[str] = set()
    for role in KNOWN_ROLES if is_known else NAMES:
        if not any(name in values for name in getattr(usual, role)):
            _add_role(suggested, role, values, used)
    for role, pattern in (("groups", GROUP_NAMES), ("strata", STRATUM_NAMES)):
        _add_labels(suggested, role, pattern, values, used)
    if "text" not in suggested.fields and not (is_known or "text" in values):
        raise UsageError(f"no field holds texts. Its fields: {', '.join(values)[:MAX_LISTED]}.")
    if not suggested.fields:
        raise UsageError(
            f"its fields are known, and none looks like a group: {', '.join(values)[:MAX_LISTED]}."
        )
    return suggested


def _add_role(suggested: SuggestedMap, role: str, values: Values, used: set[str]) -> None:
    remark = ""
    if (name := _best(role, values, used)) is None:
        candidates = _by_values(role, values, used)
        name = next(iter(candidates), None)
        alternatives = f"; also possible: {', '.join(candidates[1:6])}" if candidates[1:] else ""
        remark = f" (a guess by its values{alternatives})"
    if name is not None:
        used.add(name)
        suggested.fields[role] = name
        suggested.remarks.append(f"{role}: {name}{remark}, {_example(values[name])}.")
    elif role in KNOWN_ROLES or role == "text":
        suggested.remarks.append(f"{role}: no field found.")


def _add_labels(
    suggested: SuggestedMap, role: str, pattern: re.Pattern[str], values: Values, used: set[str]
) -> None:
    candidates = [name for name in values if name not in used and _is_label(values[name])]
    named = [name for name in candidates if pattern.search(_snake_case(name))]
    few = [name for name in candidates if not TECHNICAL_NAMES.search(_last_of(name))]
    labels = {_short(name): name for name in named}
    if labels:
        suggested.fields[role] = labels
        suggested.remarks += [
            f"{role}.{short}: {name}, with {_labels(values[name])}."
            for short, name in labels.items()
        ]
        used.update(named)
    elif role == "groups" and few:
        name = min(few, key=lambda name: len(set(map(label_of, values[name]))))
        alternatives = ", ".join(field_name for field_name in few[:10] if field_name != name)
        more = f" Other fields with few values: {alternatives}." if alternatives else ""
        suggested.fields[role] = {_short(name): name}
        suggested.remarks.append(
            f"groups.{_short(name)}: {name} (a guess by its values), with"
            f" {_labels(values[name])}.{more}"
        )
        used.add(name)
    elif role == "groups":
        hint = f" Fields with few values: {', '.join(candidates[:10])}." if candidates else ""
        suggested.remarks.append(f"groups: no field found.{hint}")


def _values_by_field(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return grouped((name, value) for row in rows for name, value in _leaves(row, ""))


def _leaves(value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a row; objects also as JSON text are entered, lists are values.

    The body of a reply is a value, too.
    """
    content = opened(value)
    is_object = isinstance(content, Mapping)
    if is_object and path and content.keys() & REPLIES:
        yield path, value
    if is_object and depth < MAX_DEPTH and "content" not in content:
        for name, inner in content.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name), depth + 1)
    elif value is not None and value != "" and value == value:  # not NaN
        yield path, value


def _best(role: str, values: Values, used: set[str]) -> str | None:
    """Return the field whose name fits a role best, if its values fit as well."""
    ranks = {
        name: rank
        for name in values
        if name not in used
        and (rank := _rank(role, name)) is not None
        and (role != "id" or _rank("unit", name) is None)
        and _fits(role, values[name])
    }
    if role == "text" and not all(_rank("prompt", name) is not None for name in ranks):
        ranks = {name: rank for name, rank in ranks.items() if _rank("prompt", name) is None}
    return min(ranks, key=ranks.__getitem__, default=None)


def _by_values(role: str, values: Values, used: set[str]) -> list[str]:
    """Return the fields whose values fit a role; of texts, the longest first."""
    if role == "id":
        return [name for name in values if name not in used and _is_code(name, values[name])]
    if role not in {"time", "text"}:
        return []
    names = [name for name in values if name not in used and _fits(role, values[name])]
    if role == "text":
        names = [name for name in names if "message" in name or _rank("prompt", name) is None]
        names.sort(key=lambda name: -sum(len(_text(value)) for value in values[name]))
    return names


def _rank(role: str, name: str) -> int | None:
    """Return the position of the first pattern of a role that a name matches, or None."""
    last = _snake_case(name) if role == "unit" else _last_of(name)
    matching = (rank for rank, pattern in enumerate(NAMES[role]) if re.search(pattern, last))
    return next(matching, None)


def _fits(role: str, values: Sequence[Any]) -> bool:
    """Return whether values can have a role."""
    labels = [label_of(value) for value in values]
    if role == "id":
        return None not in labels and len(set(labels)) == len(labels)
    if role == "time":
        return all(map(_is_time, values))
    if role in {"text", "prompt"}:
        texts = [_text(value) for value in values]
        return any(" " in text.strip() for text in texts) and not all(map(_is_time, values))
    if role == "unit" and len(set(labels)) == 1 < len(labels):
        return False
    return None not in labels


def _is_time(value: Any) -> bool:
    try:
        moment = moment_in("", value)
    except UsageError:
        return False
    return moment is not None and 1990 < moment.year < 2100


def _is_label(values: Sequence[Any]) -> bool:
    labels = {label_of(value) for value in values}
    return None not in labels and 2 <= len(labels) <= min(MOST_LABELS, max(2, len(values) // 2))


def _labels(values: Sequence[Any]) -> str:
    counts = Counter(label_of(value) for value in values)
    return ", ".join(f"{label} ({count})" for label, count in counts.most_common(5))


def _is_code(name: str, values: Sequence[Any]) -> bool:
    """Return whether all values are different words with a digit, and of no other role."""
    return (
        len(values) >= MIN_CODES
        and all(isinstance(v, str) and len(v.split()) == 1 for v in values)
        and all(any(map(str.isdigit, value)) for value in values)
        and _fits("id", values)
        and not _fits("time", values)
        and all(_rank(role, name) is None for role in NAMES)
    )


def _text(value: Any) -> str:
    return logged_output(value).text or ""


def _snake_case(name: str) -> str:
    """Return `endTime` as `end_time`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _last_of(name: str) -> str:
    """Return the last part of the name of a field, in snake case."""
    return _snake_case(name).rpartition(".")[2]


def _short(name: str) -> str:
    return re.sub(r"\W+", "_", name.rpartition(".")[2]).strip("_").lower()[:40] or "group"


def _example(values: Sequence[Any]) -> str:
    text = " ".join(_text(values[0]).split())
    more = "..." if len(text) > MAX_EXAMPLE_CHARACTERS else ""
    return f"such as {text[:MAX_EXAMPLE_CHARACTERS]!r}{more}"
