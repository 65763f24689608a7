"""Spaces in files: the one that is shipped, and mistakes."""

import re
from collections import Counter
from pathlib import Path

import pytest

from biaswatch.readers.spaces import load_space
from biaswatch.shared.contracts.search import PERSON
from biaswatch.shared.errors import UsageError

PRONOUN = re.compile(r"\b(he|she|him|his|her|hers|they|them|their|man|woman|mr|mrs|ms)\b", re.I)


def test_the_shipped_space_has_200_topics_in_12_contexts_with_hundreds_of_names() -> None:
    space = load_space("everyday-space")
    areas = Counter(topic.area for topic in space.topics.values())
    assert set(areas.values()) == {25}
    assert len(areas) == 8
    assert len(space.contexts) == 12
    assert min(map(len, space.groups.values())) >= 250
    names = [name for names in space.groups.values() for name in names]
    assert len(set(names)) == len(names)
    assert all(name.isalpha() for name in names)


def test_nothing_but_the_person_names_a_gender_in_the_shipped_space() -> None:
    space = load_space("everyday-space")
    names = {name for persons in space.groups.values() for name in persons}
    prompts = [prompt for topic in space.topics.values() for prompt in topic.prompts]
    assert len(set(prompts)) == len(prompts)
    for prompt in prompts:
        rest = prompt.replace(PERSON, "")
        assert not PRONOUN.search(rest), prompt
        assert not set(re.findall(r"[A-Z][a-z]+", rest)) & names, prompt


def test_the_example_is_a_space() -> None:
    assert set(load_space("examples/desk-space.yaml").contexts) >= {"none", "busy"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\n", "dimension"),
        (
            "{name: x, dimension: g, groups: {a: [A], b: [B]}, topics: {t: {area: a, prompts: [W]}}}",  # noqa: E501
            "lacks {person}",
        ),
        ("- 1\n", "a space is a mapping"),
    ],
)
def test_a_mistake_in_a_space_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "space.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)) as error:
        load_space(file)
    assert str(file) in str(error.value)


def test_a_space_that_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="no-such-space"):
        load_space("no-such-space")


def test_a_shipped_space_has_two_names_and_a_slip_is_noticed() -> None:
    assert load_space("everyday") == load_space("everyday-space")
    with pytest.raises(UsageError, match="Is 'everyday' meant"):
        load_space("evryday")
