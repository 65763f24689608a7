from pathlib import Path

import pytest

from biaswatch.building.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ada met Mr. Bo. They spoke.", ["Dr. Ada met Mr. Bo.", "They spoke."]),
        ("He lives in the U.S. The house is old.", ["He lives in the U.S.", "The house is old."]),
        ("The U.S. Senate met. It voted.", ["The U.S. Senate met.", "It voted."]),
        ("J. K. Lund wrote it. We read it.", ["J. K. Lund wrote it.", "We read it."]),
        ("It costs 3.50 at Ink Inc. Others pay.", ["It costs 3.50 at Ink Inc.", "Others pay."]),
        ("They sell ink, etc. The shop is shut.", ["They sell ink, etc.", "The shop is shut."]),
        ('"Is it so?" she asked. He left.', ['"Is it so?" she asked.', "He left."]),
        ("She said: “It is.” He left.", ["She said: “It is.”", "He left."]),
        ("Wait... what? Nothing.", ["Wait... what?", "Nothing."]),
        (
            "See e.g. Bern, Fig. 3 and No. 7. It is done.",
            ["See e.g. Bern, Fig. 3 and No. 7.", "It is done."],
        ),
    ],
)
def test_a_sentence_ends_where_a_reader_says_so(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


def test_citation_marks_are_stripped_and_other_brackets_stay() -> None:
    text = "It rained.[1][23] He left [4]. It snowed[citation needed] a lot. They said [sic] so.[a]"
    assert list(sentences(text)) == [
        "It rained.",
        "He left.",
        "It snowed a lot.",
        "They said [sic] so.",
    ]


def test_headings_and_entries_of_lists_are_no_sentences() -> None:
    assert list(sentences("== History ==\n\nThe town\n\nIt is old.\n\n* one\n")) == ["It is old."]


def test_a_blank_line_ends_a_sentence_and_a_line_break_does_not() -> None:
    assert list(sentences("It is\nold.\n\nIt is new.")) == ["It is old.", "It is new."]


def test_a_text_without_any_sentence_gives_none() -> None:
    assert list(sentences("")) == []
    assert list(sentences("\n \n")) == []


@pytest.mark.parametrize(
    "text",
    [
        "History\nIt is old.",
        "It was so.\nEarly life\nShe was born there.",
        "# History\nIt is old.",
        "History\n-------\nit is old.",
        "History[edit]\nit is old.",
        "The port in winter\nThe port is closed for some of the year.",
        "* ships\n* cranes\nThe port is closed for some of the year.",
    ],
)
def test_a_heading_is_never_glued_to_a_sentence(text: str) -> None:
    first = next(iter(text.replace("It was so.\n", "").replace("# ", "").split("\n")))
    title = first.removesuffix("[edit]").removeprefix("* ")
    assert not any(title in sentence for sentence in sentences(text))
    assert list(sentences(text))


@pytest.mark.parametrize(
    "text",
    [
        "The president of\nPeru met them.",
        "He spoke with the people who had come from\nLima and went home.",
        "The old town\nLima was full.",
    ],
)
def test_a_line_that_was_wrapped_is_joined(text: str) -> None:
    assert list(sentences(text)) == [text.replace("\n", " ")]


PAGES = Path(__file__).parent / "pages"


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.txt")), ids=lambda path: path.stem)
def test_every_sentence_of_a_page_stands_in_a_line_of_it(page: Path) -> None:
    """The pages have a paragraph or a heading in each line, so nothing may cross a line's end."""
    lines = page.read_text().replace("[1]", "").split("\n")
    result = list(sentences(page.read_text()))
    assert len(result) > 30
    assert [item for item in result if not any(item in line for line in lines)] == []
    wanted = [sentence for line in lines if line.endswith(".") for sentence in sentences(line)]
    assert result == wanted
