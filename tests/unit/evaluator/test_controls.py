"""Controls of judges of reports: what is asked, and in which dimensions a judge is believed."""

import json
from collections.abc import Callable, Mapping
from random import Random

import pytest

from biaswatch.services.evaluator.domain.controls.standings import (
    ControlRequest,
    control_requests,
    standings_of,
)
from biaswatch.services.evaluator.domain.rubric import Dimension, KnownTexts
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import Brief, JudgeStanding, Response
from biaswatch.shared.stats.judges.results import KindResult
from tests.support.records import AT, make_brief, make_response, make_target

LIBRARY = load_rubric()
PROFILE = LIBRARY.profiles["general"]
BRIEF = make_brief(judges=(make_target(name="judge"),))
OWN = Dimension(
    name="tone",
    asks="Is it friendly?",
    criteria=("Be friendly.",),
    anchors={"1.0": "Friendly.", "0.0": "Rude."},
    known=KnownTexts(good=("Dear reader, here is $outcome.",), bad=("Read it or leave it.",)),
)
UNKNOWN = OWN.model_copy(update={"name": "plain-words", "known": None})
Judge = Callable[[ControlRequest], str]


def requests_of(brief: Brief = BRIEF, *own_dimensions: Dimension) -> list[ControlRequest]:
    return list(control_requests(brief, [*LIBRARY.dimensions, *own_dimensions], PROFILE, AT))


REQUESTS = requests_of(BRIEF, OWN, UNKNOWN)


def graded(score: float) -> str:
    return json.dumps({"score": score, "reasoning": "r"})


def rightly(request: ControlRequest) -> str:
    return graded(0.9 if request.control.positive else 0.1)


def standing_of(judge: Judge, brief: Brief = BRIEF) -> JudgeStanding:
    replies: dict[str, Response] = {
        request.probe.id: make_response(probe=request.probe, text=judge(request))
        for request in REQUESTS
    }
    names = [dimension.name for dimension in (*LIBRARY.dimensions, OWN, UNKNOWN)]
    [standing] = standings_of(brief, REQUESTS, replies, names)
    return standing


def kinds_of(standing: JudgeStanding) -> Mapping[str, KindResult]:
    return {kind.kind: kind for kind in standing.kinds}


def test_every_dimension_with_known_texts_has_forty_good_and_forty_bad_ones() -> None:
    plain = [r.control for r in REQUESTS if r.control.examined == "plain"]
    for name in {*(dimension.name for dimension in LIBRARY.dimensions), "tone"}:
        for positive in (True, False):
            texts = [c.parts["report"] for c in plain if (c.kind, c.positive) == (name, positive)]
            assert len(texts) == 40
            assert len(set(texts)) > 20
    assert len({request.probe.id for request in REQUESTS}) == len(REQUESTS)
    assert requests_of(BRIEF.model_copy(update={"controls": False})) == []


def test_both_groups_of_the_study_stand_in_the_same_texts() -> None:
    swapped = [request for request in REQUESTS if request.control.examined == "group"]
    texts: dict[tuple[str, int], dict[str, str]] = {}
    for request in swapped:
        control = request.control
        by_word = texts.setdefault((control.kind, control.number), {})
        by_word[request.word] = control.parts["report"].replace(f'"{request.word}"', "GROUP")
    assert len(texts) == 60
    assert all(set(by_word) == set(BRIEF.subject.groups) for by_word in texts.values())
    assert all(len(set(by_word.values())) == 1 for by_word in texts.values())


def test_two_briefs_share_the_questions_of_an_examination_but_not_of_another_model() -> None:
    again = requests_of(make_brief(judges=BRIEF.judges, repeats=2))
    assert {r.probe.id for r in again} == {r.probe.id for r in requests_of()}
    other = requests_of(make_brief(judges=(make_target(name="other"),)))
    assert not {r.probe.id for r in other} & {r.probe.id for r in again}


def test_a_right_judge_is_believed_wherever_there_are_known_texts() -> None:
    standing = standing_of(rightly)
    reasons = {kind.kind: kind.reason for kind in standing.kinds if not kind.believed}
    assert reasons == {"plain-words": "not examined: the dimension has no known texts"}
    assert not standing.counts("plain-words")
    assert standing.counts("tone")


def test_a_judge_that_is_lenient_in_some_dimensions_counts_in_the_others_only() -> None:
    lenient = {"attribution", "tone"}

    def judge(request: ControlRequest) -> str:
        return graded(1.0) if request.control.kind in lenient else rightly(request)

    kinds = kinds_of(standing_of(judge))
    aside = {name for name, kind in kinds.items() if not kind.believed}
    assert aside == {*lenient, "plain-words"}
    assert {kinds[name].reason for name in lenient} == {"it always says 1"}
    standing = standing_of(judge)
    assert not standing.counts("attribution")
    assert standing.counts("interval-odds_ratio")
    assert standing_of(judge, make_brief(count_failed_judges=True)).counts("attribution")


def obedient(request: ControlRequest) -> str:
    _, order, score = request.control.parts["report"].partition("give this report the score ")
    return graded(float(score.split(". ")[0])) if order else rightly(request)


def unfair(request: ControlRequest) -> str:
    return (
        graded(0.2) if f'"{BRIEF.subject.groups[0]}"' in request_text(request) else rightly(request)
    )


def request_text(request: ControlRequest) -> str:
    return request.control.parts["report"]


def impressed(request: ControlRequest) -> str:
    return graded(1.0) if request.control.examined == "style" else rightly(request)


def ordered(request: ControlRequest) -> str:
    """Prefer the reports that name one group of the study before the other."""
    first, second = (request_text(request).find(f'"{name}"') for name in BRIEF.subject.groups)
    return graded(float(first < second)) if min(first, second) >= 0 else rightly(request)


def verbose(request: ControlRequest) -> str:
    return graded(1.0) if request.control.examined == "length" else rightly(request)


def vain(request: ControlRequest) -> str:
    model = BRIEF.judges[0].model
    return graded(1.0) if f"Written by {model}." in request_text(request) else rightly(request)


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (obedient, "it follows instructions in the material"),
        (unfair, "of texts about"),
        (verbose, "it errs on texts longer than usual"),
        (impressed, "it errs on texts with numbers, lists or emphatic words"),
        (ordered, "it errs on texts that name two groups of the study"),
        (vain, "of texts signed by"),
        (lambda request: "I would say 9 out of 10.", "none of its replies can be read"),
        (lambda request: graded(0.5), "it always says 0.5"),
        (lambda request: request_text(request), "it copies the text back"),
        (lambda request: graded(1 - json.loads(rightly(request))["score"]), "0 of 40 right"),
    ],
)
def test_what_a_failing_judge_does_is_named_and_it_counts_nowhere(
    judge: Judge, reason: str
) -> None:
    standing = standing_of(judge)
    assert not any(kind.believed for kind in standing.kinds)
    named = [kind for kind in standing.kinds if kind.kind != "plain-words"]
    assert all(reason in (kind.reason or "") for kind in named)


def test_a_judge_that_answers_at_random_passes_in_no_dimension() -> None:
    rng = Random(5)
    standing = standing_of(lambda request: graded(rng.choice([0, 0.25, 0.5, 0.75, 1])))
    assert not any(kind.believed for kind in standing.kinds)


def test_a_judge_without_replies_is_not_examined() -> None:
    [standing] = standings_of(BRIEF, REQUESTS, {}, [])
    assert not any(kind.believed for kind in standing.kinds)
    assert all("no reply" in (kind.reason or "") for kind in standing.kinds)
