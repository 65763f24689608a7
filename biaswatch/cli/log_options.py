"""The options with which a verb reads a file of recorded answers."""

from pathlib import Path
from typing import Annotated

import typer

from biaswatch.importing.formats import LogFormat
from biaswatch.importing.log_files import LogFile
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, not_a_file, read_text, yaml_mapping

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
        The mapping file is wrong, or the path is a folder, a pipe or a device.
    """
    if why := not_a_file(path):
        raise UsageError(why)
    found = None
    if mapping is not None:
        fields = yaml_mapping(read_text(mapping, "mapping file"), mapping, EXPECTED, UsageError)
        found = checked(MappingFile, fields, mapping)
    return LogFile(path, format_, found, source)
