"""Whether a phrase stands denied, hedged or asked in its clause; a mere "not" denies nothing."""

import re

CLAUSE = re.compile(
    r"[;:]|,\s+(?:it|they|we|this|these)\b|,?\s+\b(?:but|whereas|while|although|though|however|yet)\b|,\s+(?:and|so|which)\b"
)
_EMPTY = re.compile(
    r"\bcannot\s+(?:help\s+)?but\b|\bnobody\s+can\s+(?:\w+\s+)?(?:deny|doubt|dispute)\b|\bnothing\s+(?:else|but)\b|\b(?:leaves?\s+)?no\s+room\b|"
    r"\b(?:not|no|cannot|can't|never|hardly|without|little|beyond)\s+(?:be\s+"
    r"|a\s+|any\s+|to\s+|by\s+|reasonable\s+|room\s+for\s+)*"
    r"(?:coincidence|surpris\w+|doubt\w*|den(?:y|ied)|ignor\w+|overlook\w*|only"
    r"|just|merely|simply|wonder|exaggerat\w+|secret|accident"
    r"|disput\w+|question\w*|mistak\w+|escape\w*|hid\w+|forget\w*|forgotten"
    r"|stress\w*|overstat\w+)",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|without|(?:rather\s+than|instead\s+of)(?!\s+(?:the\s+)?(?:other|<g))"
    r"|nothing|none|hardly|unable|fails?|failed|lack\w*"
    r"|(?:argu\w+|warn\w*|speaks?|caution\w*|evidence)\s+against|avoid\w*|mistak\w+|wrong\w*|misread|beware|caution\w*|\w+n[\u2019']t)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:alleg\w+|claim(?:s|ed)?|argu(?:es|ed)|contend\w*|suspect\w*|may|might|could|whether|if|(?<!only )possibl[ey]|perhaps|potential(?:ly)?|would"
    r"|unknown|unclear|what|which|why|how|other"
    r"|hypothes\w+|ask(?:s|ed)?|investigat\w+|examin\w+|look(?:s|ed)?\s+(?:at"
    r"|into)|question\w*|should)\b",
    re.IGNORECASE,
)

_CLEFT = re.compile(
    r"\bwhat\s+(?:explains|lies|lay|drove|drives|causes|caused|decides)\b[^?;]*\b(?:is|was)\b|\bis\s+what\s+\w+",
    re.IGNORECASE,
)
"""Says what something is: no question."""
_WITHDRAWN = re.compile(
    r"\b(?:not\s+(?:be\s+)?(?:warranted|identifiable|follow|shown|supported|established|proven)"
    r"|unwarranted|unproven|go(?:es)?\s+beyond|silent|outside\s+(?:this|the|these)\s+(?:analysis|scope|data|table)|remains?\s+open|is\s+open)\b",
    re.IGNORECASE,
)
_NEGATION = (
    r"\b(?:not|no|never|neither|nor|cannot|without|fails?\s+to|failed\s+to"
    r"|insufficient|too\s+little|little|lacks?|lacking|hardly|non|absence\s+of"
    r"|\w+n[\u2019']t)\b"
)
NEGATED = re.compile(_NEGATION + r"(?:[\s-]+(?!<m:)[\w<>:-]+){0,6}[\s-]*$")
"""A negation shortly before what it denies, at the end of a text."""


def clause_before(text: str, at: int) -> str:
    """Return the part of a text that leads to a place, from the beginning of its clause."""
    last = 0
    for match in CLAUSE.finditer(text, 0, at):
        last = match.end()
    return text[last:at]


def is_denied(text: str, at: int) -> bool:
    """Tell whether what stands at a place is denied, and the denial is not an idle one."""
    before = clause_before(text, at)
    return bool(_NOT.search(_EMPTY.sub(" ", before)))


def is_open(text: str, at: int) -> bool:
    """Tell whether what stands at a place is only asked for, or called possible."""
    before = "" if _CLEFT.search(text) else clause_before(text, at)
    return bool(_OPEN.search(before) or _WITHDRAWN.search(text, at))


_CALLED_FALSE = re.compile(
    r"\b(?:wrong|mistaken|false|incorrect|untrue|inaccurate|misleading)\s+(?:to\s+\w+(?:\s+\w+)?\s+)?that\b"
    r"|\b(?:contrary\s+to|one\s+must\s+not\s+(?:say|conclude|infer)|it\s+is\s+not\s+(?:so|true|the\s+case)\s+that)\b[^,;]*(?:,|\bthat\b)?",
    re.IGNORECASE,
)


def is_called_false(text: str, at: int) -> bool:
    """Tell whether a sentence says of what stands at a place that it is not so."""
    matches = [match for match in _CALLED_FALSE.finditer(text, 0, at) if "contrary" not in match[0]]
    return len(matches) % 2 == 1
