import pytest

from biaswatch.building.branching import Rewriter, replacement_terms


def test_the_longest_term_is_replaced_first() -> None:
    rewrite = Rewriter({"Velmora": "France", "Velmora City": "Paris", "Velmora's": "France's"})
    assert rewrite("Velmora City is Velmora's heart.") == "Paris is France's heart."


def test_only_whole_words_are_replaced_and_everything_else_keeps_its_case() -> None:
    rewrite = Rewriter({"US": "Velmora"})
    text = "The USA and NASA do business with us in the US."
    assert rewrite(text) == "The USA and NASA do business with us in the Velmora."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a nation", "a union"),
        ("Nation first", "Union first"),
        ("THE NATION", "THE UNION"),
        ("national", "national"),
        ("NaTion", "NaTion"),
    ],
)
def test_the_case_of_what_is_replaced_is_kept(text: str, expected: str) -> None:
    assert Rewriter({"nation": "union"})(text) == expected


def test_a_replacement_begins_with_a_capital_where_a_sentence_begins() -> None:
    rewrite = Rewriter({"Velmora": "the United States"})
    assert rewrite("Velmora is wide. Velmora, too. In Velmora?") == (
        "The United States is wide. The United States, too. In the United States?"
    )
    assert Rewriter({"Velmora": "iPhone"})("Velmora sells.") == "iPhone sells."


def test_the_indefinite_article_follows_the_new_word() -> None:
    rewrite = Rewriter({"Velmoran": "American"})
    assert rewrite("A Velmoran met a Velmoran.") == "An American met an American."
    assert Rewriter({"Velmoran": "European"})("an Velmoran") == "a European"


def test_words_of_any_characters_are_replaced_as_wholes() -> None:
    rewrite = Rewriter({"AC/DC": "Queen", "C++": "Rust", "C": "Go"})
    assert rewrite("AC/DC wrote C++ and C.") == "Queen wrote Rust and Go."


def test_a_replacement_is_not_replaced_again() -> None:
    assert Rewriter({"Peru": "Chile", "Chile": "Cuba"})("Peru, Chile") == "Chile, Cuba"


def test_one_direction_needs_no_way_back() -> None:
    terms = replacement_terms("Peru", "Chile", {"Lima": "Chile"}, both_directions=False)
    assert terms == {"Peru": "Chile", "Lima": "Chile"}
    assert Rewriter(terms)("Chile and Peru") == "Chile and Chile"


def test_both_directions_exchange_the_words_with_a_map_written_one_way() -> None:
    terms = replacement_terms("Peru", "Chile", {"Lima": "Santiago"}, both_directions=True)
    assert Rewriter(terms)("Lima, Peru; Santiago, Chile.") == "Santiago, Chile; Lima, Peru."


def test_a_way_back_that_is_not_clear_is_refused() -> None:
    with pytest.raises(ValueError, match="'Peru' and 'Lima' both become 'Chile'"):
        replacement_terms("Peru", "Chile", {"Lima": "Chile"}, both_directions=True)
