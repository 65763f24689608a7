"""Numbers read the same in a terminal, a report and a page."""

import pytest

from biaswatch.shared.formatting import computed_p, coverage, interval, number, p_equals, p_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e-15, "0"),
        (-0.12345, "-0.123"),
        (999.4, "999"),
        (999.9, "1,000"),
        (-12345.6, "-12,346"),
    ],
)
def test_numbers_have_three_figures_or_all_before_the_point(value: float, text: str) -> None:
    assert number(value) == text


def test_a_signed_number_says_so() -> None:
    assert [number(value, signed=True) for value in (0.25, -1.5, 1234.5, -0.0)] == [
        "+0.25", "-1.5", "+1,234", "0",
    ]  # fmt: skip


def test_a_tiny_p_value_is_said_to_be_tiny_and_never_zero() -> None:
    assert (p_value(0.00011), p_value(None)) == ("0.00011", "-")
    assert {p_value(0.0), p_value(1e-301), p_value(9.9e-5)} == {"< 0.0001"}
    assert (p_equals(0.0), p_equals(0.031)) == ("p < 0.0001", "p = 0.031")
    assert (computed_p(0.0), computed_p(1e-301), computed_p(None)) == (None, 1e-301, None)


def test_an_estimate_without_an_interval_says_why() -> None:
    assert interval(1, 0.5, 1.5, None) == "1 [0.5, 1.5]"
    assert interval(None, None, None, "no values") == "- [no values]"
    assert interval(2, None, None, None) == "2 [no interval]"


def test_what_intervals_cover_is_a_percentage() -> None:
    assert (coverage(0.05), coverage(0.001)) == ("95 %", "99.9 %")
