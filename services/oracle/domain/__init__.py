"""What the oracle thinks, without asking anybody: pairs, questions, readings, flags."""

from services.oracle.domain.controls import controls_of
from services.oracle.domain.pairs import PairCase, case_of, cases_of
from services.oracle.domain.questions import (
    CONTROLS,
    JudgeQuestion,
    control_probe_of,
    is_mine,
    other_questions,
    probe_of,
    questions_of,
)
from services.oracle.domain.verdicts import JudgeReply, control, judged, unasked

__all__ = [
    "CONTROLS",
    "JudgeQuestion",
    "JudgeReply",
    "PairCase",
    "case_of",
    "cases_of",
    "control",
    "control_probe_of",
    "controls_of",
    "is_mine",
    "judged",
    "other_questions",
    "probe_of",
    "questions_of",
    "unasked",
]
