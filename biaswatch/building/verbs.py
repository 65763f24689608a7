"""The main verb of an English sentence, by rule: finite forms, endings, the word before."""

from typing import Any, Literal, Protocol

from biaswatch.building.words import FINITE, NOUN_MARKS, QUOTES, STOP, word_set
from biaswatch.shared.errors import UsageError

RULE_NAME = "rule"


class VerbFinder(Protocol):
    """Says where the main verb of a sentence is."""

    name: str

    def main_verb(self, words: list[str]) -> int | None:
        """Return the verb's index among the words, or None where none is found."""


PAST = word_set(
    "arose ate beat bent bet bit bled blew bought bound bred broke built burst caught chose clung"
    " cost crept cut dealt drew drank drove fed fell fled flew forbade forgot forgave fought froze"
    " hid hit hurt knew laid lent let lit met overcame put quit rang ran rose sang sank sat sent"
    " set shook shone shot shrank shut slept slid sold sought spent spread sprang stole struck"
    " stuck stung swam swore swung taught threw told tore understood undertook woke wore wove"
    " withdrew won wrought thrust split"
)
"""Irregular forms of the past that FINITE does not hold."""
PRESENT = word_set(
    "accept account achieve act add adopt affect agree aim allow announce appear apply appoint"
    " argue arrive ask assume attend attract avoid bear beat become believe belong bind borrow"
    " break breed bring build burn buy call care carry cast catch cause change charge check choose"
    " claim clear climb collect combine compete complain connect consider consist consume contain"
    " continue contribute control cook cost count cover create cross cut decide decline decrease"
    " defend define demand deny depend derive describe deserve design destroy determine develop"
    " die differ dig direct disagree discover discuss distinguish divide dominate draw dream dress"
    " drink drive drop earn eat elect emerge emphasise employ enable encourage end enjoy ensure"
    " enter establish estimate exceed exchange exclude exist expand expect experience explain"
    " export express extend face fail fall favour fear feature feed fight fill fit fix flow fly"
    " focus follow forbid force forget form fund gain gather generate govern grant greet guard"
    " guide handle hang happen harm head hear help hide hire hit honour hope hunt identify ignore"
    " imply import improve include increase indicate influence inform insist inspire intend"
    " introduce invest invite involve issue join judge jump keep kill know lack laugh launch learn"
    " leave lend let lie lift like limit link list listen live look love lower maintain manage"
    " mark marry matter measure meet mention mix mount move need notice obtain occupy occur offer"
    " open operate oppose organise owe own pass pay perform permit persuade pick plan plant play"
    " point possess practise praise pray prefer prepare present press prevent produce prohibit"
    " promise promote protect prove provide publish pull punish push put raise range reach react"
    " read receive recognise recommend record recruit reduce refer reflect refuse regard reject"
    " relate rely remember remove rent repair repeat replace report represent require rescue"
    " resist respect respond rest result retain return reveal ride ring rise rule run save score"
    " seek seem select sell send separate serve set settle shake shape share shoot show shut sing"
    " sit sleep smell smoke solve sound spend split spread stay steal stem stick stop strengthen"
    " stretch strike struggle study succeed suffer suggest suit supply support surround survive"
    " suspect swim take talk tax teach tell tend test thank threaten throw touch trade train"
    " travel treat trust try turn understand unite urge use vary view visit vote wait walk want"
    " warn wash watch wear weigh win wish wonder work worry write bless kick dribble tackle insert"
    " inject diagnose lecture blow review print"
)
"""Common verbs in the form of the plural."""
NO_SUBJECT = word_set(
    "of for in on at by with from to into over under between among through about as than and or"
    " nor per via against without within around across behind beyond during toward towards"
)
"""After these comes a noun, so what looks like a verb is one."""
PLURALS = word_set(
    "they we you who which that people men women children police many some most others both these"
    " those all few several cattle staff"
)
"""Subjects of the plural that do not end in s."""
ADVERBS = word_set("also often still never now always sometimes usually")
PRONOUNS = word_set("i he she it they we you")


class RuleVerbs:
    """Finds the verb by lists of finite forms, regular endings and the word before."""

    name = RULE_NAME

    def main_verb(self, words: list[str]) -> int | None:
        """Return the first likely verb that follows a subject of some length, or else the first."""
        candidates = [index for index in range(1, len(words)) if _is_finite(words, index)]
        likely = _first_likely(words, candidates)
        by_subject = [n for n in range(1, likely or len(words)) if _follows_subject(words, n)]
        by_name = [index for index in range(1, len(words)) if _follows_name(words, index)]
        early = next(iter(by_subject), None)
        if likely is not None:
            # A verb of the main clause comes before those of its subordinate clauses.
            return likely if early is None or early > likely else early
        return early if early is not None else next(iter(by_name), None)


def _first_likely(words: list[str], candidates: list[int]) -> int | None:
    """Return the first candidate, unless what stands before it is too short for a subject."""
    whole = _bare(words[0]) in NOUN_MARKS | PRONOUNS
    late = [index for index in candidates if index > 2]
    return next(iter(candidates if whole else late or candidates), None)


def _in_brackets(words: list[str], index: int) -> bool:
    text = " ".join(words[:index])
    return text.count("(") > text.count(")")


def _bare(word: str) -> str:
    return word.strip(QUOTES + ",;:().").lower()


def _is_finite(words: list[str], index: int) -> bool:
    if _in_brackets(words, index) or words[index][:1].isupper():
        return False
    word, before = _bare(words[index]), _bare(words[index - 1])
    regular = len(word) > 4 and word.endswith("ed") and before not in NOUN_MARKS
    past = word in PAST and before not in NOUN_MARKS | NO_SUBJECT
    return word in FINITE or regular or past


def _follows_subject(words: list[str], index: int) -> bool:
    """Tell whether a verb of the present fits the word before: `nurses work`, `the state pays`."""
    written, before = words[index], words[index - 1]
    if _in_brackets(words, index) or not _bare(written).isalpha() or not written[:1].islower():
        return False
    if before[-1:] in ",;:" or _bare(before) in NOUN_MARKS | NO_SUBJECT:
        return False
    word = _bare(written)
    subject = index - 1
    if _bare(before).endswith("ly") or _bare(before) in {
        "also",
        "often",
        "still",
        "never",
        "rarely",
    }:
        subject -= 1
    if subject < 0:
        return False
    noun = _bare(words[subject])
    plural = noun in PLURALS or (noun.endswith("s") and not noun.endswith(("ss", "us", "is")))
    if word in PRESENT:
        return plural and _has_no_genitive(words[subject])
    return _singular_form(word) and not plural and noun not in STOP - {"it", "he", "she", "who"}


def _has_no_genitive(word: str) -> bool:
    return not _bare(word).endswith(("'s", "\u2019s")) and word[-1:] not in "'\u2019"


def _singular_form(word: str) -> bool:
    """Tell whether the word is a listed verb with the ending of he, she and it."""
    if word.endswith("ies"):
        return word[:-3] + "y" in PRESENT
    if word.endswith("es") and word[:-2] in PRESENT:
        return True
    return word.endswith("s") and word[:-1] in PRESENT


def _follows_name(words: list[str], index: int) -> bool:
    """Tell whether this may be the verb of a name: `Peru exports`."""
    before, word = words[index - 1].strip(QUOTES), words[index]
    named = before[:1].isupper() and before.isalpha() and before.lower() not in STOP
    return named and word.islower() and word.endswith("s") and not word.endswith(("ss", "us"))


MODEL = "en_core_web_sm"


class SpacyVerbs:
    """Takes the root of the sentence that spaCy parses, if it is a verb."""

    def __init__(self, parse: Any, name: str) -> None:
        self._parse = parse
        self.name = name

    def main_verb(self, words: list[str]) -> int | None:
        """Return the index of the word that holds the root."""
        text = " ".join(words)
        for token in self._parse(text):
            if token.dep_ == "ROOT" and token.pos_ in {"VERB", "AUX"}:
                return text.count(" ", 0, token.idx)
        return None


def verb_finder(choice: Literal["auto", "rule", "spacy"]) -> VerbFinder:
    """Return the finder that the plan names.

    Raise UsageError where it names spaCy, and spaCy or its model is not installed.
    """
    if choice == "rule":
        return RuleVerbs()
    try:
        import spacy

        parse = spacy.load(MODEL, exclude=["ner", "lemmatizer"])
    except (ImportError, OSError):  # OSError: there is spaCy, but not its model
        if choice == "auto":
            return RuleVerbs()
        raise UsageError(
            f"The plan wants spaCy to find verbs: install spacy and its model {MODEL}, or write"
            " `verbs: rule`."
        ) from None
    return SpacyVerbs(parse, f"spaCy {spacy.__version__}, {MODEL} {parse.meta['version']}")
