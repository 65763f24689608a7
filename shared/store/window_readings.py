"""What extractors read in the answers of a window of production traffic."""

from collections.abc import Iterator
from itertools import islice

from shared.contracts import Features, Response, Run
from shared.store.records import Records
from shared.store.window_answers import WindowAnswers

AT_ONCE = 500


class WindowReadings:
    """Reads the members of closed windows, with what one extractor measured of each."""

    def __init__(self, records: Records, answers: WindowAnswers) -> None:
        self._records = records
        self._answers = answers

    def of(self, run: Run, extractor: str) -> Iterator[tuple[Response, Features]]:
        """Return the answers of a window without texts, each with its measurement.

        By the version that the window's run pins. What came after the list of members was fixed is
        left out, as it is of the evidence; a window whose list is not fixed has none.
        """
        version = next((pin.version for pin in run.extractors if pin.name == extractor), None)
        members = self._answers.members(run.id)
        if members is None or version is None:
            return
        while some := list(islice(members, AT_ONCE)):
            said = {each.id: each for each in self._records.get(Response, some, texts=False)}
            measured = self._records.by_key(Features, "response_id", said, extractor=extractor)
            for each in measured:
                if each.extractor_version == version:
                    yield said[each.response_id], each
