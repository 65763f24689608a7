"""How long it takes to read 200 KB made to keep a reader busy; the exit code is 1 over the bar.

Each reader gets all hostile texts at a small size, and then the worst of them at the full size and
a quarter of it.
"""

import sys
from heapq import nlargest

from tests.support.hostile_texts import Reader, cpu_s, hostile_texts, readers

SMALL, FULL = 8_000, 200_000
WORST = 8
BAR_S, WIDEST_GROWTH = 0.25, 8.0
BARRED = ("generator", "oracle", "extractor")
"""Whose readers have to keep the bar; the others read a few pages and reports."""


def main() -> int:
    """Print the worst text of each reader, its CPU time, and its growth from a quarter of it."""
    smalls, quarters, fulls = (list(hostile_texts(n)) for n in (SMALL, FULL // 4, FULL))
    print(f"{len(fulls):,} hostile texts, {FULL // 1000} KB, the worst of each reader:")
    over = []
    for name, read in readers().items():
        ranked = nlargest(WORST, range(len(smalls)), key=lambda n: cpu_s(read, smalls[n]))
        seconds, worst = max((_shortest_s(read, fulls[n]), n) for n in ranked)
        growth = seconds / max(_shortest_s(read, quarters[worst]), 1e-6)
        text = fulls[worst][:24]
        print(f"  {name:26} {seconds * 1e3:6.1f} ms of CPU, growth {growth:4.1f} of 4   {text!r}")
        barred = name.partition(":")[0] in BARRED
        if (barred and seconds > BAR_S) or (seconds > BAR_S and growth > WIDEST_GROWTH):
            over.append(name)
    print(f"over {BAR_S * 1e3:.0f} ms: {', '.join(over) or 'none'}")
    return bool(over)


def _shortest_s(read: Reader, text: str) -> float:
    return min(cpu_s(read, text) for _ in range(3))


if __name__ == "__main__":
    sys.exit(main())
