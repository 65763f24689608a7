"""Markdown of articles: only paragraphs become sentences."""

import pytest

from biaswatch.building.build_data import document_of
from biaswatch.building.markdown_text import passages_of_markdown, passages_of_text
from biaswatch.building.sentences import MARKUP, sentences

ARTICLE = """\
---
title: Velmora
---
# Velmora

**1. Introduction**

Velmora is an *old* country with [many towns](https://x.example/a_b). It is **not** rich.

- **Trade**: Velmora has a strong trade in wool.
* Velmora exports many goods.

  The goods of Velmora are carried by ships.
1. Velmora was founded in 1200.

| Region of Velmora | People |
|---|---|
| The north of Velmora is cold. | 12 |

![The harbour of Velmora](harbour.png)

*The harbour of Velmora is seen from the east.*

Figure 2: The harbour of Velmora is wide.

```python
print("Velmora is here.")
```

    Velmora = find("Velmora is there.")

The variable `velmora` is set in Velmora. Velmora is quiet at night.

**Culture:** The people of Velmora sing a great deal.

> The sea made Velmora, and the sea feeds it.

<div><p>Velmora has a long coast.</p><ul><li>Velmora has reeds.</li></ul></div>

[^1]: Velmora is named after a river.
"""


def test_only_the_paragraphs_of_an_article_become_sentences() -> None:
    document = document_of("a.md", passages_of_markdown(ARTICLE), "own")
    assert sentences(document.text) == [
        "Velmora is an old country with many towns.",
        "It is not rich.",
        "Velmora is quiet at night.",
        "The people of Velmora sing a great deal.",
        "The sea made Velmora, and the sea feeds it.",
        "Velmora has a long coast.",
    ]
    reasons = [passage.left_out for passage in document.left_out]
    expected = {"heading": 2, "list entry": 5, "table": 4, "caption": 3, "code": 2, "footnote": 1}
    assert {reason: reasons.count(reason) for reason in expected} == expected


def test_an_article_that_a_model_puts_into_a_fence_is_read() -> None:
    fenced = f"Here it is:\n\n~~~markdown\n{ARTICLE.split('---')[2]}\n~~~\n"
    document = document_of("a", passages_of_markdown(fenced), "own")
    assert "It is not rich." in sentences(document.text)


def test_indented_and_wrapped_paragraphs_of_a_text_file_are_prose() -> None:
    text = "    The town is old and\n    its walls are thick.\n\n    It was built in stone."
    document = document_of("a.txt", passages_of_text(text), "own")
    assert sentences(document.text) == [
        "The town is old and its walls are thick.",
        "It was built in stone.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It is **bold and old.",
        "It is a table | of old towns.",
        "See [the page](x) for old towns.",
        "It is [[old]] here.",
        "<b It is old.",
        "The sum is \\alpha and old.",
        "- It is old.",
        "Table 3: It is old.",
    ],
)
def test_a_sentence_with_markup_is_not_used(text: str) -> None:
    assert sentences(text) == []


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "*", "**a ", "`", "> ", "- ", "|", "|a|\n|-|\n", "<", "[a](", "_", "#", "~~~md\n"],
)
def test_markdown_made_to_annoy_is_read_to_its_end(unit: str) -> None:
    document = document_of("a", passages_of_markdown(unit * (200_000 // len(unit))), "own")
    assert not any(MARKUP.search(sentence) for sentence in sentences(document.text))


@pytest.mark.parametrize(
    ("paragraph", "sentence"),
    [
        ("The port<sup>1</sup> sells<br>wool &amp; ~~slate~~ salt.", "The port sells wool & salt."),
        ("***Trade:*** The port sells wool.", "The port sells wool."),
        ("**Trade** \u2013 The port sells wool.", "The port sells wool."),
        ("**Peru** \u2013 a dry land \u2013 is old.", "Peru \u2013 a dry land \u2013 is old."),
        ("+++\nwords = 'The port is old.'\n+++\nThe port sells wool.", "The port sells wool."),
        ("The <kbd>port</kbd> sells wool.", None),
        ("Certainly! Here is an article about ports.", None),
        ("Let me know if the port should be longer.", None),
    ],
)
def test_marks_inside_a_paragraph_do_not_reach_its_sentence(
    paragraph: str, sentence: str | None
) -> None:
    document = document_of("a.md", passages_of_markdown(paragraph), "own")
    assert sentences(document.text) == ([] if sentence is None else [sentence])
