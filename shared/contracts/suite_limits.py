"""Limits of suites, so that every later record fits, and limits of what a tenant may ask; pure."""

import hashlib
from array import array
from collections.abc import Iterator
from itertools import groupby, pairwise

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from biaswatch.shared.contracts.identity import Name
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.contracts.probe import CONVERSATION
from biaswatch.shared.contracts.run import Run
from biaswatch.shared.contracts.suite import Suite, SuiteHeader, SuiteOutline, SuiteProbe
from biaswatch.shared.errors import UsageError
from biaswatch.shared.lookup import grouped

LARGEST_PROBE_BYTES = 256 * 1024
"""Limit of a probe as JSON; its response holds it beside an answer of up to 200 KiB, and must fit
on the bus."""
MOST_PROBES = 300_000
"""Limit of questions in one run, or one round of a monitor, unless the operator allows more."""
MOST_RUNS = 500
"""Limit of a tenant's runs under way, unless the operator allows more."""
MOST_SUITES = 10_000
"""Limit of a tenant's suites, unless the operator allows more."""
MOST_SEARCHES = 20
"""Limit of a tenant's searches under way, unless the operator allows more."""
MOST_MONITORS = 200
"""Limit of a tenant's monitors, unless the operator allows more."""
MAX_SHOWN_NUMBER = 10**15
_NAME: TypeAdapter[str] = TypeAdapter(Name)


def check_suite(suite: Suite) -> Suite:
    """Return a suite whose answers can be diagnosed.

    Raises
    ------
    UsageError
        A label of a probe is not a name, or a probe is too large; the message names the probe.
    """
    check = ProbeCheck(suite.header)
    for probe in suite.probes:
        check(probe)
    return suite


class ProbeCheck:
    """Checks the probes of a suite, one after the other."""

    def __init__(self, header: SuiteHeader) -> None:
        self._header = header
        self._shared = _size(header.name, header)
        self._seen: set[tuple[str, str]] = set()
        self._twins: dict[tuple[str, ...], tuple[int, ...]] = {}
        """Digests of the messages of a conversation's first twin, by set and strata."""
        self._differs: dict[tuple[str, ...], int] = {}
        """Position of the message that differs between twins, by set and strata, from 0."""

    def __call__(self, probe: SuiteProbe) -> None:
        """Raise UsageError if a label is not a name, or the probe is too large."""
        for where, label in _labels(self._header, probe):
            if (where, label) not in self._seen:
                _check_label(probe.key, where, label)
                self._seen.add((where, label))
        if CONVERSATION in self._header.scaffolds and probe.set:
            self._check_twins(probe, (probe.set, *self._header.strata_of(probe).values()))
        size = _size(f"The probe {probe.key}", probe) + self._shared
        if size > LARGEST_PROBE_BYTES:
            raise UsageError(
                f"The probe {probe.key} has {size // 1024} KiB with what the suite gives every"
                f" probe; {LARGEST_PROBE_BYTES // 1024} KiB is the limit. Shorten it."
            )

    def _check_twins(self, probe: SuiteProbe, twins: tuple[str, ...]) -> None:
        """Raise UsageError if a conversation differs from its twins in several messages."""
        messages = tuple(_digest(message.model_dump_json()) for message in probe.as_messages)
        first = self._twins.setdefault(twins, messages)
        pairs = enumerate(zip(first, messages, strict=False))
        places = [place for place, (one, other) in pairs if one != other]
        known = {self._differs.setdefault(twins, place) for place in places[:1]}
        if len(first) != len(messages) or len(places) > 1 or known - {*places}:
            raise UsageError(
                f"The probe {probe.key} differs from its twins in more than one message. Twins of a"
                " conversation may differ in one turn only."
            )


def _labels(suite: SuiteHeader, probe: SuiteProbe) -> Iterator[tuple[str, str]]:
    """Return each name that a record of results will hold, and its place in the probe."""
    for dimension, group in probe.groups.items():
        yield "groups", dimension
        yield f"groups.{dimension}", group
    for name, level in suite.strata_of(probe).items():
        yield f"facts.{name}", level
    for factor, value in suite.random_of(probe).items():
        yield f"stimuli.{factor}", value
    for name in probe.variables:
        yield "variables", name


def _check_label(key: str, where: str, label: str) -> None:
    try:
        _NAME.validate_python(label)
    except ValidationError as error:
        raise UsageError(
            f"The probe {key}, {where}: a name of at most 512 characters on one line is needed"
            f" ({first_mistake(error).sentence})."
        ) from None


def _size(named: str, part: SuiteHeader | SuiteProbe) -> int:
    """Return the size as JSON, in bytes."""
    try:
        return len(part.model_dump_json(exclude_defaults=True).encode())
    except (PydanticSerializationError, UnicodeError):
        raise UsageError(f"{named} has text that UTF-8 cannot hold. Save it as UTF-8.") from None


def check_amount(run: Run, probes: int, most: int = MOST_PROBES) -> None:
    """Refuse a run of a suite with a number of probes that exceeds the limit.

    Raises
    ------
    UsageError
        With how much it would ask, and what can be done.
    """
    per_repeat = probes * len(run.targets) * len(run.scaffolds)
    if per_repeat * run.repeats > most:
        raise UsageError(
            f"The run would ask {number_shown(per_repeat * run.repeats)} questions"
            f" ({probes:,} probes, {len(run.targets)} targets, {len(run.scaffolds)}"
            f" scaffolds, {number_shown(run.repeats)} repeats); {most:,} are allowed. Ask less at"
            " once, or have its operator raise BIASWATCH_GATEWAY_RUN_PROBES."
        )


def number_shown(count: int) -> str:
    """Return a count as people read it, however large."""
    return f"{count:,}" if count < MAX_SHOWN_NUMBER else f"over {MAX_SHOWN_NUMBER:,}"


SIDES = {"a": 0, "b": 1}
OTHER_SIDE = 2
PARTS = 8
"""Parts of the digests that are sorted one after the other; bounds memory."""


class SuiteCounts:
    """Counts of the probes that were added; names are kept as digests of eight bytes."""

    def __init__(self, header: SuiteHeader) -> None:
        self._header = header
        self._keys = array("Q")
        self._sides = array("Q")
        self._purged = self._has_groups = False
        self._missing = {*header.strata, *header.random}

    def add(self, probe: SuiteProbe) -> None:
        """Count a probe."""
        self._keys.append(_digest(probe.key))
        if probe.set and "question" in probe.variables:
            side = SIDES.get(probe.facts.get("side", ""), OTHER_SIDE)
            self._sides.append(_digest(probe.set) & ~3 | side)
        self._purged = self._purged or probe == probe.without_texts
        self._has_groups = self._has_groups or bool(probe.groups)
        if self._missing:
            self._missing -= {*self._header.strata_of(probe), *self._header.random_of(probe)}

    def outline(self, hash_: str) -> SuiteOutline:
        """Return the outline of the suite with this hash."""
        return SuiteOutline(
            hash=hash_,
            header=self._header,
            probes=len(self._keys),
            pairs=self._pairs(),
            has_findings=bool(self._header.strata) or self._has_groups,
            purged=self._purged,
        )

    @property
    def mistake(self) -> str | None:
        """A mistake of the header: a stratum or a random factor that no probe has."""
        for name in filter(self._missing.__contains__, self._header.strata):
            return f"no probe has the stratum {name!r}, as a fact or a group"
        for name in filter(self._missing.__contains__, self._header.random):
            return f"no probe has the random factor {name!r} among its stimuli"
        return None

    def likely_duplicates(self) -> Iterator[list[int]]:
        """Yield the positions of probes whose keys have the same digest."""
        twice = {one for one, next_ in pairwise(_equal_digests(self._keys)) if one == next_}
        places = grouped(
            (digest, place)
            for place, digest in enumerate(self._keys if twice else ())
            if digest in twice
        )
        yield from places.values()

    def _pairs(self) -> int:
        """Count the sets that have one question of each side."""
        sets = groupby(sorted(self._sides), key=lambda packed: packed & ~3)
        sides = ([packed & 3 for packed in members] for _, members in sets)
        return sum(members.count(0) == members.count(1) == 1 for members in sides)


def _equal_digests(digests: "array[int]") -> Iterator[int]:
    """Yield digests, equal ones together; sorted at once, a million would take 40 MB."""
    for part in range(PARTS):
        yield from sorted(digest for digest in digests if digest % PARTS == part)


def _digest(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
