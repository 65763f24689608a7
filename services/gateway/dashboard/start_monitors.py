"""The form that starts a monitor."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote

from biaswatch.services.gateway.context import now
from biaswatch.services.gateway.dashboard.start_forms import (
    MAX_CHOICES,
    Filled,
    FormField,
    KindOptions,
    Options,
    Preview,
    same,
)
from biaswatch.services.gateway.monitors.commands import (
    MonitorCommands,
    monitor_commands,
    publish_change,
)
from biaswatch.shared.contracts import AuditAction, Claim, as_usage_error
from biaswatch.shared.requests.monitors import MonitorRequest
from biaswatch.shared.runtime.threads import in_thread

MORE_ROUNDS = (
    "Evidence adds up over rounds; `biaswatch plan FILE --gap G` says how many an alarm takes."
)


@dataclass(frozen=True)
class MonitorKind(KindOptions):
    """A monitor that asks a model a stored suite again and again."""

    path: ClassVar[str] = "/start/monitor"
    title: ClassVar[str] = "Start a monitor"
    lead: ClassVar[str] = (
        "Asks a model the questions of a suite again and again, and raises an alarm once the"
        " evidence of a disparity is strong enough."
    )

    def fields(self, filled: Filled) -> list[FormField]:
        """Return the fields; what is watched comes once the suite is chosen."""
        first = [
            FormField("name", "Name of the monitor", required=True),
            self.suite_field(),
            self.target_field("target", "Model"),
            FormField(
                "cadence", "A round every", default="1d", note="30m, 6h or 1d", required=True
            ),
        ]
        return [*first, *self._watched(filled.text("suite"))]

    def _watched(self, suite_hash: str) -> list[FormField]:
        """Return the fields about measured numbers and groups of a suite."""
        outline = self.ctx.store.suites.outline(suite_hash or None)
        if outline is None:
            return []
        low, high = next(iter(outline.header.ranges.values()), ("", ""))
        channels = self.ctx.store.channels.known(now())
        return [
            FormField(
                "feature",
                "Number to watch",
                "choice",
                self._features(outline.header.extractors),
                required=True,
            ),
            FormField("low", "Its least value", "number", default=f"{low}", required=True),
            FormField("high", "Its largest value", "number", default=f"{high}", required=True),
            FormField("tolerance", "Largest gap that does not matter", "number", required=True),
            FormField(
                "pairs", "Groups to compare", "choices", self._pairs(suite_hash), required=True
            ),
            FormField(
                "claim",
                "The conclusion is about",
                "choice",
                [(Claim.BANK, "these questions"), (Claim.POPULATION, "questions like these")],
            ),
            FormField("owners", "Owners, one on each line", "lines"),
            FormField(
                "channels", "Channels for alarms", "choices", same(one.name for one in channels)
            ),
        ]

    def _features(self, extractors: tuple[str, ...]) -> Options:
        running = self.ctx.store.extractors.ever()
        return same(
            dict.fromkeys(
                f"{status.name}.{feature}"
                for status in running
                if status.name in extractors
                for feature in status.features
            )
        )

    def _pairs(self, suite_hash: str) -> Options:
        """Return the pairs of groups within a dimension, as `dimension=a=b`."""
        groups = self.ctx.store.suites.groups(suite_hash)
        return [
            (f"{a.dimension}={a.group}={b.group}", f"{a.dimension}: {a.group} and {b.group}")
            for n, a in enumerate(groups)
            for b in groups[n + 1 :]
            if a.dimension == b.dimension
        ][:MAX_CHOICES]

    def preview(self, filled: Filled) -> Preview:
        """Return calls and power of a round, and the monitor's file."""
        request = self._request(filled)
        applied = self._commands().definition_of(request)
        suite = self.ctx.store.suites.outline(request.suite_hash)
        answers = (suite.probes if suite else 0) * request.repeats
        cadence = filled.text("cadence")
        name = suite.header.name if suite else None
        cost = self.queries.estimate(request.target, answers, (request.scaffold,), name)
        power = self.queries.power(
            request.suite_hash, (request.target,), parts=1, repeats=request.repeats
        )
        sections = [
            ("Calls and cost of a round", [f"At most {answers:,} answers every {cadence}.", cost]),
            ("Power of one round", power.sentences),
            ("Notes", [*applied.notes, MORE_ROUNDS]),
        ]
        fields = request.model_dump(mode="json", exclude_unset=True, exclude={"suite_hash"})
        definition = {
            "name": fields.pop("name"),
            "suite": f"{name}.yaml" if name else "",
            **fields,
            "cadence": filled.text("cadence"),
        }
        return Preview(sections, "biaswatch monitor apply monitor.yaml", definition)

    def address(self, filled: Filled, nonce: str) -> str:
        """Return the address of the monitor's page."""
        return f"/monitors/{quote(self._request(filled).name)}"

    async def start(self, filled: Filled, nonce: str) -> object:
        """Begin the monitor; the same again changes nothing."""
        commands, request = self._commands(), self._request(filled)
        applied = await in_thread(commands.definition_of, request)
        await publish_change(applied, AuditAction.MONITOR_APPLY, commands, self.ctx)
        return applied

    def _commands(self) -> MonitorCommands:
        return monitor_commands(self.ctx)

    def _request(self, filled: Filled) -> MonitorRequest:
        extractor, _, feature = filled.text("feature").partition(".")
        pairs = [line.split("=", 2) for line in filled.lines("pairs")]
        watched = {"extractor": extractor, "feature": feature}
        fields = {
            "features": [watched | filled.given(low="low", high="high", tolerance="tolerance")],
            "comparisons": [
                dict(zip(("dimension", "a", "b"), pair, strict=False)) for pair in pairs
            ],
            "owners": filled.lines("owners"),
            "channels": filled.lines("channels"),
        }
        texts = filled.given(
            name="name", suite_hash="suite", target="target", cadence="cadence", claim="claim"
        )
        with as_usage_error("The monitor"):
            return MonitorRequest.model_validate(
                texts | {name: value for name, value in fields.items() if value}
            )
