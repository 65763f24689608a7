"""Whether a phrase stands denied, hedged or asked in its clause; a mere "not" denies nothing."""

import re

CLAUSE = re.compile(
    r"[;:]|,\s+(?:it|they|we|this|these)\b|,?\s+\b(?:but|whereas|while|although|though|however|yet)\b|,\s+(?:and|so|which)\b"
)
_EMPTY = re.compile(
    r"\b(?:not|no|cannot|can't|never|hardly|without|little|beyond)\s+(?:be\s+"
    r"|a\s+|any\s+|to\s+|by\s+|reasonable\s+|room\s+for\s+)*"
    r"(?:coincidence|surpris\w+|doubt\w*|den(?:y|ied)|ignor\w+|overlook\w*|only"
    r"|just|merely|simply|wonder|exaggerat\w+|secret|accident"
    r"|disput\w+|question\w*|mistak\w+|escape\w*|hid\w+|forget\w*|forgotten"
    r"|stress\w*|overstat\w+)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|rather\s+than|instead\s+of"
    r"|nothing|none|hardly|unable|fails?|failed|lack\w*"
    r"|against|avoid\w*|mistak\w+|wrong\w*|misread|beware|caution\w*|\w+n[\u2019']t)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:alleg\w+|claim(?:s|ed)?|argu(?:es|ed)|contend\w*|suspect\w*|may|might|could|whether|if|possibl[ey]|perhaps|potential(?:ly)?|would"
    r"|unknown|unclear|what|which|why|how|other"
    r"|hypothes\w+|ask(?:s|ed)?|investigat\w+|examin\w+|look(?:s|ed)?\s+(?:at"
    r"|into)|question\w*|should)\b",
    re.IGNORECASE,
)

_WITHDRAWN = re.compile(
    r"\b(?:not\s+(?:be\s+)?(?:warranted|identifiable|follow|shown|supported|established|proven)"
    r"|unwarranted|unproven|go(?:es)?\s+beyond|silent|remains?\s+open|is\s+open)\b",
    re.IGNORECASE,
)


def clause_before(text: str, at: int) -> str:
    """Return the part of a text that leads to a place, from the beginning of its clause."""
    last = 0
    for found in CLAUSE.finditer(text, 0, at):
        last = found.end()
    return text[last:at]


def is_denied(text: str, at: int) -> bool:
    """Whether what stands at a place is denied, and the denial is not an idle one."""
    before = clause_before(text, at)
    return bool(_NOT.search(_EMPTY.sub(" ", before)))


def is_open(text: str, at: int) -> bool:
    """Whether what stands at a place is only asked for, or called possible."""
    return bool(_OPEN.search(clause_before(text, at)) or _WITHDRAWN.search(text, at))
