"""What the oracle thinks, without asking anybody: pairs, questions, readings, flags."""

from services.oracle.domain.cases import PairCase, cases_of
from services.oracle.domain.controls import controls_of
from services.oracle.domain.questions import Question, other_questions, questions_of
from services.oracle.domain.verdicts import judged, unasked

__all__ = [
    "PairCase",
    "Question",
    "cases_of",
    "controls_of",
    "judged",
    "other_questions",
    "questions_of",
    "unasked",
]
