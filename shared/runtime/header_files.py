"""Files of HTTP headers, which hold keys: read when they are used, and in no error."""

import re
from pathlib import Path

from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import read_text, yaml_mapping

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
EXPECTED = "a file of headers is a mapping of names to values"


def headers_in(path: Path) -> dict[str, str]:
    """Return the headers that a file names; no value is ever in an error.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or something in it is no header.
    """
    text = read_text(path, "file of headers", ConfigurationError)
    fields = yaml_mapping(text or "{}", path, EXPECTED, ConfigurationError)
    for name, value in fields.items():
        if not HEADER_NAME.fullmatch(str(name)):
            raise ConfigurationError(f"{path}: one of the names is no header.")
        if not (isinstance(value, str) and value.isascii() and value.isprintable()):
            raise ConfigurationError(
                f"{path}: the value of {name} is no text of one line in plain ASCII."
            )
    return fields
