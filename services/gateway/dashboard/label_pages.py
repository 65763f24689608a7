"""The page for labelling: one answer at a time, by keyboard, without scripts."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from biaswatch.services.gateway.auth import redirect
from biaswatch.services.gateway.callers import Caller
from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.dashboard.page_forms import (
    IdempotentForms,
    PageForms,
    forms_with,
    sent_form,
)
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.services.gateway.labels.commands import LabelCommands, store_and_send
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.labels.queue import (
    SKIP,
    UNDO,
    QueueState,
    hidden_words,
    queue_state,
    scale_words,
    typed_value,
)
from biaswatch.shared.contracts import AuditAction, DrawnAnswer, LabelSample, Response, person_id_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest
from biaswatch.shared.runtime.threads import in_thread


def router(ctx: GatewayContext) -> APIRouter:
    """Return the page of a sample's queue, and the route of its form."""
    router, page_forms = APIRouter(), forms_with(ctx.tokens)
    runs = ctx.queries(RunQueries)
    queries, forms = LabelQueries(ctx.store, runs), IdempotentForms(ctx.store, now)
    queue = LabelQueue(queries, LabelCommands(ctx.store, runs, queries, now), ctx)
    SignedIn = Annotated[Caller, Depends(ctx.tokens.signed_in)]  # noqa: N806 - a type

    @router.get("/runs/{run_id}/label/{sample_id}")
    def show_queue(
        run_id: str,
        sample_id: str,
        caller: SignedIn,
        page_forms: Annotated[PageForms, Depends(page_forms)],
        *,
        hide: bool = False,
        wrong: bool = False,
    ) -> HTMLResponse:
        sample = queue.sample(run_id, sample_id)
        state = queue.state(sample, caller)
        item = queries.answer(sample, state.next_id) if state.next_id else None
        words = sample.hidden if hide else ()
        shown = page(
            "label.html",
            forms=page_forms,
            texts=caller.texts,
            sample=sample,
            suite=queries.suite_of(run_id),
            state=state,
            hide=hide,
            asked=hidden_words(item.question, words) if item else "",
            answered=hidden_words(item.answer, words) if item else "",
            scale=scale_words(sample),
            wrong=wrong,
            keys=(SKIP, UNDO),
        )
        return page_forms.with_cookie(shown)

    @router.post("/runs/{run_id}/label/{sample_id}")
    async def take_label(
        run_id: str, sample_id: str, request: Request, caller: SignedIn
    ) -> RedirectResponse:
        fields = await sent_form(request, caller)
        sample = await in_thread(queue.sample, run_id, sample_id)
        query = {"hide": 1} if fields.get("hide") else {}
        try:
            await forms.once(request, caller, partial(queue.accept, sample, caller, fields))
        except UsageError:  # the page explains what can be typed
            query["wrong"] = 1
        address = f"/runs/{sample.run_id}/label/{sample.id}"
        if query:
            address += f"?{urlencode(query)}"
        return redirect(address)

    return router


@dataclass(frozen=True)
class LabelQueue:
    """The queue of one person's labels of a sample."""

    queries: LabelQueries
    commands: LabelCommands
    ctx: GatewayContext

    def sample(self, run_id: str, sample_id: str) -> LabelSample:
        """Return a sample with the answers that people have added to its queue at the end.

        Labels of added answers have no known probability, so they correct no finding.
        """
        sample = self.queries.sample(run_id, sample_id).sample
        entries = self.ctx.store.audit.of_subjects([sample.id], AuditAction.LABELS_ADD)
        ids = dict.fromkeys(entry.details["response"] for entry in reversed(entries))
        added = ids.keys() - {answer.response_id for answer in sample.drawn}
        answers = [
            DrawnAnswer(response_id=id_, stratum=0, probability=1.0) for id_ in ids if id_ in added
        ]
        return sample.model_copy(update={"drawn": (*sample.drawn, *answers)})

    async def _add(self, sample: LabelSample, response_id: str) -> None:
        """Add an answer of the run to the queue; its entry in the audit trail keeps it."""
        responses = await in_thread(
            lambda: list(self.ctx.store.records.get(Response, [response_id]))
        )
        if [response.run for response in responses] != [sample.run_id]:
            raise UsageError("This answer is not of this run.")
        await self.ctx.audit.record(AuditAction.LABELS_ADD, sample.id, response=response_id)

    def state(self, sample: LabelSample, caller: Caller) -> QueueState:
        """Return the caller's progress in a sample."""
        labels = self.queries.all_labels(sample.run_id)
        return queue_state(sample, labels, person_id_of(caller.name))

    async def accept(self, sample: LabelSample, caller: Caller, fields: dict[str, str]) -> None:
        """Store and publish the label of a form, or add an answer to the queue."""
        if fields.get("add"):
            await self._add(sample, fields.get("response_id", ""))
            return
        label = await in_thread(self._label_in, sample, caller, fields)
        if label is None:
            return
        request = LabelsRequest(extractor=sample.extractor, feature=sample.feature, labels=[label])
        run_id = sample.run_id
        checked = await in_thread(self.commands.check_labels, run_id, request, caller.name)
        await store_and_send(run_id, request, checked, self.commands, self.ctx)

    def _label_in(
        self, sample: LabelSample, caller: Caller, fields: dict[str, str]
    ) -> GivenLabel | None:
        """Return the label of a form; None if there is nothing to undo.

        Raises
        ------
        UsageError
            The caller may not read the texts, or the input is not a label.
        """
        if not caller.texts:
            raise UsageError("Your token may not read texts, so it cannot label any.")
        typed = (fields.get("typed") or fields.get("value", "")).strip().lower()
        if typed == UNDO:
            last_id = self.state(sample, caller).last_id
            return GivenLabel(response_id=last_id, withdrawn=True) if last_id else None
        id_ = fields.get("response_id", "")
        if id_ not in {answer.response_id for answer in sample.drawn}:
            raise UsageError("This answer is not of this sample.")
        return GivenLabel(response_id=id_, value=typed_value(sample, typed))
