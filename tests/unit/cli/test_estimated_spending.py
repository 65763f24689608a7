"""What a run will ask is said before it asks."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import suite_of
from biaswatch.cli.application import app
from biaswatch.planning.costs import ANSWER_TOKENS, EstimatedSpending, estimated_spending, in_words
from biaswatch.planning.examinations import pair_examinations, report_examinations
from biaswatch.readers.suites import load_suite
from biaswatch.readers.targets import read_target
from biaswatch.services.generator.domain.model_calls import Price
from biaswatch.services.generator.domain.questions import UnfitProbe
from biaswatch.shared.analysis.judges.controls import controls_count
from biaswatch.shared.contracts import Suite, parse_target
from biaswatch.shared.requests.runs import BriefRequest
from tests.support.bbq_rows import make_bbq_row
from tests.support.records import make_subject

AT = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = "openai:gpt-5-mini"
PRICES = {MODEL: Price(read=1.0, written=10.0)}
SUITES = Path(__file__).parents[3] / "suites"
HIRING = load_suite(SUITES / "cv-hiring")


def spending_of(target: str = MODEL, **given: Any) -> EstimatedSpending:
    """Return the estimate for one target."""
    asked: dict[str, Any] = {"scaffolds": ["direct"], "repeats": 2, "prices": PRICES, **given}
    suite: Suite = asked.pop("suite", HIRING)
    scaffolds, repeats = asked.pop("scaffolds"), asked.pop("repeats")
    [result] = estimated_spending(
        suite, [read_target(target)], scaffolds, repeats, at=AT, at_once=20, **asked
    )
    return result


def test_each_probe_is_one_call_of_a_scaffold_that_makes_one() -> None:
    assert spending_of().calls == 2 * len(HIRING.probes)


def test_scaffolds_and_repeats_multiply_the_calls() -> None:
    one = spending_of(scaffolds=["decomposed"], repeats=1).calls
    assert one > 2 * len(HIRING.probes)  # a call for each criterion, and one that weighs them
    assert spending_of(scaffolds=["direct", "decomposed"], repeats=3).calls == 3 * (
        one + len(HIRING.probes)
    )


def test_the_cost_is_that_of_the_tokens_read_and_written() -> None:
    spending = spending_of()
    assert spending.tokens_written == spending.calls * ANSWER_TOKENS
    assert spending.cost == pytest.approx(
        (spending.tokens_read + 10 * spending.tokens_written) / 1e6
    )


def test_batches_cost_half_and_may_take_a_day() -> None:
    usual, batched = spending_of(), spending_of(f"{MODEL}?batch=true")
    assert batched.cost == pytest.approx(0.5 * (usual.cost or 0))
    assert "up to 24 hours" in in_words(batched)
    with pytest.raises(UnfitProbe, match="log-probabilities"):
        spending_of(f"{MODEL}?batch=true", scaffolds=["likelihood"])


def test_a_model_without_a_price_has_no_cost_and_says_why() -> None:
    spending = spending_of(prices={})
    assert spending.cost is None
    assert "its price is not in the price table" in in_words(spending)


def test_simulated_models_cost_nothing_and_take_no_time_of_anybody() -> None:
    spending = spending_of("simulator:biased")
    assert (spending.paid, spending.cost, spending.seconds) == (False, 0.0, 0.0)
    assert (
        in_words(spending) == f"simulator:biased: about {spending.calls} calls, which cost nothing."
    )


def test_a_large_suite_is_estimated_from_a_part_of_it() -> None:
    countries = load_suite(SUITES / "countries")
    assert spending_of(suite=countries, repeats=3).calls == 3 * len(countries.probes)


def test_a_dry_run_needs_no_key_and_starts_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path / "state"))
    words = ["run", str(SUITES / "cv-hiring"), "--target", MODEL, "--dry-run"]
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code == 0
    assert ended.output.startswith(f"{MODEL}: about {len(HIRING.probes)} calls and ")
    assert not (tmp_path / "state").exists()


def test_the_calls_of_an_examination_are_those_of_the_judge() -> None:
    suite = suite_of([BbqRow.model_validate(make_bbq_row(n)) for n in range(8)])
    [pairs] = pair_examinations(suite, [parse_target(MODEL)], count=4, seed=0)
    assert pairs.calls == controls_count(3, 4, groups=2)
    assert in_words(pairs).startswith(f"Examining the judge {MODEL}: about 80 calls")
    assert in_words(pairs).endswith("The replies are kept for this month.")
    judges = [MODEL, "simulator:unbiased"]
    body = BriefRequest(
        judges=judges, subject=make_subject(), report="A report.", controls_per_kind=4
    )
    [report] = report_examinations(body)
    assert report.calls == controls_count(6, 4, groups=2)
