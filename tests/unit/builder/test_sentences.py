from pathlib import Path

import pytest

from biaswatch.building.sentences import problem_of, sentences


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
        ("Fr. Lund met Msgr. Holt. He left.", ["Fr. Lund met Msgr. Holt.", "He left."]),
        ("They came c. 1150 by sea. It rained.", ["They came c. 1150 by sea.", "It rained."]),
        (
            "It rose to 2 m. marks, or 20 per cent. of it.",
            ["It rose to 2 m. marks, or 20 per cent. of it."],
        ),
        (
            "See e.g. Bern, Fig. 3 and No. 7. It is done.",
            ["See e.g. Bern, Fig. 3 and No. 7.", "It is done."],
        ),
    ],
)
def test_a_sentence_ends_where_a_reader_says_so(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


def test_citation_marks_are_stripped_and_other_brackets_are_markup() -> None:
    text = "It rained.[1][23] He left [4]. It snowed[citation needed] a lot. They said [sic] so.[a]"
    assert list(sentences(text)) == ["It rained.", "He left.", "It snowed a lot."]


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
        "History\n-------\nIt is old.",
        "History[edit]\nIt is old.",
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


@pytest.mark.parametrize(
    "marker",
    [
        *("•", "◦", "‣", "→", "➢", "■", "✓", "✅", "👉🏽", "»", "—", "--", "†", "1️⃣", "o", "*"),
        *("1.", "(1)", "1.2.3", "a)", "(b)", "iv.", "(ii)", "A.", "IV.", "#1", "[3]", "12"),
        *("Step 1:", "Q:", "A:"),
    ],
)
def test_an_entry_of_a_list_is_recognised_by_any_marker(marker: str) -> None:
    assert problem_of(f"{marker} The harbour is open in spring.") == "list entry"
    assert sentences(f"{marker} The harbour is open.\n{marker} The land is\nwet.") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("is measured in Peru by the state.", "no capital at its beginning"),
        ("OF THE LAND AND ITS PEOPLE.", "heading"),
        ("Write to info@peru.example for a visa.", "contains markup or code"),
        ("The rate is $v$ in Peru.", "contains markup or code"),
        ("Water is H~2~O in Peru.", "contains markup or code"),
        ("Peru {{cite}} is old.", "contains markup or code"),
        ("(The armies of Peru were small.", "a quotation or bracket that is not closed"),
        ("“The land of Peru is old.", "a quotation or bracket that is not closed"),
        ("Figure 3 The harbour of Peru is wide.", "caption"),
        ("Photo by Jan Holt of the port.", "caption"),
        ("Figure 3 shows the harbour of Peru.", None),
        ("It cost $5 in Peru & Chile, or 20% more.", None),
        ("“The land,” she said, “is old.”", None),
    ],
)
def test_what_is_no_whole_sentence_of_prose_has_a_reason(text: str, problem: str | None) -> None:
    assert problem_of(text) == problem


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The well-\nknown la-\nke of Peru-\nBolivia has short-\nand long-term\nguests.", [
            "The well-known lake of Peru-Bolivia has short- and long-term guests.",
        ]),
        ("The of\ufb01ce on the coast\u00b9 is o\u00adpen.\u00b2 The area is 5 km\u00b2.", [
            "The office on the coast is open.", "The area is 5 km\u00b2.",
        ]),
        ("It stands on the coast.1 Ships rest there.12", [
            "It stands on the coast.", "Ships rest there.",
        ]),
        ("It sells fish -- and wool--to all.", ["It sells fish \u2014 and wool\u2014to all."]),
        ("It is old.\n\n[1] Lund, Peru, p. 12.\n[2] This is a note.", ["It is old."]),
    ],
)  # fmt: skip
def test_a_text_is_cleaned_of_what_its_setting_added(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
