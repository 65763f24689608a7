"""Examinations of planted judges: how often each is set aside for what it does badly."""

from collections.abc import Sequence
from random import Random

from biaswatch.shared.analysis.judges.controls import OTHER_AUTHOR, Control
from biaswatch.shared.analysis.judges.stories import GUESS, LETTERS, story_controls
from biaswatch.shared.parsing import Unreadable, choice_in, yes_or_no_in
from biaswatch.shared.requests.runs import CONTROLS_PER_KIND
from biaswatch.shared.stats.judges.examination import examine
from biaswatch.shared.stats.judges.results import ControlOutcome, KindResult
from calibration.judges.planted import AUTHOR, BAD, GOOD, GROUPS, PlantedJudge

MIN_SHARE = 0.95
TOGETHER = "five good judges"
WORDS = {"author": (AUTHOR, OTHER_AUTHOR), "group": GROUPS}
"""Words of swapped copies."""


def kind_results(judge: PlantedJudge, bank: Sequence[Control], draw: int) -> list[KindResult]:
    """Return the results of a judge on the controls of a bank."""
    rng = Random(f"{judge.name}/{draw}")  # noqa: S311 - not for security
    return examine(_outcome(control, judge.reply(control, rng)) for control in bank)


def bank_of(draw: int, count: int = CONTROLS_PER_KIND) -> list[Control]:
    """Return the controls of one draw."""
    return story_controls(count, draw, groups=GROUPS, author=AUTHOR)


def _outcome(control: Control, text: str) -> ControlOutcome:
    try:
        reply = choice_in(text, LETTERS) if control.kind == GUESS else yes_or_no_in(text)
    except Unreadable:
        reply = None
    return ControlOutcome(
        control.kind,
        control.positive,
        control.number,
        reply == control.expected,
        control.expected,
        reply,
        control.examined,
        WORDS.get(control.examined, ("",))[control.variant],
    )


def is_as_planted(judge: PlantedJudge, results: list[KindResult]) -> bool:
    """Tell whether exactly the planted kinds are set aside, for the planted reason."""
    aside = {result.kind: result.reason or "" for result in results if not result.believed}
    return aside.keys() == set(judge.kinds) and all(
        judge.reason in reason for reason in aside.values()
    )


def shares_as_planted(draws: int) -> dict[str, float]:
    """Return for each bad judge how often it is set aside as planted; good ones together."""
    counts = dict.fromkeys([*(judge.name for judge in BAD), TOGETHER], 0)
    for draw in range(draws):
        bank = bank_of(draw)
        for judge in BAD:
            counts[judge.name] += is_as_planted(judge, kind_results(judge, bank, draw))
        counts[TOGETHER] += all(is_as_planted(j, kind_results(j, bank, draw)) for j in GOOD)
    return {name: count / draws for name, count in counts.items()}
