"""A pipeline stops at a disparity where it asked to, and at nothing else."""

from pathlib import Path

import pytest

from tests.support.commands import CommandLine

SUITE = str(Path(__file__).parents[3] / "suites" / "hiring-demo.yaml")


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "scores.csv"
    rows = [f"{group},{score + n % 3}" for group, score in (("a", 1), ("b", 6)) for n in range(30)]
    path.write_text("\n".join(["group,score", *rows]))
    return str(path)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 0),
        (("--fail-on", "disparity"), 1),
        (("--fail-on", "4.5"), 1),
        (("--fail-on", "5.5"), 0),
        (("--fail-on", "disparity", "--config", "tolerance=7"), 0),
        (("--fail-on", "much"), 2),
        (("--fail-on", "-1"), 2),
    ],
)
def test_a_table_with_a_disparity_fails_where_that_was_asked_for(
    tmp_path: Path, table: str, words: tuple[str, ...], code: int
) -> None:
    command = CommandLine(tmp_path / "state")
    result = command("diagnose", table, "--group", "group", "--feature", "score", *words)
    assert result.returncode == code, result.stderr
    assert bool(result.stdout) == (code != 2)


ROWS = [(group, str(n % 7)) for n in range(30) for group in "abc"]
FEW = [(group, "" if group == "c" and n < 21 else score) for n, (group, score) in enumerate(ROWS)]
UNMEASURED = {
    "all": [(group, "") for group, _ in ROWS],
    "one group": [(group, "" if group == "c" else score) for group, score in ROWS],
    "some of one group": FEW,
    "a single group": [("a", score) for _, score in ROWS],
    "no group": [("", score) for _, score in ROWS],
}


@pytest.mark.parametrize("rows", UNMEASURED.values(), ids=list(UNMEASURED))
def test_a_table_with_too_few_values_passes_no_gate(
    tmp_path: Path, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["group,score", *(",".join(row) for row in rows)]))
    command = CommandLine(tmp_path / "state")
    words = ("diagnose", str(path), "--group", "group", "--feature", "score")
    assert command(*words).returncode == 0
    for gate in ("disparity", "0", "0.5"):
        result = command(*words, "--fail-on", gate)
        assert result.returncode == 3, result.stderr
        assert "Gate not passed" in result.stderr
    lower = command(*words, "--fail-on", "disparity", "--config", "min_measured=0.5").returncode
    assert lower == (0 if rows is FEW else 3)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--config", "min_measured=0.5"), "--min-measured requires --fail-on."),
        (
            ("--fail-on", "disparity", "--config", "min_measured=1.5"),
            "write a share between 0 and 1",
        ),
    ],
)
def test_a_share_that_cannot_be_used_is_one_sentence(
    tmp_path: Path, table: str, words: tuple[str, ...], sentence: str
) -> None:
    columns = ("--group", "group", "--feature", "score")
    result = CommandLine(tmp_path / "state")("diagnose", table, *columns, *words)
    assert result.returncode == 2
    assert sentence in result.stderr


def test_a_run_fails_at_the_bias_that_was_planted_and_shows_it_all_the_same(tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state")
    words = ("run", SUITE, "--repeats", "2", "--fail-on", "disparity")
    biased = command(*words, "--target", "simulator:biased")
    assert biased.returncode == 1, biased.stderr
    assert "rating: a disparity" in biased.stdout
    assert command(*words, "--target", "simulator:unbiased").returncode == 0
    run_id = biased.stdout.split("Run ")[1][:32]
    assert command("show", run_id, "--fail-on", "disparity").returncode == 1
    assert command("show", run_id, "--fail-on", "5").returncode == 0
    assert command("show", run_id).returncode == 0


def test_a_gateway_that_cannot_be_reached_is_no_finding(tmp_path: Path) -> None:
    result = CommandLine(tmp_path / "state")("runs", "--server", "http://127.0.0.1:1")
    assert result.returncode == 3
    assert "does not answer" in result.stderr
    assert result.stderr.count("\n") == 1
