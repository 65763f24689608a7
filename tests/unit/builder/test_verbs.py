import sys

import pytest

from biaswatch.building.verb_finders import verb_finder
from biaswatch.shared.errors import UsageError


def test_without_spacy_a_rule_finds_verbs_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert verb_finder("auto").name == "rule"
    assert verb_finder("rule").name == "rule"


def test_a_plan_that_insists_on_spacy_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(UsageError, match="install spacy and its model"):
        verb_finder("spacy")
