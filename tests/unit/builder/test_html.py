import pytest

from biaswatch.building.html_text import passages_of_html
from biaswatch.building.sentences import sentences

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
    "<li>",
    "<code>",
    "<table><td>",
    "</",
    '<a b="',
    "&#9",
    "<sup class=",
]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<p>It is&nbsp;old &amp; <b>gr</b>ey.</p>", ["It is old & grey."]),
        ("<script>if (a<b) '<p>no'</script>yes<STYLE>p{}</STYLE>", ["yes"]),
        ("<nav><nav>menu</nav>more</nav><p>text</p>", ["text"]),
        ('old<sup id="1" class="x reference">[1]</sup> town, 2<sup>nd</sup>', ["old town, 2nd"]),
        ("a < b <!-- c > d --> e", ["a < b e"]),
        ("one<br/>two<hr>three", ["one\ntwo", "three"]),
        ("one<br><br>two", ["one\n\ntwo"]),
        ("<p>So <math><mi>x</mi></math> is<button>x</button> big.", ["So ` is big."]),
        ("19<sup>th</sup> 5 km<sup>2</sup> 10<sup>-6</sup>", ["19th 5 km² 10⁻⁶"]),
        ("coast<sup>1</sup> it<sup><a>[2]</a></sup> in 1990<sup>3</sup>", ["coast it in 1990"]),
        ('<body class="sidebar" style="display:none"><p>It is old.', ["It is old."]),
        ("<q>Old</q> <s>cold</s>town<span class=noprint>!</span>", ['"Old" town']),
        ("<svg/>seen", ["seen"]),
        ("cut <a href='x", ["cut"]),
        ("<head><title>Tab</title></head><body>text", ["text"]),
        ("<sup class='references'>st</sup>", ["st"]),
        ("", []),
        ("\0 \0", []),
    ],
)
def test_the_prose_is_what_a_reader_would_see(page: str, words: list[str]) -> None:
    assert [part.text for part in passages_of_html(page) if part.left_out is None] == words


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ('<div role="note" class="hatnote">For the moth, see below.</div>', "navigation"),
        ('<div class="thumb"><div class="thumbcaption">A port.</div></div>', "caption"),
        ('<div role="navigation" class="toc"><p>Contents.</p></div>', "navigation"),
        ('<div class="printfooter">Retrieved today.</div>', "navigation"),
        ('<div id="cookie-banner"><p>This page uses cookies.</p></div>', "navigation"),
        ('<div role="heading">Old.</div>', "heading"),
    ],
)
def test_blocks_are_recognised_by_role_and_class(block: str, reason: str) -> None:
    [left, kept] = passages_of_html(f"{block}The town is old.")
    assert (left.left_out, kept.left_out) == (reason, None)


def test_what_is_no_prose_is_left_out_with_its_reason() -> None:
    page = (
        "<h2>Old</h2><p>One.</p><ul><li>Two.<ul><li>Three.</ul></ul><table><tr><td>Four.</td>"
        "<td><p>Five.</p></table><figure><figcaption>Six.</figcaption></figure>"
        "<pre>seven()</pre><p>Fig. 3: Eight.</p><p>Run <code>nine</code> now.</p>"
    )
    assert [(part.text, part.left_out) for part in passages_of_html(page)] == [
        ("Old", "heading"),
        ("One.", None),
        ("Two. Three.", "list entry"),
        ("Four. Five.", "table"),
        ("Six.", "caption"),
        ("seven()", "code"),
        ("Fig. 3: Eight.", "caption"),
        ("Run `nine` now.", None),
    ]
    assert sentences("Run `nine` now.") == []


@pytest.mark.parametrize("unit", UNITS)
def test_a_page_made_to_annoy_is_read_to_its_end(unit: str) -> None:
    # Each would take hours where time grows with the square of the length.
    list(passages_of_html(unit * (3_000_000 // len(unit))))


@pytest.mark.parametrize(
    "unit", ["[", "[note ", " ", ". ", "Mr. ", "\n", "[citation ", "=", "a.b.", '. "', ".", "A "]
)
def test_a_text_made_to_annoy_is_split_to_its_end(unit: str) -> None:
    sentences(unit * (60_000 // len(unit)))
