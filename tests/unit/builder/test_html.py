import pytest

from biaswatch.building.sentences import sentences
from biaswatch.building.web_pages import text_of

UNITS = [
    "&#9999999999;",
    "<div>\ud800",
    "<",
    "<!--",
    "<a ",
    "<![",
    "<?",
    "<div>",
    "<script>",
    "</",
    '<a b="',
    "&#9",
    "<sup class=",
]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<h1>Old</h1><p>It is&nbsp;old &amp; <b>gr</b>ey.</p>", ["Old", "It is old & grey."]),
        ("<script>if (a<b) '<p>no'</script>yes<STYLE>p{}</STYLE>", ["yes"]),
        ("<nav><nav>menu</nav>more</nav><p>text</p>", ["text"]),
        ('old<sup id="1" class="x reference">[1]</sup> town, 2<sup>nd</sup>', ["old town, 2nd"]),
        ("a < b <!-- c > d --> e", ["a < b e"]),
        ("one<br/>two<hr>three", ["one", "two", "three"]),
        ("<svg/>seen", ["seen"]),
        ("cut <a href='x", ["cut"]),
        ("<head><title>Tab</title></head><body>text", ["text"]),
        ("<sup class='references'>st</sup>", ["st"]),
        ("", []),
        ("\0 \0", []),
    ],
)
def test_the_text_is_what_a_reader_would_see(page: str, words: list[str]) -> None:
    found = [" ".join(part.split()) for part in text_of(page).split("\n\n")]
    assert [part for part in found if part] == words


@pytest.mark.parametrize("unit", UNITS)
def test_a_page_made_to_annoy_is_read_to_its_end(unit: str) -> None:
    # Each would take hours where time grows with the square of the length.
    text_of(unit * (3_000_000 // len(unit)))


@pytest.mark.parametrize(
    "unit", ["[", "[note ", " ", ". ", "Mr. ", "\n", "[citation ", "=", "a.b.", '. "', ".", "A "]
)
def test_a_text_made_to_annoy_is_split_to_its_end(unit: str) -> None:
    list(sentences(unit * (300_000 // len(unit))))
