"""Why prompts of a run have no answer, in words: once for each target and reason."""

from typing import Any

from biaswatch.shared.contracts import Ending, Response
from biaswatch.shared.requests.unanswered import (
    MAX_LINES,
    RunOutcomes,
    UnansweredReason,
    unanswered_reasons,
)
from tests.support.records import make_response

MISSING = 'The provider answered HTTP 404: "No such model".'


def failed(detail: str, **fields: Any) -> Response:
    values = {"ending": Ending.FAILED, "reason": "bad_request", "text": None, **fields}
    return make_response(detail=detail, **values)


def run(**fields: Any) -> RunOutcomes:
    return RunOutcomes(**{"probes": 300, "responses": 300, **fields})


def reasons(*counted: tuple[Response, int]) -> list[UnansweredReason]:
    return unanswered_reasons(counted, {counted[0][0].lane: "openai:m"})


def test_a_reason_names_target_prompts_and_the_words_of_the_provider() -> None:
    [reason] = reasons((failed(MISSING), 2))
    assert reason.in_words() == (
        "openai:m gave no answer to 2 prompts (bad request)."
        ' The provider answered HTTP 404: "No such model".'
    )


def test_sentences_of_one_reason_are_one_line_with_all_prompts() -> None:
    [reason] = reasons((failed("4,105 tokens are too many."), 3), (failed("4,106 tokens."), 2))
    assert (reason.prompts, reason.words) == (5, "4,105 tokens are too many.")


def test_no_more_reasons_are_shown_than_are_read() -> None:
    counted = [(failed("x", reason=f"reason_{n}"), n) for n in range(1, 20)]
    assert [reason.prompts for reason in reasons(*counted)] == [*range(19, 19 - MAX_LINES, -1)]


def test_words_of_a_model_are_quoted_and_kept_on_one_line() -> None:
    refused = failed("I\ncannot \x1b[31m.", ending=Ending.REFUSED, reason="refusal")
    [reason] = reasons((refused, 1))
    assert reason.words == 'It said: "I cannot ⟨U+001B⟩[31m."'
    assert reason.words.isprintable()


def test_a_stopped_run_says_why_and_how_many_prompts_have_no_outcome() -> None:
    stopped = run(responses=0, stopped_by="provider_errors", stop_detail=MISSING)
    [problem] = stopped.problems()
    assert MISSING in problem
    assert "300 of 300 prompts were not asked, or were rejected" in problem


def test_the_sentence_that_stopped_a_run_is_shown_once() -> None:
    stopped = run(
        responses=3, stopped_by="provider_errors", stop_detail=MISSING,
        unanswered=reasons((failed(MISSING), 3)),
    )  # fmt: skip
    assert len(stopped.problems()) == 1


def test_a_run_at_its_budget_says_so_and_a_cancelled_one_says_nothing() -> None:
    assert run(stopped_by="budget_spent").problems()[0].startswith("Its budget is spent.")
    assert run().problems() == []
