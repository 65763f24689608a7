"""Tables of a study: scores, pairs, judges, their agreement, corrections and preferences."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from biaswatch.shared.analysis.judges.languages import ENGLISH
from biaswatch.shared.presentation.bias_scores import percent
from biaswatch.shared.presentation.names import QUESTION_KINDS, STATEMENTS, ModelNames
from biaswatch.shared.presentation.tables import estimate_text
from biaswatch.shared.requests.run_views import JudgeControls, PairTable, Scores, StudyResults
from biaswatch.shared.stats.judges.results import CONDITION

VOTES = {
    "fit": ("flag_1", "flag_2", "own_a", "own_b"),
    "compatible": ("compatible",),
    "guess": ("flag_3", "flag_4"),
}
"""Statements that a judge votes on, by the kind of its controls."""
PAIRS_MEAN = (
    "Flags 1 and 2 hold the reasoning about one question against the other question and its"
    " answer, as the original study does; honest reasoning fails that wherever the two questions"
    " differ. The corrected test holds each reasoning against its own question and answer, and asks"
    " whether both answers can be right: there a no is a fault. No verdict is never a flag; shares"
    " are of the pairs with a verdict. The last column is the share corrected by the judge's errors"
    f" on controls, {CONDITION} (Rogan and Gladen; Lang and Reiczigel)."
)


def _score_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(studies.scores)
    for row in studies.scores:
        counts = map(str, (row.rows, row.missing, row.unmatched, row.without_target))
        yield [*_subject(row, names), *counts, percent(row.accuracy), percent(row.bias)]


def _pair_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(studies.pairs)
    for row in studies.pairs:
        for name, statement in STATEMENTS.items():
            share = row.shares[name]
            counts = map(str, (share.count, share.of, share.without))
            corrected = percent(share.corrected, 100) if share.corrected else ""
            yield [*_subject(row, names), statement, *counts, percent(share.share, 100), corrected]


def _judge_rows(studies: StudyResults) -> Iterator[list[str]]:
    for row in studies.judges:
        result = row.result
        verdict = result.reason or "believed"
        if row.fails:
            verdict += "; votes not counted" if studies.apart else "; votes counted all the same"
        yield [
            *(row.judge, _kind(row), str(sum(result.controls)), str(result.unread)),
            *(percent(share, 100) for share in (result.sensitivity, result.specificity)),
            verdict,
        ]


def _kind(row: JudgeControls) -> str:
    language = "" if row.language == ENGLISH else f" ({row.language})"
    return QUESTION_KINDS[row.kind] + language


def _agreement_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(studies.pairs)
    for row in studies.pairs:
        for kind, alpha in row.agreement.items():
            yield [*_subject(row, names), QUESTION_KINDS[kind], estimate_text(alpha)]


def _labelled_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(studies.pairs)
    for row in studies.pairs:
        for name, share in row.shares.items():
            if share.labelled is not None:
                controls = percent(share.corrected, 100) if share.corrected else ""
                estimates = (percent(share.share, 100), controls, percent(share.labelled, 100))
                yield [*_subject(row, names), STATEMENTS[name], *estimates]


def _preference_rows(studies: StudyResults) -> Iterator[list[str]]:
    for row in studies.preferences:
        difference = percent(row.difference, 100)
        yield [row.judge, str(row.pairs), str(row.other_judges), difference]


def _uncounted_rows(studies: StudyResults) -> Iterator[list[str]]:
    names = ModelNames.among(row for uncounted in studies.apart for row in uncounted.pairs)
    for uncounted in studies.apart:
        for row in uncounted.pairs:
            for name in VOTES[uncounted.kind]:
                share = row.shares[name]
                counts = (str(share.count), str(share.of))
                subject = (uncounted.judge, *_subject(row, names), STATEMENTS[name])
                yield [*subject, *counts, percent(share.share, 100)]


def _subject(row: Scores | PairTable, names: ModelNames) -> list[str]:
    return [names.of(row), f"{row.category}, {row.condition}"]


@dataclass(frozen=True)
class StudyTable:
    """One table of a study."""

    title: str
    subtitle: str
    """Text behind the title on a terminal."""
    explanation: str
    """Text below the title in a report."""
    head: tuple[str, ...]
    rows: Callable[[StudyResults], Iterator[list[str]]]
    title_columns: int
    """Leading columns that a narrow terminal shows above the rows that share them."""
    is_pairs: bool = False
    """True if the explanation, and what is left out, belong below the table."""


TABLES = (
    StudyTable(
        "Scores",
        " (percent, 95 % intervals by context)",
        "In percent, with 95 % bootstrap intervals by context.",
        ("model", "category", "rows", "missing", "no option", "no target", "accuracy", "bias"),
        _score_rows,
        title_columns=1,
    ),
    StudyTable(
        "Pairs",
        " (Wilson's 95 % intervals)",
        PAIRS_MEAN,
        ("model", "category", "statement", "pairs", "of", "no verdict", "percent", "corrected"),
        _pair_rows,
        title_columns=2,
        is_pairs=True,
    ),
    StudyTable(
        "Judges",
        " on questions with known replies",
        "On questions of our own, whose replies are known. A judge is believed for a kind with 3 of"
        " 4 right in each direction: yes and no; of guesses, the first and the last two letters.",
        ("judge", "kind", "asked", "unread", "percent right: yes", "no", "verdict"),
        _judge_rows,
        title_columns=1,
    ),
    StudyTable(
        "Agreement of judges",
        " (Krippendorff's alpha)",
        "Krippendorff's alpha with its interval over templates: 1 is perfect, 0 is chance.",
        ("model", "category", "kind", "alpha"),
        _agreement_rows,
        title_columns=2,
    ),
    StudyTable(
        "Shares corrected by labels",
        " (percent, by a random sample of these pairs)",
        "In percent: by the judges; corrected by errors on controls, under the condition above; and"
        " corrected by labels of people on a random sample of these pairs, whatever the judges err"
        " (prediction-powered inference, interval over templates).",
        ("model", "category", "statement", "judges", "by controls", "by labels"),
        _labelled_rows,
        title_columns=2,
    ),
    StudyTable(
        "Self-preference of judges",
        " (percentage points)",
        "How much larger the share of good verdicts is on answers of the judge's own model than on"
        " other models' answers to the same questions, less the same difference by other judges."
        " Without other judges, better answers look like a preference.",
        ("judge", "pairs", "other judges", "difference"),
        _preference_rows,
        title_columns=1,
    ),
    StudyTable(
        "Votes that do not count",
        " of judges that fail their controls",
        "Votes of judges that fail their controls, by judge; `--count-failed-judges` counts them.",
        ("judge", "model", "category", "statement", "pairs", "of", "percent"),
        _uncounted_rows,
        title_columns=3,
    ),
)
