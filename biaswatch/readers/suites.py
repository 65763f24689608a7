"""Read suites and monitors from YAML or JSON files; probes may be in a separate file."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from biaswatch.building.prompts import version_of
from biaswatch.readers.suite_fields import check_spelling
from biaswatch.readers.suite_names import suite_path
from biaswatch.readers.targets import check_scaffolds, with_file
from biaswatch.shared.contracts import TRAFFIC, Suite, first_mistake, set_of
from biaswatch.shared.contracts.suite_limits import check_suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import json_lines, read_text, sentence, yaml_mapping
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parsing.texts import label_text

if TYPE_CHECKING:
    from biaswatch.shared.requests.monitors import MonitorRequest, TrafficMonitorRequest
from collections import Counter

from biaswatch.shared.contracts import MeasuredPart

MAX_PILOT_NAME = 40
"""Characters of a suite's name that the name of its pilot keeps."""
FIELD_FILES = {".yaml", ".yml", ".json"}
FIELD_NAMES = re.compile(r"""^\s*{?\s*["']?(target|probes)["']?\s*:""", re.MULTILINE)
MOST_COLUMNS = 1_000
MOST_CELLS = 5_000_000


def load_suite(path: Path) -> Suite:
    """Read a suite from a file or a folder with `suite.yaml`, or by the name of a shipped one.

    Raises
    ------
    UsageError
        The file cannot be read or is invalid; the message names file, line or probe, and field.
    """
    path = suite_path(path)
    file = path / "suite.yaml" if path.is_dir() else path
    expected = "a suite is a mapping with name, extractors and probes"
    fields = yaml_mapping(read_text(file, "suite"), file, expected)
    probes = fields.get("probes")
    if isinstance(probes, str):
        probes = read_probes(file.parent / probes)
        _check_version(file, fields, probes)
    truth = fields.pop("truth", {})
    if isinstance(probes, list):
        fields["probes"] = [_with_truth(_with_facts(probe), truth, file) for probe in probes]
    check_spelling(fields, file)
    try:
        return check_suite(Suite.model_validate(fields))
    except ValidationError as error:
        raise UsageError(_sentence(file, fields, error)) from None
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


def pilot_of(suite: Suite, sets: int) -> Suite:
    """Return a suite of at most this number of whole sets, balanced over groups.

    Sets with the same groups are taken in turn, each kind in the order of the suite.
    """
    members = grouped((set_of(probe), probe) for probe in suite.probes)
    if len(members) <= sets:
        return suite
    kinds: dict[frozenset[tuple[str, str]], list[str]] = {}
    for name, probes in members.items():
        kind = frozenset(item for probe in probes for item in probe.groups.items())
        kinds.setdefault(kind, []).append(name)
    turns = chain.from_iterable(zip_longest(*kinds.values()))
    chosen = set(islice(filter(None, turns), sets))
    kept = tuple(probe for probe in suite.probes if set_of(probe) in chosen)
    name = f"{suite.name[:MAX_PILOT_NAME]}-pilot-{sets}"
    about = f"A pilot: {sets} of {len(members)} sets of {suite.name}. {suite.about}".rstrip()
    return suite.model_copy(update={"name": name, "about": about, "probes": kept})


def _check_version(file: Path, fields: Mapping[str, Any], probes: Sequence[Any]) -> None:
    """Raise UsageError if a built suite was edited after its version was derived."""
    version = fields.get("version")
    if version is None or not all(isinstance(probe, dict) for probe in probes):
        return
    if version != version_of(fields, probes):
        raise UsageError(
            f"{file}: the suite was edited after its version {version} was derived. Build it again;"
            " or, if it was edited on purpose, remove the line `version`."
        )


def _sentence(file: Path, fields: dict[str, Any], error: ValidationError) -> str:
    mistake = first_mistake(error)
    loc, where = mistake.loc, ""
    if len(loc) > 1 and loc[0] == "probes" and isinstance(loc[1], int):
        probe = fields["probes"][loc[1]]
        key = probe.get("key") if isinstance(probe, dict) else None
        where = f", probe {loc[1] + 1}" + (f" ({key})" if key else "")
        loc = loc[2:]
    field = ".".join(str(part) for part in loc)
    return f"{file}{where}{', ' + field if field else ''}: {mistake.sentence}."


Probe = Any
GROUP = "groups."
"""Prefix of columns that are dimensions: `groups.race`."""
FACT, STIMULUS = "facts.", "stimuli."
PLAIN = ("key", "prompt", "set", "unit", "baseline", "expected")
FACTS = {
    "domain": "domain",
    "category": "category",
    "keyword": "keyword",
    "source": "source",
    "source_tag": "source",
}
"""Columns of benchmarks that describe the origin of a probe, and their facts."""


def _with_facts(probe: Probe) -> Probe:
    """Copy domain, category, keyword and source of a probe to its facts, for analysis."""
    if not isinstance(probe, dict) or not isinstance(probe.get("facts", {}), dict):
        return probe
    columns = {
        fact: probe[name]
        for name, fact in FACTS.items()
        if isinstance(probe.get(name), str) and probe[name]
    }
    facts = {**columns, **probe.get("facts", {})}
    return {**probe, "facts": facts} if facts else probe


def _with_truth(probe: Probe, truth: Any, file: Path) -> Probe:
    """Add the right answer that a suite declares by the value of a fact."""
    if not isinstance(truth, dict) or not all(isinstance(row, dict) for row in truth.values()):
        raise UsageError(
            f"{file}, truth: write a fact, and the right answer for each of its values."
        )
    if not isinstance(probe, dict) or "expected" in probe:
        return probe
    facts = probe.get("facts", {})
    known = [answers.get(facts.get(name)) for name, answers in truth.items()]
    answers = [label_text(answer) for answer in known if answer is not None]
    return {**probe, "expected": answers[0]} if answers else probe


def read_probes(file: Path) -> list[Probe]:
    """Read the probes of a JSONL, CSV or Parquet file; the suite validates them.

    Raises
    ------
    UsageError
        The file cannot be read, or does not have the format of its extension.
    """
    kinds: Mapping[str, Callable[[Path], list[Probe]]] = {
        ".jsonl": lambda path: [p for _, p in json_lines(read_text(path, "probes"), path)],
        ".csv": _csv,
        ".parquet": _parquet,
    }
    read = kinds.get(file.suffix.lower())
    if read is None:
        raise UsageError(f"The file of probes {file} must end in one of {', '.join(kinds)}.")
    return read(file)


def _csv(file: Path) -> list[Probe]:
    reader = csv.DictReader(StringIO(read_text(file, "probes", newline=""), newline=""))
    try:
        columns = len(reader.fieldnames or ())
        rows = list(islice(reader, MOST_CELLS // max(columns, 1) + 1))
    except csv.Error as error:
        raise UsageError(f"{file}, line {reader.line_num}: this is not CSV ({error}).") from None
    if columns > MOST_COLUMNS or len(rows) * columns > MOST_CELLS:
        raise UsageError(
            f"{file} has more than {MOST_COLUMNS:,} columns or {MOST_CELLS:,} cells: more than a"
            " suite can have. Split it into several suites."
        )
    for number, row in enumerate(rows, start=1):
        if None in row or None in row.values():
            raise UsageError(f"{file}, row {number}: the number of cells differs from the header.")
    return [_probe(row, number) for number, row in enumerate(rows, start=1)]


def _parquet(file: Path) -> list[Probe]:
    try:
        from biaswatch.readers.parquet_files import read_parquet
    except ImportError:
        raise UsageError(
            "Probes in Parquet need pyarrow: install biaswatch with the extra `tables`."
        ) from None
    try:
        rows = read_parquet(file, MOST_COLUMNS, MOST_CELLS).to_pylist()
    except OSError as error:
        raise UsageError(f"The probes {file} cannot be read ({error.strerror}).") from None
    return [_probe(row, number) for number, row in enumerate(rows, start=1)]


def _probe(row: Mapping[str, Any], number: int) -> Probe:
    """Return the probe of a row of a table; empty cells are missing values.

    Dimensions are the columns `groups.<dimension>`, or else the column `concept`, as in published
    benchmarks. Facts are the columns `facts.<name>`, stimuli the columns `stimuli.<factor>`. The
    default key is the row's number.
    """
    cells = {
        name: label_text(cell)
        for name, cell in row.items()
        if not (cell is None or cell == "" or cell != cell)
    }
    groups, facts, stimuli = (
        {name.removeprefix(kind): cell for name, cell in cells.items() if name.startswith(kind)}
        for kind in (GROUP, FACT, STIMULUS)
    )
    if not groups and "concept" in cells:
        groups = {"concept": cells["concept"]}
    plain = {name: cells[name] for name in (*PLAIN, *FACTS) if name in cells}
    return {"key": f"row-{number}", **plain, "groups": groups, "stimuli": stimuli, "facts": facts}


def is_monitor(path: Path) -> bool:
    """Return whether a file defines a monitor: it has a target and no probes."""
    if path.is_dir() or path.suffix.lower() not in FIELD_FILES:
        return False
    names = set(FIELD_NAMES.findall(read_text(path, "file")))
    return "target" in names and "probes" not in names


def load_monitor(
    path: Path, sent: Callable[[str], str] = with_file
) -> "tuple[MonitorRequest | TrafficMonitorRequest, Suite | None]":
    """Read a monitor's file and the suite that it names by a relative path.

    A monitor of production traffic has no suite. `sent` converts a target for the gateway.

    Raises
    ------
    UsageError
        A file cannot be read or is invalid; the message names the file and the field.
    """
    from biaswatch.shared.analysis.monitors.plans import AskedSets, plan_of
    from biaswatch.shared.requests.monitors import MONITOR_REQUEST

    fields = yaml_mapping(read_text(path, "monitor"), path, "a monitor is a mapping of its fields")
    suite = None
    if isinstance(fields.get("target"), str):
        fields["target"] = sent(fields["target"])
    if not str(fields.get("target")).startswith(f"{TRAFFIC}:"):
        if not isinstance(fields.get("suite"), str):
            raise UsageError(f"{path}: `suite` is the path of a suite; only traffic has none.")
        suite = load_suite(path.parent / fields.pop("suite"))
        fields["suite_hash"] = suite.hash
    try:
        request = MONITOR_REQUEST.validate_python(fields)
        plan = plan_of(request, AskedSets.of_suite(suite) if suite else None)
    except ValidationError as error:
        raise UsageError(sentence(error, path)) from None
    if suite is not None:
        check_scaffolds(suite, [plan.target], [plan.scaffold])
    return request, suite


MAX_PROMPTS_READ = 200
RATING = MeasuredPart.RATING.value
_NAMED_RANGE = re.compile(
    r"\b(?:rat(?:e|ed|ing)|scor(?:e|ed|ing)|grade|scale)\b[^.\n]{0,80}?"
    r"\b(\d{1,3})(?: \([^)]{0,40}\))?"
    r"\s?(?:-|\u2013|to)\s?(\d{1,3})\b",
    re.IGNORECASE,
)


def undeclared_range(suite: Suite) -> str | None:
    """Return a sentence where the prompts name a range of the rating that is not declared."""
    if RATING not in suite.extractors or RATING in suite.ranges:
        return None
    named = Counter(
        (int(match[1]), int(match[2]))
        for probe in islice(suite.probes, MAX_PROMPTS_READ)
        for text in (*(m.content for m in probe.as_messages), *probe.variables.values())
        if (match := _NAMED_RANGE.search(text)) and int(match[1]) < int(match[2])
    )
    if not named:
        return None
    (low, high), _ = named.most_common(1)[0]
    return (
        f"The prompts of {suite.name} ask for a rating from {low} to {high}, and the suite declares"
        f" no range, so intervals may leave the scale: add `ranges: {{rating: [{low}, {high}]}}`."
    )
