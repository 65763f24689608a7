"""The options with which a verb reads a file of recorded answers."""

from pathlib import Path
from typing import Annotated

import typer

from biaswatch.importing.formats import LogFormat
from biaswatch.importing.log_files import LogFile
from shared.conventions.mapping import MappingFile
from shared.errors import UsageError
from shared.files import checked, read_text, yaml_mapping

EXPECTED = "a mapping file names fields: id, time, text, unit, groups and others"
FormatOption = Annotated[
    LogFormat | None,
    typer.Option("--format", help="What the file is; else it is seen from its first row."),
]
MapOption = Annotated[
    Path | None,
    typer.Option("--map", help="A YAML file that says which field is what (docs/importing.md)."),
]


def log_file(
    path: Path, format_: LogFormat | None, mapping: Path | None, source: str | None = None
) -> LogFile:
    """Return a file of recorded answers, with the mapping that a file holds.

    Raises
    ------
    UsageError
        The mapping file is wrong.
    """
    found = None
    if mapping is not None:
        fields = yaml_mapping(read_text(mapping, "mapping file"), mapping, EXPECTED, UsageError)
        found = checked(MappingFile, fields, mapping)
    return LogFile(path, format_, found, source)
