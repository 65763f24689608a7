"""Questions about a comparison: their columns, cells and remarks."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from biaswatch.shared.contracts.diagnosis import Verdicts
from biaswatch.shared.formatting import UNDEFINED, number, p_equals
from biaswatch.shared.presentation.tables import TableCell
from biaswatch.shared.requests.evidence import EvidenceView
from biaswatch.shared.stats.estimate import TOO_FEW, Question

Answers = Verdicts | EvidenceView
"""The answers of a run or a monitor to the questions about one comparison."""


@dataclass(frozen=True)
class QuestionColumn:
    """A question about a comparison, as a column of a table."""

    name: str
    """The field of the answer; `p_` before it is the p-value's."""
    heading: str
    question: str
    untested: str
    """The beginning of the sentence about a missing test."""

    def answer(self, answers: Answers) -> str | None:
        """Return the answer."""
        answer: str | None = getattr(answers, self.name)
        return answer

    def reason(self, answers: Answers) -> str | None:
        """Return the reason for no test, or for too few values of a random factor."""
        answer = self.answer(answers)
        is_few = answer is not None and answer.startswith(TOO_FEW)
        reason: str | None = getattr(answers, f"{self.name}_reason")
        return reason if answer is None or is_few else None

    def text(self, answers: Answers, note: str | None) -> str | None:
        """Return the answer with a note in brackets, or None without an answer."""
        cell = self.cell(answers, note)
        note = f" ({cell.note})".replace("\n", " ") if cell.note else ""
        return cell.text + note if cell.plain else None

    def cell(self, answers: Answers, note: str | None = None) -> TableCell:
        """Return the answer with a note: its p-value, or its evidence."""
        answer = self.answer(answers)
        return TableCell(answer or UNDEFINED, answer, note=note if answer else None)


TWINS = QuestionColumn(
    "same_treatment", "twins", "are twins treated differently?", "Treatment of twins is not tested"
)
GROUP_EFFECT = QuestionColumn(
    "group_effect",
    "group effect",
    "does the group matter beyond these names and texts?",
    "A group effect is not tested",
)
QUESTIONS = TWINS, GROUP_EFFECT
ASSIGNED_LABELS = replace(
    TWINS, heading="labels", question="do labels that were assigned at random change answers?"
)


def question_cell(question: QuestionColumn, verdicts: Verdicts) -> TableCell:
    """Return the answer with its p-value; of twins also with the rate of placebo twins."""
    return question.cell(verdicts, question_note(question, verdicts))


def question_note(question: QuestionColumn, verdicts: Verdicts) -> str | None:
    """Return the p-value of an answer; of twins also with the rate of placebo twins."""
    p_value = getattr(verdicts, f"p_{question.name}")
    notes = [] if p_value is None else [p_equals(p_value)]
    if question is TWINS and verdicts.placebo_rate is not None and verdicts.twin_rate is not None:
        rates = (100 * verdicts.twin_rate, 100 * verdicts.placebo_rate)
        notes.append("{:.0f} %, placebo {:.0f} %".format(*rates))
    return ";\n".join(notes) or None


def evidence_note(question: QuestionColumn, row: EvidenceView) -> str | None:
    """Return the log evidence of an answer of a monitor."""
    log_e = row.log_e_same_treatment
    if question is GROUP_EFFECT:
        log_e = row.clusters.log_e_effect if row.clusters else None
    return None if log_e is None else f"evidence {number(log_e)}"


def answered_questions(
    answers: Sequence[Answers], *, assigned: bool = False
) -> list[QuestionColumn]:
    """Return the questions with an answer in some comparison.

    Where labels were assigned at random, groups need no twins.
    """
    questions = (ASSIGNED_LABELS, GROUP_EFFECT) if assigned else QUESTIONS
    return [question for question in questions if any(question.answer(row) for row in answers)]


def question_remarks(
    answers: Sequence[Answers],
    *,
    assigned: bool = False,
    reasons: bool = True,
    explained: Collection[Question] = (),
    stated: Collection[str] = (),
) -> Iterator[str]:
    """Yield questions not yet `explained`, and reasons not yet `stated`."""
    questions = answered_questions(answers, assigned=assigned)
    if questions := [question for question in questions if question.name not in explained]:
        yield " ".join(f"Column {question.heading}: {question.question}" for question in questions)
    for question in QUESTIONS if reasons else ():
        untested = Counter(filter(None, map(question.reason, answers)))
        for reason, count in untested.items():
            if reason in stated:
                continue
            where = "" if count == len(answers) else f" in {count} of {len(answers)} comparisons"
            yield f"{question.untested}{where} ({reason})."
