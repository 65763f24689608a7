"""Draw samples and accept labels; it blocks, so call it in a thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.labels.texts import GUIDANCE, columns_of
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.labels.drawing import dimension_of, label_sample
from biaswatch.shared.contracts import DrawnAnswer, Label, LabelSample, Response, Run, person_id_of
from biaswatch.shared.contracts.judged_items import JUDGES, ORACLE
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.labels import (
    AcceptedLabels,
    GivenLabel,
    LabelsRequest,
    SampleRequest,
)
from biaswatch.shared.requests.run_views import RunState
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

DrawnAnswers = dict[str, tuple[LabelSample, DrawnAnswer]]
"""The largest sample that holds an answer, by the id of its response."""
LabelHistory = dict[tuple[str, str], list[Label]]
"""The labels of each response and person, in their order."""
COMPARED_FIELDS = {"value", "withdrawn", "note", "instructions"}


@dataclass(frozen=True)
class CheckedLabels:
    """New labels of a request, and the response to it."""

    new: list[Label]
    accepted: AcceptedLabels


@dataclass(frozen=True)
class LabelCommands:
    """Makes the records of samples and labels."""

    store: Store
    runs: RunQueries
    queries: LabelQueries
    now: Callable[[], datetime]

    def sample_for(self, run_id: str, request: SampleRequest) -> LabelSample:
        """Return the requested sample, without storing it.

        Raises
        ------
        UsageError
            The run has not ended or is still judged, has no such feature or grouping, or the scale
            is unknown.
        """
        run, outline = self.queries.closed_run(run_id)
        extractor, feature = self.queries.feature(run, request)
        if extractor == ORACLE:
            self._check_judged(run_id)
        scale = self.queries.declared_scale(run, outline, extractor, feature)
        if extractor in JUDGES and not request.guidance:
            request = request.model_copy(update={"guidance": GUIDANCE.get(feature, "")})
        with columns_of(self.store, run, outline, extractor, feature) as readings:
            number = (extractor, feature, dimension_of(readings.dimensions, request.group))
            return label_sample(run, number, readings, request, scale, self.now())

    def _check_judged(self, run_id: str) -> None:
        """Raise UsageError if pairs are still to be judged, as no sample could hold them."""
        progress = self.runs.progress(run_id)
        due = progress.verdicts_expected - progress.verdicts
        if progress.state in (RunState.DIAGNOSING, RunState.JUDGING) and due > 0:
            raise UsageError(
                f"{due} verdicts of judges about the run {run_id} are still to come. Draw then."
            )

    def store_records(self, records: Sequence[Label | LabelSample]) -> None:
        """Store records before they are published, so that the next request finds them."""
        self.store.records.write(records)

    def store_labels(
        self, run_id: str, request: LabelsRequest, checked: CheckedLabels
    ) -> CheckedLabels:
        """Store new labels before they are published; return those stored, renumbered if needed.

        Another post by the same person may have taken a number since `check_labels` read the
        history. The store keeps the first label of a number, so the other one gets the next. One
        label per answer and person is written at a time, to keep the order of a request.
        """
        stored: list[Label] = []
        pending = checked.new
        while pending:
            batch = list({_history_key(label): label for label in reversed(pending)}.values())
            lost = self._not_stored(batch)
            stored += [label for label in batch if label.id not in lost]
            written = {label.id for label in batch} - lost
            pending = [label for label in pending if label.id not in written]
            if pending:
                history = self._history(self.runs.run(run_id), request)
                pending = _numbered(pending, history)
        total = checked.accepted.new + checked.accepted.known
        counts = {"new": len(stored), "known": total - len(stored)}
        return CheckedLabels(stored, checked.accepted.model_copy(update=counts))

    def _not_stored(self, labels: Sequence[Label]) -> set[str]:
        """Write labels; return the ids under which the store has another label already."""
        ids = {label.id for label in labels}
        occupied = ids - self.store.records.write(labels).new_ids
        return occupied - self.store.records.missing(Label, occupied)

    def check_labels(self, run_id: str, request: LabelsRequest, caller: str) -> CheckedLabels:
        """Return the new labels of a request, numbered after earlier ones of the same people.

        A label equal to the last one of its person is known, so a request may be repeated.

        Raises
        ------
        UsageError
            An answer or a feature is not of the run, or a value is off the scale; then nothing is
            accepted.
        """
        run = self.runs.run(run_id)
        if request.extractor not in {*JUDGES, *(pin.name for pin in run.extractors)}:
            names = ", ".join(sorted(pin.name for pin in run.extractors))
            raise UsageError(f"The run has no extractor {request.extractor}. It has: {names}.")
        units = self._units(run, request)
        drawn = self._drawn(run, request)
        labels = [
            self._label(run, request, label, caller, units, drawn) for label in request.labels
        ]
        new = _numbered(labels, self._history(run, request))
        undrawn = sum(label.response_id not in drawn for label in request.labels)
        known = len(request.labels) - len(new)
        return CheckedLabels(new, AcceptedLabels(new=len(new), known=known, undrawn=undrawn))

    def _label(
        self,
        run: Run,
        request: LabelsRequest,
        label: GivenLabel,
        caller: str,
        units: dict[str, str],
        drawn: DrawnAnswers,
    ) -> Label:
        sample, answer = drawn.get(label.response_id, (None, None))
        if sample is not None:
            _check_scale(sample, label)
        person = label.person or caller
        return Label(
            tenant=run.tenant,
            purpose=run.purpose,
            at=self.now(),
            run_id=run.id,
            response_id=label.response_id,
            unit_id=units[label.response_id],
            extractor=request.extractor,
            feature=request.feature,
            value=None if label.withdrawn else label.value,
            withdrawn=label.withdrawn,
            person=person,
            person_id=person_id_of(person),
            instructions=sample.instructions if sample else request.instructions,
            sample_id=sample.id if sample else None,
            probability=answer.probability if answer else None,
            note=label.note,
        )

    def _units(self, run: Run, request: LabelsRequest) -> dict[str, str]:
        """Return the unit of each answer or judged item; refuse those of other runs."""
        ids = {label.response_id for label in request.labels}
        units = {}
        if request.extractor in JUDGES:
            items = self.store.judged_items.of_run(run.id, request.extractor)
            units = {item.id: item.unit_id for item in items if item.id in ids}
        for response in self.store.records.get(Response, ids, texts=False):
            if response.run == run.id and response.unit is not None:
                units[response.id] = response.unit
        if missing := sorted(ids - units.keys()):
            raise UsageError(f"The run {run.id} has no answer {missing[0]}; nothing was taken.")
        return units

    def _drawn(self, run: Run, request: LabelsRequest) -> DrawnAnswers:
        drawn: DrawnAnswers = {}
        samples = self.store.records.read(LabelSample, run_id=run.id)
        for sample in sorted(samples, key=lambda sample: (sample.wanted, sample.at)):
            if (sample.extractor, sample.feature) == (request.extractor, request.feature):
                drawn |= {answer.response_id: (sample, answer) for answer in sample.drawn}
        return drawn

    def _history(self, run: Run, request: LabelsRequest) -> LabelHistory:
        ids = {label.response_id for label in request.labels}
        history: LabelHistory = {}
        labels = self.store.records.by_key(Label, "response_id", ids)
        for label in sorted(labels, key=lambda label: label.number):
            if (label.run_id, label.extractor, label.feature) == (
                run.id,
                request.extractor,
                request.feature,
            ):
                history.setdefault(_history_key(label), []).append(label)
        return history


async def store_and_send(
    run_id: str,
    request: LabelsRequest,
    checked: CheckedLabels,
    commands: LabelCommands,
    ctx: GatewayContext,
) -> AcceptedLabels:
    """Store and publish new labels; return the response."""
    stored = await in_thread(commands.store_labels, run_id, request, checked)
    for label in stored.new:
        await ctx.send(label)
    return stored.accepted


def _history_key(label: Label) -> tuple[str, str]:
    return label.response_id, label.person_id


def _numbered(labels: Sequence[Label], history: LabelHistory) -> list[Label]:
    """Return the labels that differ from their person's last one, numbered after the history."""
    new: list[Label] = []
    for label in labels:
        earlier = history.setdefault(_history_key(label), [])
        if earlier and _compared(earlier[-1]) == _compared(label):
            continue
        # A copy would keep the id of the earlier number.
        label = Label.model_validate({**label.model_dump(exclude={"id"}), "number": len(earlier)})
        earlier.append(label)
        new.append(label)
    return new


def _compared(label: Label) -> dict[str, object]:
    return label.model_dump(include=COMPARED_FIELDS)


def _check_scale(sample: LabelSample, label: GivenLabel) -> None:
    value = label.value
    if value is None:
        return
    if not sample.low <= value <= sample.high:
        raise UsageError(
            f"The label {value:g} lies outside the scale from {sample.low:g} to {sample.high:g};"
            " nothing was taken."
        )
    if sample.choices and value not in sample.choices:
        choices = ", ".join(f"{choice:g}" for choice in sample.choices)
        raise UsageError(f"The label {value:g} is none of {choices}; nothing was taken.")
