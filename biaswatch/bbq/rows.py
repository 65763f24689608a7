"""Rows of BBQ files, read and checked; files of the same form may hold questions of one's own."""

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from biaswatch.readers.downloads import download
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.files import checked, json_lines, read_text
from biaswatch.shared.stats.studies.bbq import BbqOption, biased_option, target_option

ROWS = {
    "Age": 3680,
    "Disability_status": 1556,
    "Gender_identity": 5672,
    "Nationality": 3080,
    "Physical_appearance": 1576,
    "Race_ethnicity": 6880,
    "Race_x_SES": 11160,
    "Race_x_gender": 15960,
    "Religion": 1200,
    "SES": 6864,
    "Sexual_orientation": 864,
}
"""The published categories and how many rows each has: 58,492 in all (Parrish et al., table 3)."""

OPTIONS = ("ans0", "ans1", "ans2")
_NAMED = re.compile(r"[MF](?:$|-)")


class BbqMetadata(BaseModel):
    """Metadata of a row."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    stereotyped_groups: tuple[str, ...] = ()
    subcategory: str = "None"


class BbqRow(BaseModel):
    """One question of BBQ."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    example_id: int
    question_index: str | int | None = None
    """The template, within its category; None in files without templates."""
    category: str
    question_polarity: Literal["neg", "nonneg"]
    context_condition: Literal["ambig", "disambig"]
    context: str
    question: str
    ans0: str
    ans1: str
    ans2: str
    answer_info: dict[str, tuple[str, str]]
    additional_metadata: BbqMetadata = BbqMetadata()
    label: Literal[0, 1, 2]

    @property
    def key(self) -> str:
        """Unique key; ids are unique within a category."""
        return f"{self.category}-{self.example_id}"

    @property
    def answers(self) -> tuple[str, str, str]:
        """The texts of the three options."""
        return self.ans0, self.ans1, self.ans2

    @property
    def options(self) -> tuple[BbqOption, ...]:
        """The options with their group tags."""
        return tuple(BbqOption(*self.answer_info[name]) for name in OPTIONS)

    @property
    def unknown(self) -> int | None:
        """Index of the option for `unknown`; None unless there is exactly one."""
        tags = [option.group.casefold() for option in self.options]
        return tags.index("unknown") if tags.count("unknown") == 1 else None

    @property
    def biased(self) -> int | None:
        """Index of the stereotyped option; None if the row defines none."""
        if self.unknown is None:
            return None
        stereotyped = self.additional_metadata.stereotyped_groups
        target = target_option(self.category, self.options, stereotyped)
        return biased_option(target, self.unknown, self.question_polarity)

    @property
    def scored_as(self) -> str:
        """Category of its scores; questions that use names count separately."""
        if self.category not in {"Gender_identity", "Race_ethnicity"}:
            return self.category
        named = any(_NAMED.match(option.group) for option in self.options)
        return f"{self.category} (names)" if named else self.category


def read_rows(path: Path) -> Iterator[BbqRow]:
    """Read one file of rows.

    Raises
    ------
    UsageError
        The file cannot be read or a line is invalid; the message names file, line and field.
    """
    for place, fields in json_lines(read_text(path, "questions"), path):
        row = checked(BbqRow, fields, place)
        if missing := [name for name in OPTIONS if name not in row.answer_info]:
            raise UsageError(f"{place}, answer_info: {', '.join(missing)} is missing.")
        yield row


def read_folder(folder: Path, categories: Sequence[str] = ()) -> list[BbqRow]:
    """Read the files of these categories (default: all in the folder).

    Raises
    ------
    UsageError
        The folder has no files, a category is missing, or a published category has the wrong
        number of rows (a truncated file).
    """
    files = {path.stem: path for path in sorted(folder.glob("*.jsonl"))}
    selected = categories or [name for name in files if name in ROWS] or list(files)
    if absent := [name for name in selected if name not in files]:
        names = ", ".join(files) or "no .jsonl file"
        raise UsageError(f"{folder} has no {absent[0]}.jsonl, only {names}.")
    if not selected:
        raise UsageError(f"{folder} holds no .jsonl files; `biaswatch suites fetch bbq` gets them.")
    rows: list[BbqRow] = []
    for name in selected:
        category_rows = list(read_rows(files[name]))
        if len(category_rows) != ROWS.get(name, len(category_rows)):
            raise UsageError(
                f"{files[name]} holds {len(category_rows)} rows, the published {name} has"
                f" {ROWS[name]}. Fetch it again, or rename it if it is your own file."
            )
        rows += category_rows
    return rows


SOURCE = "https://raw.githubusercontent.com/nyu-mll/BBQ/main/data"
"""Address of the authors' files."""
LARGEST_BYTES = 64 * 1024 * 1024


def fetch(category: str, folder: Path, source: str = SOURCE) -> tuple[int, bool]:
    """Fetch a category's file; return its number of rows and True if it was downloaded.

    Raises
    ------
    TransientError
        The source does not answer.
    UsageError
        The source serves another file, or the file cannot be written.
    """
    file = folder / f"{category}.jsonl"
    if file.exists():
        return _checked(file, category), False
    part = file.with_suffix(".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        download(f"{source.rstrip('/')}/{category}.jsonl", part, LARGEST_BYTES)
        rows = _checked(part, category)
        part.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}).") from None
    finally:
        part.unlink(missing_ok=True)
    return rows, True


def _checked(file: Path, category: str) -> int:
    rows = sum(1 for _ in read_rows(file))
    if rows != ROWS[category]:
        raise UsageError(
            f"{file} holds {rows} rows, the published {category} {ROWS[category]}. Remove it and"
            " fetch it again."
        )
    return rows


SPLIT = "test"


def read_hub(name: str, category: str) -> list[BbqRow]:
    """Load one category.

    Raises
    ------
    UsageError
        The extra is not installed, or the data set does not hold BBQ rows.
    TransientError
        The hub does not answer or refuses the request.
    """
    try:
        datasets: Any = importlib.import_module("datasets")
    except ImportError:
        raise UsageError(
            "Loading from Hugging Face needs the extra `datasets`: install 'biaswatch[datasets]'."
            " `biaswatch suites fetch bbq` needs nothing."
        ) from None
    try:
        items = datasets.load_dataset(name, category, split=SPLIT)
    except Exception as error:  # noqa: BLE001 - the library raises what it likes; all means: no data
        why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise TransientError(
            f"{name} cannot be loaded ({why}). `biaswatch suites fetch bbq` gets the same questions"
            " from their authors."
        ) from None
    return rows_of(items, name, category)


def rows_of(items: Iterable[Mapping[str, Any]], name: str, category: str) -> list[BbqRow]:
    """Validate the items of a category and their number."""
    rows = [
        checked(BbqRow, {"category": category, **item}, f"{name}, {category}, item {number}")
        for number, item in enumerate(items, start=1)
    ]
    if len(rows) != ROWS[category]:
        raise UsageError(f"{name} holds {len(rows)} rows of {category}, not {ROWS[category]}.")
    return rows
