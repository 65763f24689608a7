"""What the gateway takes, gives and computes from the records: pure."""

from services.gateway.domain.interpretations import BriefRequest, Interpretation, brief_of
from services.gateway.domain.judges import JudgeRecord, judge_records
from services.gateway.domain.pairs import (
    PairGap,
    PairTable,
    last_of_each,
    pair_gaps,
    pair_tables,
)
from services.gateway.domain.runs import (
    ENDED,
    Progress,
    RunRequest,
    Stand,
    Started,
    compares,
    run_of,
    stand_of,
    verdicts_of,
)
from services.gateway.domain.scores import ScoreGap, Scores, Told, score_gaps, scores_of, told_of

__all__ = [
    "ENDED",
    "BriefRequest",
    "Interpretation",
    "JudgeRecord",
    "PairGap",
    "PairTable",
    "Progress",
    "RunRequest",
    "ScoreGap",
    "Scores",
    "Stand",
    "Started",
    "Told",
    "brief_of",
    "compares",
    "judge_records",
    "last_of_each",
    "pair_gaps",
    "pair_tables",
    "run_of",
    "score_gaps",
    "scores_of",
    "stand_of",
    "told_of",
    "verdicts_of",
]
