"""Prints how often planted judges are examined rightly, and the coverage of corrected rates."""

import argparse
import sys
from collections.abc import Sequence

from calibration.judges.examinations import MIN_SHARE, shares_as_planted
from calibration.judges.rates import MIN_COVERAGE, coverages, labelled_coverages


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables; 1 where a share is under its bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="examinations of each judge")
    parser.add_argument("--rates", type=int, default=2000, help="corrected rates of each kind")
    options = parser.parse_args(arguments)
    missed = 0
    print("| judge | as planted |\n|---|---|")
    for name, share in shares_as_planted(options.draws).items():
        print(f"| {name} | {share:.3f} |")
        missed += share < MIN_SHARE
    for title, simulated in (("controls", coverages), ("labels", labelled_coverages)):
        print(f"\n| true rate | pairs | templates | covered, by {title} |\n|---|---|---|---|")
        for row in simulated(options.rates, 1):
            print(
                f"| {row.prevalence} | {row.pairs} | {row.templates or '-'} | {row.covered:.3f} |"
            )
            missed += row.covered < MIN_COVERAGE
    print(f"{missed} under the bars of {MIN_SHARE} and {MIN_COVERAGE}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
