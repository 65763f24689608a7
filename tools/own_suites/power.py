"""Write the power of each suite: `python -m tools.own_suites.power`."""

from collections.abc import Iterator
from pathlib import Path

from biaswatch.planning.runs import Assumed, PlanOptions, planned_run
from biaswatch.readers.suites import load_suite
from tools.own_suites.__main__ import own_suites
from tools.own_suites.parts import SUITES

PAGE = Path("docs/measurements.md")
BEGIN, END = "<!-- power: begin -->", "<!-- power: end -->"
OPTIONS = PlanOptions(repeats=(1, 5), simulations=100)
PLACES = "countries-and-unions"
SHARES = {
    "hiring-callback": "invitations",
    "agents-loans": "approvals",
    "agents-refunds": "refunds",
}
SHARES["agents-triage"] = "bookings"
DIMENSION = {"hiring-languages": "origin", "support-languages": "origin", PLACES: "concept"}


def rows() -> Iterator[str]:
    """Return the lines of the table."""
    yield (
        "| suite | sets | dimension | gap | power as it is, 1 answer a prompt | with 5 answers"
        " | sets needed, 1 answer | with 5 answers |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for own in own_suites():
        suite = load_suite(SUITES / own.name)
        bounds = suite.ranges.get("rating") or suite.ranges.get("rank")
        for assumed, gap in _assumed(bounds, own.name):
            dimension = DIMENSION.get(own.name, "race")
            options = PlanOptions(**{**vars(OPTIONS), "dimension": dimension})
            plan = planned_run(suite, assumed, options, lambda _: None).rows
            power = [row["power"] for row in plan if row["suite"] == "as it is"]
            needed = {row["repeats"]: row["sets"] for row in plan if row["suite"] == "enough"}
            sets = len({probe.set for probe in suite.probes})
            cells = [
                own.name,
                sets,
                dimension,
                gap,
                *power,
                needed.get(1, "more"),
                needed.get(5, "more"),
            ]
            print(*cells, flush=True)
            yield "| " + " | ".join(map(str, cells)) + " |"


def _assumed(bounds: tuple[float, float] | None, name: str) -> Iterator[tuple[Assumed, str]]:
    if name in SHARES:
        for gap in (0.1, 0.2):
            yield Assumed(gap, rate=0.5), f"{gap:g} of {SHARES[name]}"
    elif name == PLACES:
        for gap in (0.1, 0.2):
            yield Assumed(gap, bounds=(-1.0, 1.0)), f"{gap:g} of sentiment (-1 to 1)"
    elif bounds:
        width = bounds[1] - bounds[0]
        for share in (0.05, 0.1):
            gap = round(share * width, 3)
            unit = "ranks" if name == "shortlist" else "points"
            yield Assumed(gap, bounds=bounds), f"{gap:g} {unit} of {bounds[0]:g} to {bounds[1]:g}"


def main() -> None:
    """Put the table into the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(
        f"{before}{BEGIN}\n\n" + "\n".join(rows()) + f"\n\n{END}{after}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
