"""Test drop-ins for conformance."""

import json
from dataclasses import dataclass

from biaswatch.services.extractor.domain import Measured, Reading
from biaswatch.services.extractor.domain.dropin_protocol import (
    BROKEN,
    NO_RESULT,
    BrokenContract,
    body_of,
    mismatch,
    outcomes_of,
    spec_of,
)
from biaswatch.services.extractor.domain.extractor import NOT_FINITE, WRONG_FEATURES
from biaswatch.services.extractor.handlers.dropin_discovery import dropin_versions
from biaswatch.shared.bus.jetstream import Requester, ServiceReply
from biaswatch.shared.contracts.dropin import Checked, DropInSpec, endpoint
from biaswatch.shared.errors import TransientError

TEXTS = (
    "A quiet, happy town!",
    "",
    " ",
    "Ünïcödé, 漢字, \U0001f648 and a \x00 in it",
    "word " * 20_000,
)
LOOK_S = 1.0


@dataclass(frozen=True)
class ConformanceCheck:
    """The result of one check."""

    what: str
    passed: bool
    detail: str = ""


class ConformanceTest:
    """The conformance test of one drop-in."""

    def __init__(self, name: str, caller: Requester, *, call_s: float) -> None:
        self._name = name
        self._caller = caller
        self._call_s = call_s
        self.findings: list[ConformanceCheck] = []

    async def run(self) -> bool:
        """Run all checks; return whether they passed."""
        try:
            spec = await self._spec()
            await self._check()
            results = await self._texts(spec)
            broken = {WRONG_FEATURES, NOT_FINITE, NO_RESULT, BROKEN}
            bad = {why for _, why in results if why and (why in broken or "reason" in why)}
            self._note("each text has the features of the spec, or a plain reason", *sorted(bad))
            both = zip(results, await self._texts(spec), strict=True)
            differ = [f"text {n} did not" for n, (one, other) in enumerate(both) if one != other]
            self._note("the same texts give the same results", *differ)
            await self._malformed()
        except (TransientError, BrokenContract, ValueError) as error:
            self._note("it answers as the contract says", str(error))
        return all(finding.passed for finding in self.findings)

    async def _spec(self) -> DropInSpec:
        versions = dropin_versions(await self._caller.ask_all("$SRV.INFO", within_s=LOOK_S))
        version = versions.get(self._name)
        if version is None:
            registered = ", ".join(sorted(versions)) or "none"
            raise BrokenContract(
                f"no drop-in {self._name} is found on the bus (found: {registered}); register it"
                f" as extractor-{self._name} with metadata role=extractor, contract=1"
            )
        self._note("it is found on the bus")
        spec = spec_of((await self._ask("spec")).data)
        problem = mismatch(spec, self._name, version)
        self._note("its spec is well formed", *([problem] if problem else []))
        return spec

    async def _check(self) -> None:
        checked = Checked.model_validate_json((await self._ask("check")).data)
        self._note("it says that it is well", *([] if checked.status == "ok" else [checked.detail]))

    async def _texts(self, spec: DropInSpec) -> list[Measured]:
        readings = [Reading(text, expected="B", baseline="A base.") for text in TEXTS]
        results: list[Measured] = []
        for start in range(0, len(readings), spec.max_batch):
            batch = readings[start : start + spec.max_batch]
            reply = await self._ask("extract", body_of(batch))
            if reply.error_code:
                raise BrokenContract(f"it answered error {reply.error_code}: {reply.error}")
            results += outcomes_of(reply.data, spec, len(batch))
        return results

    async def _malformed(self) -> None:
        """Send a malformed call: the answer must be an error, and the process must survive."""
        reply = await self._ask("extract", json.dumps({"nonsense": True}).encode())
        wrong = [] if reply.error_code else ["it answered as if nothing were wrong"]
        self._note("a malformed call is answered with an error", *wrong)
        await self._check()

    async def _ask(self, what: str, body: bytes = b"") -> ServiceReply:
        return await self._caller.ask(endpoint(self._name, what), body, timeout_s=self._call_s)

    def _note(self, what: str, *wrong: str) -> None:
        self.findings.append(ConformanceCheck(what, not wrong, "; ".join(wrong)))
