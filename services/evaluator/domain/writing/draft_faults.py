"""Faults of a draft: typed numbers, slots, wrong or undeclared claims, causes, omissions."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from biaswatch.services.evaluator.domain.rubric import Profile
from biaswatch.services.evaluator.domain.subjects import group_keys
from biaswatch.services.evaluator.domain.writing.claims import (
    CLAIM_TYPES,
    TypedClaim,
    mandatory_caveats,
)
from biaswatch.services.evaluator.domain.writing.draft import Draft, Place, Sentence
from biaswatch.services.evaluator.domain.writing.outline import ReportSection, heading_problems
from biaswatch.services.evaluator.domain.writing.slots import SLOT, is_number, slots_of
from biaswatch.shared.contracts import Subject


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


NUMBER_WORDS = _words(
    r"zero|two(?! groups)|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundreds?|thousands?|millions?|dozens?|twice"
    r"|thrice|doubl(?:e[sd]?|ing)|tripl(?:e[sd]?)|\w+fold|hal(?:f|ves|ved)"
    r"|(?:a|one|two)[ -](?:third|quarter|fifth|tenth)s?|quarters?|percent|per cent|majority|most of"
)
SIGNIFICANCE = _words(
    r"(?:in)?significan\w*|chance|evidence|random|p[ -]values?|reject\w*|proofs?"
    r"|prov(?:e[sdn]?|ing)|(?:in)?conclusive\w*|convincing\w*|establish\w*"
)
DIRECTION = _words(
    r"more|less|fewer|higher|lower|larger|smaller|greater|better|worse|\w*likelier|than|exceed\w*"
    r"|(?:dis)?favou?r\w*|(?:dis)?advantag\w*|ahead|behind|outperform\w*|above|below|beyond"
)
INTERVAL = _words(
    r"intervals?|contain\w*|exclud\w*|includ\w*|spans?|(?:im)?precis\w*|no difference|cross(?:es)?"
)
STRATA = _words(r"strat\w+|Simpson\w*|pooled|revers\w+|adjust\w+")
SIZE = _words(
    r"slight(?:ly)?|moderate(?:ly)?|strong(?:ly)?|large|small|substantial\w*|considerabl\w*|huge"
    r"|marked(?:ly)?|weak(?:ly)?|negligible|dramatic\w*"
)
CAUSE = _words(
    r"caus\w+|because of|due to|leads? to|led to|owing to|driven by|stems? from|attribut\w+"
    r"|discriminat\w+|prejudic\w+|bias(?:ed|es)?|racis\w+|sexis\w+|responsible for|results? from"
    r"|as a result of|brings? about|explain\w*|reasons?|why|determines?"
)
STATEMENT = re.compile(
    "|".join(words.pattern for words in (SIGNIFICANCE, DIRECTION, INTERVAL, STRATA, CAUSE, SIZE)),
    re.IGNORECASE,
)
"""Words of statements that only a reader can check."""
DENIED = _words(r"not?|cannot|neither|nor|never|without|\w+n't|unable")
DEICTIC = _words(
    r"this (?:analysis|report|comparison|study|table|sample|data)|these|here|our|results?|we|found"
    r"|both"
)
FREE = "free"
"""Stands for a caveat in a sentence that names no group."""
CLAIMED = frozenset(CLAIM_TYPES) - {"caveat"} | {FREE}
GATE = (
    ("significance", SIGNIFICANCE, {"significance", "interval", "conclusion", "caveat absence"}),
    ("direction", DIRECTION,
     {"direction", "conclusion", "strata", "interval", "agreement", FREE}),
    ("interval", INTERVAL, CLAIMED),
    ("strata", STRATA, {"strata", "caveat reversed"}),
    ("size", SIZE, CLAIMED | {"caveat small_cells", "caveat few_cases"}),
)  # fmt: skip
"""Words by topic; a sentence with such words declares one of these claims or caveats."""
CAVEAT_WORDS = {
    "causes": _words(r"caus\w+|why|explain\w*|reasons?"),
    "nature": _words(r"nature|abilit(?:y|ies)|conduct|character|behavio\w+|worth"),
    "absence": _words(r"not|absence|no"),
    "few_cases": _words(r"few(?:er)?|small|short|minimum"),
    "small_cells": _words(r"small|few|low"),
    "conflict": _words(r"conflict\w*|differ\w*|disagree\w*|alone"),
    "reversed": _words(r"Simpson\w*|disagree\w*|revers\w+|opposite"),
    "missing": _words(r"missing|unanswered|incomplete"),
    "unmeasured": _words(r"not measured|unmeasured|no comparison|nothing"),
    "unit": _words(r"prompts?"),
    "limits": _words(r"record\w*|data\w*|unmeasured|missing"),
    "experts": _words(r"experts?|people|specialists?|statisticians?|field"),
}
"""Words for each caveat; its sentence needs one of them."""
STRATIFIED = frozenset({"odds_ratio_within", "odds_ratio_adjusted", "cmh"})
"""Measures whose claims are about strata."""
SENTENCE = re.compile(r"[\"'\u201c(]*[A-Z{].*[.!?][)\"'\u201d]*", re.DOTALL)
MAX_SLOT_NAME = 60
ATTRIBUTION = "Words may attribute the outcome to a group's nature."


@dataclass(frozen=True)
class DraftFault:
    """A fault of a draft, in words for the writer and for readers."""

    kind: str
    message: str
    """The problem, without words of the model."""
    quote: str = ""
    """The words of the model, which only the model sees again."""
    place: Place = ("", 0)
    """Its sentence; no heading for the report as a whole."""


def draft_faults(draft: Draft, subject: Subject, profile: Profile) -> list[DraftFault]:
    """Return the faults of a draft; none means that every number and claim is right."""
    parts, faults = {section.title: section for section in draft.outline}, [*_structure(draft)]
    for place, sentence in draft.sentences.items():
        part = parts.get(place[0], ReportSection(4, place[0]))
        own_faults = sentence_faults(sentence, part, subject, profile)
        faults += [replace(fault, place=place) for fault in own_faults]
    declared = {about for s in draft.sentences.values() for about in s.topics("caveat")}
    for about in mandatory_caveats(subject):
        if about not in declared:
            wording = TypedClaim("caveat", about).sentence(subject)
            faults.append(DraftFault("caveat", f"The caveat {about!r} is missing: {wording}"))
    return faults


def _structure(draft: Draft) -> Iterator[DraftFault]:
    known = {section.title: section for section in draft.outline if section.most}
    titles = [section.heading for section in draft.sections]
    problems = dict(heading_problems(titles, known.values()))
    yield from (DraftFault("structure", message) for message in problems.values())
    for section in draft.sections:
        part, count = known.get(section.heading), len(section.sentences)
        if part is None:
            yield DraftFault("structure", "A heading is not one of those.", section.heading[:60])
        elif part.title not in problems and not part.least <= count <= part.most:
            problem = f"There are {count} sentences, not {part.least} to {part.most}."
            yield DraftFault("structure", problem, place=(part.title, 0))


def sentence_faults(
    sentence: Sentence, part: ReportSection, subject: Subject, profile: Profile
) -> Iterator[DraftFault]:
    """Yield the faults of one sentence."""
    bare = SLOT.sub(" ", sentence.text)
    yield from _slot_faults(sentence, part, subject)
    if any(char.isnumeric() or char == "%" for char in bare):
        yield DraftFault("number", "A number is typed; use a slot.")
    elif match := NUMBER_WORDS.search(bare):
        yield DraftFault("number", "A number is written in words; use a slot.", match[0])
    if not SENTENCE.fullmatch(sentence.text):
        problem = "The sentence has to begin with a capital letter and end with a full stop."
        yield DraftFault("structure", problem)
    if sentence.unreadable:
        yield DraftFault("claim", "A claim cannot be read.", sentence.unreadable)
    for claim in sentence.claims:
        yield from _claim_faults(claim, bare, subject)
    yield from _undeclared(sentence, bare, subject)
    if match := profile.flags.search(bare):
        yield DraftFault("attribution", ATTRIBUTION, match[0])


def _slot_faults(sentence: Sentence, part: ReportSection, subject: Subject) -> Iterator[DraftFault]:
    slots = slots_of(subject)
    for match in SLOT.finditer(sentence.text):
        if match[1] not in slots:
            yield DraftFault("slot", "A slot does not exist.", match[1][:MAX_SLOT_NAME])
        elif not part.numbers and is_number(match[1]):
            yield DraftFault("slot", "No number belongs under this heading.", match[1])
    if set("{}") & set(SLOT.sub("", sentence.text)):
        yield DraftFault("slot", "A brace does not enclose the name of a slot.")


def _claim_faults(claim: TypedClaim, bare: str, subject: Subject) -> Iterator[DraftFault]:
    if not claim.is_right(subject):
        problem = f"A claim about {claim.type} is wrong or does not fit these statistics."
        yield DraftFault("claim", problem, claim.json[:120])
    elif claim.type == "caveat" and not CAVEAT_WORDS[claim.topic].search(bare):
        problem = "The sentence does not say what its caveat declares."
        yield DraftFault("caveat", problem, claim.topic)


def _undeclared(sentence: Sentence, bare: str, subject: Subject) -> Iterator[DraftFault]:
    if sentence.topics("definition"):
        if _names_group(sentence.text, subject) or DEICTIC.search(bare):
            problem = "A definition speaks of these groups or results; claim that separately."
            yield DraftFault("undeclared", problem)
        return
    caveats = sentence.topics("caveat")
    declared = {claim.type for claim in sentence.claims} | {f"caveat {name}" for name in caveats}
    if any(claim.topic in STRATIFIED for claim in sentence.claims):
        declared.add("strata")
    if caveats and not _names_group(sentence.text, subject):
        declared.add(FREE)
    for topic, words, accepted in GATE:
        match = words.search(bare)
        if match and not declared & accepted:
            problem = f"The sentence speaks of {topic} without a claim about it."
            yield DraftFault("undeclared", problem, match[0])
    match = CAUSE.search(bare)
    if match and not (caveats & {"causes", "nature"} and DENIED.search(bare)):
        problem = "The sentence speaks of a cause; only a caveat may, and only to deny one."
        yield DraftFault("cause", problem, match[0])


def _names_group(text: str, subject: Subject) -> bool:
    slots = "|".join(rf"\{{groups\.{key}\." for key in group_keys(subject))
    labels = "|".join(re.escape(group) for group in subject.groups)
    return re.search(rf"{slots}|(?<!\w)(?:{labels})(?!\w)", text, re.IGNORECASE) is not None


def withheld(faults: Iterable[DraftFault]) -> dict[Place, str]:
    """Return the sentences that replace the failed ones."""
    kinds: dict[Place, dict[str, None]] = {}
    for fault in faults:
        if fault.place[1]:
            kinds.setdefault(fault.place, {})[fault.kind] = None
    return {place: f"[Sentence withheld: {', '.join(names)}.]" for place, names in kinds.items()}
