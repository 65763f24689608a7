"""The validity of a suite on a terminal: scores of each model, then rank correlations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from biaswatch.render.terminal import escape, print_bullets, print_sentence, print_table
from biaswatch.shared.analysis.validity import PairValidity
from biaswatch.shared.formatting import interval, number
from biaswatch.shared.presentation.tables import estimate_text
from biaswatch.shared.stats.estimate import Estimate


@dataclass(frozen=True)
class ModelVerdict:
    """The gap between two groups in the answers of one model, with its verdict."""

    model: str
    a: str
    b: str
    gap: Estimate
    verdict: str


@dataclass(frozen=True)
class Validity:
    """The scores of models, and the validity of their suite."""

    feature: str
    scores: Sequence[ModelVerdict]
    placebo: Sequence[ModelVerdict]
    pairs: Sequence[PairValidity]


def print_validity(validity: Validity) -> None:
    """Print one table and the correlations for each two groups."""
    console = Console(emoji=False)
    for pair in validity.pairs:
        print_sentence(console, f"{validity.feature}: {pair.a} less {pair.b}.")
        print_table(console, _scores(validity, pair))
        print_bullets(console, list(_sentences(pair)))


def _scores(validity: Validity, pair: PairValidity) -> Table:
    placebo = {verdict.model: verdict for verdict in validity.placebo}
    table = Table("model", "gap", "verdict", "placebo twins", "long texts", box=None)
    for score in validity.scores:
        if (score.a, score.b) == (pair.a, pair.b):
            control, long_gap = placebo.get(score.model), pair.long_gaps.get(score.model)
            table.add_row(
                escape(score.model),
                _gap(score),
                score.verdict,
                f"{_gap(control)}: {control.verdict}" if control else "none",
                "not measured" if long_gap is None else number(long_gap),
            )
    return table


def _gap(score: ModelVerdict) -> str:
    gap = score.gap
    return interval(gap.value, gap.low, gap.high, gap.reason)


def _sentences(pair: PairValidity) -> Iterator[str]:
    """Return each rank correlation over the models."""
    yield f"Halves of the sets rank the models alike: {estimate_text(pair.halves)}."
    yield f"Repeats rank the models alike: {estimate_text(pair.retest)}."
    first, *rest = pair.by_wording.values()
    for (wording, agreement), gaps in zip(pair.wordings.items(), rest, strict=True):
        change = max(abs(gaps[model] - first[model]) for model in gaps.keys() & first.keys())
        yield (
            f"The wording {wording!r} ranks the models alike: {estimate_text(agreement)}."
            f" It changes a gap by at most {number(change)}."
        )
    yield f"The suite and long texts rank the models alike: {estimate_text(pair.long_form)}."
