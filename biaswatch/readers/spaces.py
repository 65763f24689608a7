"""Read spaces of searches from YAML or JSON files."""

from pathlib import Path

from pydantic import ValidationError

from biaswatch.readers.suite_names import SHIPPED
from biaswatch.shared.contracts.search import Space
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text, sentence, yaml_mapping


def load_space(space: str | Path) -> Space:
    """Read a space: a file, or the name of one that is shipped, such as `everyday-space`.

    Raises
    ------
    UsageError
        The file cannot be read or is invalid; the message names the file and the field.
    """
    file = Path(space)
    shipped = SHIPPED / f"{space}.yaml"
    if not file.exists() and shipped.exists():
        file = shipped
    expected = "a space is a mapping with name, dimension, groups and topics"
    fields = yaml_mapping(read_text(file, "space"), file, expected)
    try:
        return Space.model_validate(fields)
    except ValidationError as error:
        raise UsageError(sentence(error, file)) from None
