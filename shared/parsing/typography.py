"""Typographic quotation marks as the plain ones that lexicons and patterns are written with."""

_APOSTROPHES = "\u2018\u2019\u201b\u02bc\uff07\u2032"
_QUOTATION_MARKS = "\u201c\u201d\u201e\u201f\uff02\u2033"
_PLAIN = str.maketrans({**dict.fromkeys(_APOSTROPHES, "'"), **dict.fromkeys(_QUOTATION_MARKS, '"')})


def with_plain_quotes(text: str) -> str:
    """Return a text of the same length with ' and " for their typographic forms."""
    return text.translate(_PLAIN)
