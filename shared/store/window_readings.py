"""Measurements of the answers in a window of production traffic."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from biaswatch.shared.contracts import Features, Probe, Run, member_features_id
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.window_answers import WindowAnswers

PAGE_READINGS = 500


@dataclass(frozen=True, slots=True)
class WindowReading:
    """An extractor's measurement of one answer, with the answer's unit and groups."""

    response_id: str
    target: str
    """Name that the monitor gives it."""
    scaffold: str
    unit: str
    """The user or conversation; the answer itself if none is named."""
    groups: Mapping[str, str]
    values: Mapping[str, float | None]
    unscorable: str | None
    """Reason why there are no values."""


@dataclass(eq=False)
class WindowReadings:
    """Reads an extractor's measurements of the members of closed windows."""

    records: Records
    answers: WindowAnswers

    def of(self, run: Run, extractor: str) -> Iterator[WindowReading]:
        """Return the measurements of a window's answers, as plain data without texts.

        They are of the version that the window's run pins. Late answers are left out, as from the
        evidence; a window without fixed members has none.
        """
        pin = next((pin for pin in run.extractors if pin.name == extractor), None)
        members = self.answers.members(run.id)
        if members is None or pin is None:
            return
        while page := list(islice(members, PAGE_READINGS)):
            ids = [member_features_id(run, response_id, pin) for response_id in page]
            features = self.records.bodies_of(Features, ids)
            probe_ids = {id_: row["probe_id"] for id_, row in features.items()}
            probes = self.records.bodies_of(Probe, probe_ids.values())
            for id_, response_id in zip(ids, page, strict=True):
                # A probe is stored with its response, which may not have arrived yet.
                if (probe := probes.get(probe_ids.get(id_, ""))) is None:
                    continue
                yield WindowReading(
                    response_id=response_id,
                    target=probe["target"]["name"],
                    scaffold=probe["scaffold"],
                    unit=probe.get("set_id") or probe["unit_id"],
                    groups=probe["groups"],
                    values=features[id_]["values"],
                    unscorable=features[id_].get("unscorable"),
                )
