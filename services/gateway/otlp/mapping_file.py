"""The file that says which attributes of spans name units, groups and strata."""

from pathlib import Path

from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import BiaswatchError, ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping

EXPECTED = "a mapping file names fields: unit, groups, strata and others"


def mapping_of(
    path: Path | None, refusal: type[BiaswatchError] = ConfigurationError
) -> MappingFile:
    """Return the mapping of a file; without one, that of the conventions alone.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or something in it is no field.
    """
    if path is None:
        return MappingFile()
    fields = yaml_mapping(read_text(path, "mapping file", refusal), path, EXPECTED, refusal)
    return checked(MappingFile, fields, path, refusal)
