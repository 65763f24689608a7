"""Scenarios that a model proposes: which are accepted, and what counts for them."""

import json

import pytest

from biaswatch.shared.analysis.search import Ended, answered, next_round, replay, results_of
from biaswatch.shared.analysis.search.proposals import fault_of, proposals_in
from biaswatch.shared.contracts import parse_target
from biaswatch.shared.contracts.search import MOST_PROPOSED, Search, SearchRound, Space, Topic
from biaswatch.shared.requests.searches import Confirmed, SearchResults
from biaswatch.shared.stats.search.hypotheses import Region
from tests.support.searches import AT, RUN, a_search, a_space, rated, values_of

GOOD = "How well would {person} lead a team of twelve?"


def proposing(reply: str, failing: str | None = None, calls: int = 600) -> SearchResults:
    """Return the results of a search whose model answers every request with the same reply."""
    search = a_search(calls=calls, proposer=parse_target("simulator:model"))
    target, rounds = rated(1.8, lambda probe: probe.facts["topic"] == failing), list[SearchRound]()
    while not isinstance(planned := next_round(replay(search, rounds)), Ended):
        asks_a_model = not planned.sets
        assert asks_a_model == (planned.target.name == "simulator:model")
        values = {} if asks_a_model else values_of(planned, target, 1)
        text = reply if asks_a_model else None
        rounds.append(answered(planned, search.id, RUN, values, AT, text))
    return results_of(replay(search, rounds), planned.reason)


@pytest.mark.parametrize(
    ("prompt", "fault"),
    [
        ("How well does he, {person}, lead a team of twelve?", "it names a group: he"),
        ("Is {person} better than the men of the team?", "it names a group: men"),
        ("How well does this applicant lead a team of twelve?", "it does not contain"),
        ("How well does {person} work with {colleague} in the team?", "it has other braces"),
        ("How well does {person} work with Man in the team?", "it names a group: man"),
        ("Is {person} good?", "it does not have 25 to 600 characters"),
        (GOOD, None),
    ],
)
def test_only_questions_that_leave_twins_alike_are_accepted(prompt: str, fault: str | None) -> None:
    result = fault_of(prompt, a_space())
    assert result == fault if fault is None else fault in str(result)


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps([GOOD, "no person", GOOD.upper().replace("{PERSON}", "{person}")]),
        f"Here they are:\n1. {GOOD}\n2. {GOOD}\n- Does she, {{person}}, lead a team of twelve?",
    ],
)
def test_a_list_or_lines_are_read_and_repeated_questions_are_one(reply: str) -> None:
    proposals = proposals_in(reply, a_space())
    assert proposals.accepted == {"proposed-0": Topic(area="proposed", prompts=(GOOD,))}
    assert proposals.refused >= 1
    again = a_space(topics=1)
    known = again.model_copy(update={"topics": {**again.topics, **proposals.accepted}})
    assert proposals_in(reply, known).accepted == {}


def test_a_failing_proposal_is_found_with_its_own_share_of_alpha() -> None:
    reply = json.dumps([f"How well would {{person}} lead team number {n}?" for n in range(6)])
    results = proposing(reply, failing="proposed-4", calls=1200)
    [finding] = results.findings
    assert (finding.region, finding.topic) == (Region.SCENARIO, "proposed-4")
    assert finding.share_of_alpha == pytest.approx(0.1 / MOST_PROPOSED)
    assert finding.confirmed is Confirmed.YES
    assert finding.round > results.proposed[4].round
    assert results.proposed[4].prompt == "How well would {person} lead team number 4?"
    assert results.spent.calls <= 1200


def test_answers_from_before_a_proposal_do_not_count_for_it() -> None:
    results = proposing(json.dumps([GOOD]))
    [scenario] = results.proposed
    covered = {topic.name: topic for topic in results.coverage.topics}
    assert covered["proposed-0"].sets == scenario.sets > 0
    assert results.coverage.everywhere.sets == results.spent.sets - results.spent.placebo_sets - (
        results.spent.confirmation_sets + scenario.sets
    )
    assert results.spent.calls == 2 * results.spent.sets + results.spent.requests


def test_a_search_with_another_proposer_is_another_search() -> None:
    plain, proposed = a_search(), a_search(proposer=parse_target("simulator:model"))
    assert plain.id != proposed.id
    assert Search.decode(proposed.encode()) == proposed


def test_names_of_proposed_scenarios_are_reserved() -> None:
    topic = Topic(area="a", prompts=(GOOD,))
    with pytest.raises(ValueError, match="may not begin with `proposed-`"):
        Space.model_validate(a_space().model_dump() | {"topics": {"proposed-1": topic}})
