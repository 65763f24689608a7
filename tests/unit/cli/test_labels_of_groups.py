"""Labels of groups on the command line: with commas, in quotes; without line breaks."""

import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app

TABLE = ["table", "6", "14", "3", "17", "--groups"]


@pytest.mark.parametrize(
    ("groups", "named"), [("a,b", "rate of a "), ('"men, old",women', "rate of men, old")]
)
def test_a_label_may_hold_a_comma(groups: str, named: str) -> None:
    shown = CliRunner().invoke(app, [*TABLE, groups, "--outcome", "a loan"])
    assert named in shown.output
    assert "40 cases, outcome: a loan" in shown.output


def test_a_line_break_in_a_label_is_refused_in_a_sentence() -> None:
    refused = CliRunner().invoke(app, [*TABLE, "a\nb,c"])
    assert refused.exit_code != 0
    assert "line break" in str(refused.exception or refused.output)
