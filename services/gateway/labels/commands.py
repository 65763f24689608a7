"""Draws samples and takes in labels; it blocks, so call it in a thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.labels.texts import GUIDANCE
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.labels.drawing import dimension_of, label_sample
from biaswatch.shared.contracts import DrawnAnswer, Label, LabelSample, Response, Run, person_id_of
from biaswatch.shared.contracts.pair_verdict import JUDGES, ORACLE
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.labels import (
    AcceptedLabels,
    GivenLabel,
    LabelsRequest,
    SampleRequest,
)
from biaswatch.shared.requests.run_views import RunState
from biaswatch.shared.store import Store

Drawn = dict[str, tuple[LabelSample, DrawnAnswer]]
"""By the id of the response, the largest sample that holds it."""


@dataclass(frozen=True)
class TakenLabels:
    """Labels that are to be stored and published, and what is answered."""

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
        """Return the sample that is requested; nothing is stored yet.

        Raises
        ------
        UsageError
            The run has not ended, has no such number or grouping, its judges are still asked, or
            nobody knows the scale.
        """
        run, outline = self.queries.planned(run_id)
        extractor, feature = self.queries.number(run, request)
        if extractor == ORACLE:
            self._check_judged(run_id)
        declared = self.queries.declared_scale(run, outline, extractor, feature)
        if extractor in JUDGES and not request.guidance:
            request = request.model_copy(update={"guidance": GUIDANCE.get(feature, "")})
        with self.queries.readings(run, outline, extractor, feature) as readings:
            number = (extractor, feature, dimension_of(readings.dimensions, request.group))
            return label_sample(run, number, readings, request, declared, self.now())

    def _check_judged(self, run_id: str) -> None:
        """Refuse a run with pairs to be judged: they could never be drawn, and would count."""
        found = self.runs.progress(run_id)
        due = found.verdicts_expected - found.verdicts
        if found.stand in (RunState.DIAGNOSING, RunState.JUDGING) and due > 0:
            raise UsageError(
                f"{due} verdicts of judges about the run {run_id} are still to come. Draw then."
            )

    def keep(self, records: Sequence[Label | LabelSample]) -> None:
        """Store records that are about to be published, so that the next request finds them."""
        self.store.records.write(records)

    def keep_labels(self, run_id: str, request: LabelsRequest, taken: TakenLabels) -> TakenLabels:
        """Store new labels before their publication; return those stored, numbered anew if needed.

        Another post by the same person may have taken a number since `taken` read the history. The
        store keeps the first label of a number, so the other one gets the next number. One label
        per answer and person is written at a time, which keeps the order within a request.
        """
        stored: list[Label] = []
        pending = taken.new
        while pending:
            batch = list({_history_key(label): label for label in reversed(pending)}.values())
            lost = self._not_stored(batch)
            stored += [label for label in batch if label.id not in lost]
            written = {label.id for label in batch} - lost
            pending = [label for label in pending if label.id not in written]
            if pending:
                history = self._history(self.runs.run(run_id), request)
                pending = _numbered(pending, history)
        total = taken.accepted.new + taken.accepted.known
        counts = {"new": len(stored), "known": total - len(stored)}
        return TakenLabels(stored, taken.accepted.model_copy(update=counts))

    def _not_stored(self, labels: Sequence[Label]) -> set[str]:
        """Write labels; return the ids under which the store has another label already."""
        ids = {label.id for label in labels}
        occupied = ids - self.store.records.write(labels).new_ids
        return occupied - self.store.records.missing(Label, occupied)

    def taken(self, run_id: str, request: LabelsRequest, caller: str) -> TakenLabels:
        """Return the labels that are new, numbered after those that the same people gave before.

        A label that says what its person said last is known already, so a request may be repeated.

        Raises
        ------
        UsageError
            An answer is not of the run, a number is not one of the run's, or a value is off the
            scale; nothing of the request is taken then.
        """
        run = self.runs.run(run_id)
        if request.extractor not in {*JUDGES, *(pin.name for pin in run.extractors)}:
            names = ", ".join(sorted(pin.name for pin in run.extractors))
            raise UsageError(f"The run has no extractor {request.extractor}. It has: {names}.")
        units = self._units(run, request)
        drawn = self._drawn(run, request)
        labels = [self._label(run, request, one, caller, units, drawn) for one in request.labels]
        new = _numbered(labels, self._history(run, request))
        undrawn = sum(each.response_id not in drawn for each in request.labels)
        known = len(request.labels) - len(new)
        return TakenLabels(new, AcceptedLabels(new=len(new), known=known, undrawn=undrawn))

    def _label(
        self,
        run: Run,
        request: LabelsRequest,
        given: GivenLabel,
        caller: str,
        units: dict[str, str],
        drawn: Drawn,
    ) -> Label:
        sample, one = drawn.get(given.response_id, (None, None))
        if sample is not None:
            _check_scale(sample, given)
        person = given.person or caller
        return Label(
            tenant=run.tenant,
            purpose=run.purpose,
            at=self.now(),
            run_id=run.id,
            response_id=given.response_id,
            unit_id=units[given.response_id],
            extractor=request.extractor,
            feature=request.feature,
            value=None if given.withdrawn else given.value,
            withdrawn=given.withdrawn,
            person=person,
            person_id=person_id_of(person),
            instructions=sample.instructions if sample else request.instructions,
            sample_id=sample.id if sample else None,
            probability=one.probability if one else None,
            note=given.note,
        )

    def _units(self, run: Run, request: LabelsRequest) -> dict[str, str]:
        """Return the unit of each answer, or what is judged; refuse one that is not of the run."""
        ids = {each.response_id for each in request.labels}
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

    def _drawn(self, run: Run, request: LabelsRequest) -> Drawn:
        found: Drawn = {}
        samples = self.store.records.read(LabelSample, run_id=run.id)
        for sample in sorted(samples, key=lambda each: (each.wanted, each.at)):
            if (sample.extractor, sample.feature) == (request.extractor, request.feature):
                found |= {each.response_id: (sample, each) for each in sample.drawn}
        return found

    def _history(self, run: Run, request: LabelsRequest) -> dict[tuple[str, str], list[Label]]:
        wanted = {each.response_id for each in request.labels}
        found: dict[tuple[str, str], list[Label]] = {}
        for each in sorted(
            self.store.records.by_key(Label, "response_id", wanted), key=lambda e: e.number
        ):
            if (each.run_id, each.extractor, each.feature) == (
                run.id, request.extractor, request.feature,
            ):  # fmt: skip
                found.setdefault((each.response_id, each.person_id), []).append(each)
        return found


def _history_key(label: Label) -> tuple[str, str]:
    return label.response_id, label.person_id


def _numbered(labels: Sequence[Label], history: dict[tuple[str, str], list[Label]]) -> list[Label]:
    """Return the labels that change what their person said last, numbered after the history."""
    new: list[Label] = []
    for label in labels:
        before = history.setdefault(_history_key(label), [])
        if before and _says_the_same(before[-1], label):
            continue
        # Not model_copy: a copy would keep the id that an earlier number gave.
        label = Label.model_validate({**label.model_dump(exclude={"id"}), "number": len(before)})
        before.append(label)
        new.append(label)
    return new


def _says_the_same(before: Label, after: Label) -> bool:
    said = {"value", "withdrawn", "note", "instructions"}
    return before.model_dump(include=said) == after.model_dump(include=said)


def _check_scale(sample: LabelSample, given: GivenLabel) -> None:
    value = given.value
    if value is None:
        return
    if not sample.low <= value <= sample.high:
        raise UsageError(
            f"The label {value:g} lies outside the scale from {sample.low:g} to {sample.high:g};"
            " nothing was taken."
        )
    if sample.choices and value not in sample.choices:
        choices = ", ".join(f"{each:g}" for each in sample.choices)
        raise UsageError(f"The label {value:g} is none of {choices}; nothing was taken.")
