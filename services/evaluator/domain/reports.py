"""Reports as judges and readers get them, from drafts, from code, or from elsewhere."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from biaswatch.services.evaluator.domain.model_questions import question, response_text
from biaswatch.services.evaluator.domain.reading import foreign
from biaswatch.services.evaluator.domain.rubric import Profile
from biaswatch.services.evaluator.domain.writing.draft import (
    CheckedReport,
    Draft,
    answer_schema,
    draft_in,
    render,
)
from biaswatch.services.evaluator.domain.writing.draft_faults import (
    DraftFault,
    draft_faults,
    withheld,
)
from biaswatch.services.evaluator.domain.writing.prompt import repair_prompt, writing_prompt
from biaswatch.shared.contracts import Brief, Message, Probe, Response, Role, Subject
from biaswatch.shared.parsing import Unreadable

MAX_REPAIRS = 2
"""Times that a writer may correct its report."""


@dataclass(frozen=True)
class Attempt:
    """One reply of a writer: a draft with its faults, or the reason why it cannot be read."""

    reply: str = ""
    draft: Draft | None = None
    faults: tuple[DraftFault, ...] = ()
    unreadable: str | None = None


def writer_probe(brief: Brief, profile: Profile, attempts: Sequence[Attempt] = ()) -> Probe:
    """Return the next question to the writer, who reads a report or has made attempts at one."""
    assert brief.writer is not None  # noqa: S101 - for mypy
    if brief.report:
        prompt = foreign.extraction_prompt(read_elsewhere(brief, profile), brief.subject)
        schema = foreign.extraction_schema(brief.subject)
    else:
        prompt = writing_prompt(brief.subject, profile, brief.context)
        bounded = brief.writer.base_url is not None or brief.writer.provider == "local"
        schema = answer_schema(brief.subject, bounded=bounded)
    messages = [Message(role=Role.USER, content=prompt)]
    for attempt in attempts:
        repair = repair_prompt(attempt.faults, attempt.unreadable)
        messages.append(Message(role=Role.ASSISTANT, content=attempt.reply))
        messages.append(Message(role=Role.USER, content=repair))
    key = f"write{len(attempts) or ''}"
    return question(brief, key, brief.writer, messages, answer_schema=schema)


def attempt_of(response: Response | None, subject: Subject, profile: Profile) -> Attempt:
    """Return the reply of a writer."""
    reply = ""
    try:
        reply = response_text(response)
        draft = draft_in(reply)
    except Unreadable as error:
        return Attempt(reply, unreadable=str(error))
    return Attempt(reply, draft, tuple(draft_faults(draft, subject, profile)))


def may_repair(attempts: Sequence[Attempt]) -> bool:
    """Tell whether the writer may correct its answer once more."""
    last = attempts[-1] if attempts else Attempt()
    passes = last.draft is not None and not last.faults
    return bool(last.reply) and not passes and len(attempts) <= MAX_REPAIRS


def report_of(attempts: Sequence[Attempt], subject: Subject) -> CheckedReport:
    """Return the report of the last attempt that passes, or else of the one with fewest faults."""
    repairs = max(len(attempts) - 1, 0)
    drafts = [attempt for attempt in attempts if attempt.draft is not None]
    if not drafts:
        reason = attempts[-1].unreadable if attempts else "no reply came"
        return CheckedReport(reason=f"No report: {reason}.", repairs=repairs, calls=len(attempts))
    best = min(reversed(drafts), key=lambda attempt: len(attempt.faults))
    assert best.draft is not None  # noqa: S101 - for mypy
    report = rendered_report(best.draft, subject, best.faults)
    draft = None if report.failed else best.draft
    return replace(report, repairs=repairs, calls=len(attempts), draft=draft)


def rendered_report(
    draft: Draft, subject: Subject, faults: Sequence[DraftFault] = ()
) -> CheckedReport:
    """Return a draft as a report without the sentences that failed."""
    report = render(draft, subject, withheld(faults))
    return replace(
        report,
        faults=tuple(report.fault(f.kind, f.place, f.message) for f in faults),
        failed=bool(faults),
        statements=sum(bool(sentence.claims) for sentence in draft.sentences.values()),
    )


def read_elsewhere(brief: Brief, profile: Profile) -> CheckedReport:
    """Return the faults that code finds in the report of a brief."""
    outline = brief.structure == "outline"
    return foreign.read_report(brief.report, brief.subject, structure=outline, flags=profile.flags)


def report_from_elsewhere(
    brief: Brief, profile: Profile, reading: Response | None = None
) -> CheckedReport:
    """Return the report in a brief, with its faults and with a model's reading of its claims."""
    report = read_elsewhere(brief, profile)
    with suppress(Unreadable):  # the statements then stay listed for people
        if reading:
            report = replace(report, calls=1)
            report = foreign.with_statements(report, response_text(reading), brief.subject)
    return report
