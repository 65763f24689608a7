"""Flagged pairs on the page of a run: folded, readable, and a model's words as plain text."""

from jinja2 import Environment, PackageLoader
from lxml import html

from biaswatch.services.gateway.dashboard.rendering import capitalize_first
from biaswatch.shared.presentation.names import STATEMENTS
from biaswatch.shared.requests.run_views import FlaggedPair, FlaggedSide

NASTY = "<script>alert('x')</script>"


def test_a_flagged_pair_is_folded_and_a_models_words_stay_text() -> None:
    side = FlaggedSide(question="Who did it?", chosen="A", answer="The girl", reasoning=NASTY)
    pair = FlaggedPair(
        target="simulator:biased", scaffold="direct", set_id="s1", repeat=0, category="age",
        condition="ambig", answers="different", context=None, a=side, b=side,
        flags=["flag_1"], explanations={"flag_1": "A says the girl, B the boy."},
    )  # fmt: skip
    environment = Environment(
        loader=PackageLoader("biaswatch.services.gateway.dashboard", "templates"), autoescape=True
    )
    environment.filters["capitalize_first"] = capitalize_first
    macros = environment.get_template("pairs.html").module
    shown = macros.flagged_pair(pair, STATEMENTS, pair.target)  # type: ignore[attr-defined]
    element = html.fromstring(str(shown))
    assert element.tag == "details"
    title = " ".join(element.find("summary").text_content().split())
    assert title == "Who did it? s1, simulator:biased: flag 1 (A to B: no)"
    text = element.text_content()
    assert element.find(".//script") is None
    assert all(words in text for words in (NASTY, "The girl", "A says the girl", "(purged)"))
