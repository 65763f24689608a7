"""Finders of main verbs: the rule, or spaCy where the user has it."""

from typing import Any, Literal

from biaswatch.building.verbs import RuleVerbs, VerbFinder
from biaswatch.shared.errors import UsageError

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
