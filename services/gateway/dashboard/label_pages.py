"""The page for labelling: one answer at a time, by keyboard, without scripts."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from biaswatch.services.gateway.auth import PAGE_HEADERS, Tokens
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.dashboard.forms import PageForms, SingleUse, forms_with, sent_form
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.shared.analysis.labels.queue import (
    SKIP,
    UNDO,
    QueueState,
    hidden_words,
    queue_state,
    scale_words,
    typed_value,
)
from biaswatch.shared.contracts import Label, LabelSample, person_id_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest
from biaswatch.shared.runtime.blocking import in_thread


@dataclass(frozen=True)
class LabelPages:
    """What the page of labels reads and does."""

    queries: LabelQueries
    commands: LabelCommands
    send: Callable[[Label], Awaitable[None]]
    forms: SingleUse


def label_page_routes(pages: LabelPages, tokens: Tokens) -> APIRouter:
    """Return the queue of a sample, and what its form does."""
    router = APIRouter()
    page_forms = forms_with(tokens)

    @router.get("/runs/{run_id}/label/{sample_id}")
    def show_queue(
        run_id: str,
        sample_id: str,
        caller: Annotated[Caller, Depends(tokens.signed_in)],
        forms: Annotated[PageForms, Depends(page_forms)],
        *,
        hide: bool = False,
        wrong: bool = False,
    ) -> HTMLResponse:
        sample = pages.queries.sample(run_id, sample_id).sample
        state = _state(pages, sample, caller)
        answer = pages.queries.answer(sample, state.next_id) if state.next_id else None
        words = sample.hidden if hide else ()
        shown = page(
            "label.html",
            forms=forms,
            texts=caller.texts,
            sample=sample,
            suite=pages.queries.suite_of(run_id),
            state=state,
            hide=hide,
            asked=hidden_words(answer.asked, words) if answer else "",
            answered=hidden_words(answer.answered, words) if answer else "",
            scale=scale_words(sample),
            wrong=wrong,
            keys=(SKIP, UNDO),
        )
        return forms.kept_by(shown)

    @router.post("/runs/{run_id}/label/{sample_id}")
    async def take_label(
        run_id: str,
        sample_id: str,
        request: Request,
        caller: Annotated[Caller, Depends(tokens.signed_in)],
    ) -> RedirectResponse:
        fields = await sent_form(request, caller)
        sample = (await in_thread(pages.queries.sample, run_id, sample_id)).sample
        back = {"hide": 1} if fields.get("hide") else {}
        try:
            await pages.forms.once(request, caller, partial(_take, pages, sample, caller, fields))
        except UsageError:  # the page says what can be typed; an address should say nothing
            return _to(sample, {**back, "wrong": 1})
        return _to(sample, back)

    return router


async def _take(
    pages: LabelPages, sample: LabelSample, caller: Caller, fields: dict[str, str]
) -> None:
    """Keep and send what a form says; what the form undoes is looked up when it is taken."""
    given = await in_thread(_given, pages, sample, caller, fields)
    if given is None:
        return
    asked = LabelsRequest(extractor=sample.extractor, feature=sample.feature, labels=[given])
    taken = await in_thread(pages.commands.taken, sample.run_id, asked, caller.name)
    kept = await in_thread(pages.commands.keep_labels, sample.run_id, asked, taken)
    for label in kept.new:
        await pages.send(label)


def _state(pages: LabelPages, sample: LabelSample, caller: Caller) -> QueueState:
    labels = pages.queries.given(sample.run_id)
    return queue_state(sample, labels, person_id_of(caller.name))


def _given(
    pages: LabelPages, sample: LabelSample, caller: Caller, fields: dict[str, str]
) -> GivenLabel | None:
    """Return what a form says; None where there is nothing to undo.

    Raises
    ------
    UsageError
        The caller may not read what is labelled, or what was typed is no label.
    """
    if not caller.texts:
        raise UsageError("Your token may not read texts, so it cannot label any.")
    typed = (fields.get("typed") or fields.get("value", "")).strip().lower()
    if typed == UNDO:
        last = _state(pages, sample, caller).last_id
        return GivenLabel(response_id=last, withdrawn=True) if last else None
    drawn = {each.response_id for each in sample.drawn}
    if (id_ := fields.get("response_id", "")) not in drawn:
        raise UsageError("This answer is not of this sample.")
    return GivenLabel(response_id=id_, value=typed_value(sample, typed))


def _to(sample: LabelSample, query: dict[str, int]) -> RedirectResponse:
    where = f"/runs/{sample.run_id}/label/{sample.id}"
    return RedirectResponse(f"{where}?{urlencode(query)}" if query else where, 303, PAGE_HEADERS)
