"""Read spaces of searches from YAML or JSON files."""

from pathlib import Path

from pydantic import ValidationError

from biaswatch.readers.suite_names import SHIPPED, SPACE_END
from biaswatch.shared.contracts.search import Space
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text, sentence, yaml_mapping
from biaswatch.shared.lookup import similar_name


def load_space(space: str | Path) -> Space:
    """Read a space: a file, or a shipped one by its name, `everyday` or `everyday-space`.

    Raises
    ------
    UsageError
        The file cannot be read or is invalid; the message names the file and the field. Without
        such a file, it suggests a similar name.
    """
    file = Path(space)
    if not file.is_file():
        shipped = {
            path.stem.removesuffix(SPACE_END): path for path in SHIPPED.glob(f"*{SPACE_END}.yaml")
        }
        name = str(space).removesuffix(SPACE_END)
        if name not in shipped:
            raise UsageError(f"There is no file {file}.{similar_name(name, shipped)}")
        file = shipped[name]
    expected = "a space is a mapping with name, dimension, groups and topics"
    fields = yaml_mapping(read_text(file, "space"), file, expected)
    try:
        return Space.model_validate(fields)
    except ValidationError as error:
        raise UsageError(sentence(error, file)) from None
