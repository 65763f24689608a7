"""Which runs the pictures show side by side."""

from tests.browser.pictures import compared


def test_runs_are_compared_with_the_one_before_of_the_same_suite() -> None:
    latest_first = {"d": "cv", "c": "bbq", "b": "cv", "a": "cv", "0": "once"}
    assert compared(latest_first) == ["/compare?before=b&after=d", "/compare?before=a&after=b"]
