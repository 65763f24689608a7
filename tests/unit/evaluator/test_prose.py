"""Prose against its claims, by judges under controls; statements of foreign reports as claims."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

from biaswatch.services.evaluator.domain.prose import Pair, prose_check, prose_requests
from biaswatch.services.evaluator.domain.reading.foreign import (
    extraction_prompt,
    extraction_schema,
    read_report,
    with_statements,
)
from biaswatch.services.evaluator.domain.writing.claims import TypedClaim
from biaswatch.services.evaluator.domain.writing.draft import Draft, Section, Sentence
from biaswatch.shared.contracts import Brief, ProseCheck, Response, parse_target
from tests.support.report_subjects import table

AT = datetime(2026, 1, 1, tzinfo=UTC)
SUBJECT = table((60, 140, 30, 170), ("men", "women"), "sentence", "third strike")
CLAIM = TypedClaim("significance", "fisher", "yes")
SAYS_IT = Sentence("The test of Fisher finds a significant difference ({fisher.p}).", (CLAIM,))
SAYS_MORE = Sentence("The significant result settles every question.", (CLAIM,))
DRAFT = Draft((Section("Findings", (SAYS_IT, SAYS_MORE)),))


def checked(answer: Callable[[Pair], str]) -> tuple[ProseCheck, list[tuple[str, int]]]:
    target = parse_target("simulator:strict@http://localhost/v1")
    brief = Brief(at=AT, purpose="judge", subject=SUBJECT, judges=(target,))
    [request] = prose_requests(brief, DRAFT, AT)
    reply = json.dumps({"answers": [answer(pair) for pair in request.pairs]})
    return prose_check(request, Response(at=AT, probe=request.probe, ending="answered", text=reply))


def fair(pair: Pair) -> str:
    if pair.agrees is not None:
        return "yes" if pair.agrees else "no"
    return "no" if "settles" in pair.sentence else "yes"


def test_a_fair_judge_finds_the_sentence_that_says_more_and_its_own_errors_are_counted() -> None:
    check, wrong = checked(fair)
    assert (check.right, check.wrong, check.unchecked) == (1, 1, 0)
    assert check.controls == 10
    assert check.control_errors == 0
    assert wrong == [("Findings", 2)]


def test_a_judge_that_always_agrees_is_not_believed() -> None:
    check, wrong = checked(lambda _: "yes")
    assert (check.right, check.wrong, check.unchecked, wrong) == (0, 0, 2, [])
    assert "errs on 5 of 10" in (check.reason or "")


def test_numbers_are_masked_and_an_unclear_answer_is_not_checked() -> None:
    seen: list[Pair] = []

    def unclear(pair: Pair) -> str:
        seen.append(pair)
        return fair(pair) if pair.agrees is not None else "unclear"

    check, _ = checked(unclear)
    assert check.unchecked == 2
    assert not any(re.search(r"\d", pair.sentence + pair.statement) for pair in seen)


REPORT = "The result is not significant. Men receive it more often than women."


def reading(*claims: dict[str, str]) -> tuple[list[str], int]:
    """Return the kinds of hints, and the number of sentences left to readers."""
    read = read_report(REPORT, SUBJECT, structure=False)
    statements = [{"sentence": n, "claims": [claim]} for n, claim in enumerate(claims, start=1)]
    read = with_statements(read, json.dumps({"statements": statements}), SUBJECT)
    return [hint.kind for hint in read.hints if hint.kind == "claim"], len(read.unchecked)


def test_statements_that_a_model_reads_are_evaluated_by_code() -> None:
    wrong = {"type": "significance", "test": "fisher", "significant": "no"}
    right = {"type": "direction", "measure": "odds_ratio", "higher": "men"}
    assert reading(wrong, right) == (["claim"], 1)
    assert reading(right, right) == ([], 0)
    assert reading({"type": "significance", "test": "fisher"}) == ([], 2)


def test_the_request_numbers_the_open_sentences_and_lists_claims_without_saying_which_hold() -> (
    None
):
    read = read_report(REPORT, SUBJECT, structure=False)
    prompt = extraction_prompt(read, SUBJECT)
    assert "1. The result is not significant." in prompt
    assert '"significant":"yes"' in prompt
    assert '"significant":"no"' in prompt
    assert extraction_schema(SUBJECT)["additionalProperties"] is False
