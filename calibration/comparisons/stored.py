"""Results of shapes in files, so that a run can be gone on with and comparators run once."""

import hashlib
import inspect
import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

from calibration.comparisons.simulation import PRODUCT, Tallies
from calibration.comparisons.study import Shape
from calibration.comparisons.tallies import Tally

SOURCES = ("study.py", "simulation.py", "tallies.py", "comparators/*.py")
"""What comparators depend on, beside the file of their shape."""
MOST_COMPARED = 500
"""Runs of comparators; the product gets as many as are asked for."""


class StoredResults:
    """A folder with a file for each shape."""

    def __init__(self, folder: Path, runs: int, seed: int) -> None:
        self._folder, self._runs, self._seed = folder, runs, seed
        here = Path(__file__).parent
        files = sorted(path for pattern in SOURCES for path in here.glob(pattern))
        self._source = "\n".join(path.read_text() for path in files)
        self._made: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def runs_of(self, shape: Shape) -> int:
        """Return how many runs a shape gets."""
        return min(self._runs, shape.most_runs or self._runs)

    def compared_runs_of(self, shape: Shape) -> int:
        """Return in how many of them comparators are simulated too."""
        most = MOST_COMPARED if shape.most_runs is None else shape.most_runs // 4
        return min(self.runs_of(shape), most)

    def load(self, shape: Shape) -> Tallies:
        """Return the stored tallies of a shape; none where it or its source differs."""
        try:
            record = json.loads(self._path(shape).read_text())
        except FileNotFoundError:
            return {}
        if record["made_of"] != self._made_of(shape):
            return {}
        return {name: Tally.of(tally) for name, tally in record["tallies"].items()}

    def save(self, shape: Shape, tallies: Tallies) -> None:
        """Write the tallies of a shape."""
        record = {
            "shape": shape.name,
            "made_of": self._made_of(shape),
            "tallies": {name: asdict(tally) for name, tally in tallies.items()},
        }
        self._path(shape).write_text(json.dumps(record, indent=1) + "\n")

    def is_done(self, shape: Shape) -> bool:
        """Return whether the product was simulated in all runs."""
        tally = self.load(shape).get(PRODUCT)
        return tally is not None and tally.runs >= self.runs_of(shape)

    def comparators(self, shape: Shape) -> Tallies:
        """Return the stored tallies of comparators; none where they had too few runs."""
        found = {name: tally for name, tally in self.load(shape).items() if name != PRODUCT}
        enough = all(tally.runs >= self.compared_runs_of(shape) for tally in found.values())
        return found if enough else {}

    def _path(self, shape: Shape) -> Path:
        return self._folder / (re.sub(r"[^a-z0-9.]+", "-", shape.name.lower()) + ".shape.json")

    def _made_of(self, shape: Shape) -> str:
        if shape.name not in self._made:  # as it was when it was first asked for: files may change
            own = inspect.getsource(sys.modules[shape.draw.__module__])
            settings = f"{self._seed} {shape.tolerance} {shape.bounds}"
            text = self._source + own + settings
            self._made[shape.name] = hashlib.sha256(text.encode()).hexdigest()
        return self._made[shape.name]
