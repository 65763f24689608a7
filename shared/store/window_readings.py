"""What extractors read in the answers of a window of production traffic."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from biaswatch.shared.contracts import Features, Probe, Run, member_features_id
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.window_answers import WindowAnswers

AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class WindowReading:
    """What one extractor measured of one answer, and whom the answer is about."""

    response_id: str
    target: str
    """As its monitor names it."""
    scaffold: str
    unit: str
    """The user or the conversation; the answer itself where nobody is named."""
    groups: Mapping[str, str]
    values: Mapping[str, float | None]
    unscorable: str | None
    """Why there are no values at all."""


class WindowReadings:
    """Reads the members of closed windows, with what one extractor measured of each."""

    def __init__(self, records: Records, answers: WindowAnswers) -> None:
        self._records = records
        self._answers = answers

    def of(self, run: Run, extractor: str) -> Iterator[WindowReading]:
        """Return what was measured of the answers of a window, as plain data, without texts.

        By the version that the window's run pins. What came after the list of members was fixed is
        left out, as it is of the evidence; a window whose list is not fixed has none.
        """
        pin = next((each for each in run.extractors if each.name == extractor), None)
        members = self._answers.members(run.id)
        if members is None or pin is None:
            return
        while some := list(islice(members, AT_ONCE)):
            ids = [member_features_id(run, response_id, pin) for response_id in some]
            measured = self._records.numbers_of(Features, ids)
            of_probes = {id_: each["probe_id"] for id_, each in measured.items()}
            probes = self._records.numbers_of(Probe, of_probes.values())
            for id_, response_id in zip(ids, some, strict=True):
                # A probe is stored with its response, which may still be on its way.
                if (probe := probes.get(of_probes.get(id_, ""))) is None:
                    continue
                yield WindowReading(
                    response_id=response_id,
                    target=probe["target"]["name"],
                    scaffold=probe["scaffold"],
                    unit=probe.get("set_id") or probe["unit_id"],
                    groups=probe["groups"],
                    values=measured[id_]["values"],
                    unscorable=measured[id_].get("unscorable"),
                )
