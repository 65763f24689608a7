"""Write the power of each suite: `python -m tools.own_suites.power`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from biaswatch.planning.runs import PlanOptions, Row, RunAssumptions, planned_run
from biaswatch.readers.suites import load_suite
from tools.own_suites.__main__ import own_suites
from tools.own_suites.parts import SUITES

PAGE = Path("docs/measurements.md")
BEGIN, END = "<!-- power: begin -->", "<!-- power: end -->"
OPTIONS = PlanOptions(repeats=(1, 5), simulations=100)
PLACES = "countries-and-unions"
AGENTS = ("agents-loans", "agents-refunds", "agents-triage")
SHARES = {"hiring-callback": "invitations", **dict.fromkeys(AGENTS, "decisions")}
DIMENSION = {"hiring-languages": "origin", "support-languages": "origin", PLACES: "concept"}


def rows() -> Iterator[str]:
    """Return the lines of the table, one for all suites with the same numbers."""
    suites: dict[tuple[str, ...], list[str]] = {}
    for own in own_suites():
        if cells := _cells(own.name):
            print(own.name, *cells, flush=True)
            suites.setdefault(cells, []).append(own.name)
    yield (
        "| suite | sets | gaps | power, 1 answer a prompt | with 5 answers"
        " | sets needed, 1 answer | with 5 answers |"
    )
    yield "|---|---|---|---|---|---|---|"
    for cells, names in suites.items():
        yield "| " + " | ".join((", ".join(names), *cells)) + " |"


def _cells(name: str) -> tuple[str, ...]:
    """Return the cells of a suite, each for both gaps; none without a scale."""
    suite = load_suite(SUITES / name)
    gaps, unit = _gaps(suite.ranges.get("rating") or suite.ranges.get("rank"), name)
    if not gaps:
        return ()
    options = PlanOptions(**{**vars(OPTIONS), "dimension": DIMENSION.get(name, "race")})
    plans = [_power(planned_run(suite, gap, options, lambda _: None).rows) for gap in gaps]
    sets = len({probe.set for probe in suite.probes})
    both = ", ".join(f"{assumed.gap:g}" for assumed in gaps)
    return (str(sets), f"{both} {unit}", *(", ".join(cell) for cell in zip(*plans, strict=True)))


def _power(plan: Sequence[Row]) -> list[str]:
    """Return the power of the suite as it is, and the sets needed, for each number of answers."""
    power = [row["power"] for row in plan if row["suite"] == "as it is"]
    needed = {row["repeats"]: row["sets"] for row in plan if row["suite"] == "enough"}
    return [*map(str, power), *(str(needed.get(repeats, "more")) for repeats in OPTIONS.repeats)]


def _gaps(bounds: tuple[float, float] | None, name: str) -> tuple[list[RunAssumptions], str]:
    """Return a smaller and a larger gap, and their unit; none without a scale."""
    if name in SHARES:
        return [RunAssumptions(gap, rate=0.5) for gap in (0.1, 0.2)], f"of {SHARES[name]}"
    if name == PLACES:
        return [
            RunAssumptions(gap, bounds=(-1.0, 1.0)) for gap in (0.1, 0.2)
        ], "of sentiment (-1 to 1)"
    if not bounds:
        return [], ""
    low, high = bounds
    gaps = [RunAssumptions(round(share * (high - low), 3), bounds=bounds) for share in (0.05, 0.1)]
    return gaps, f"{'ranks' if name == 'shortlist' else 'points'} of {low:g} to {high:g}"


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
