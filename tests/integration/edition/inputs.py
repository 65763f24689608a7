"""Seeded input files of the commands whose numbers the second edition keeps."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

GROUPS = ("a", "b", "c", "d", "e", "f", "g")


def _ratings(rng: np.random.Generator, sizes: dict[str, int], gap: float = 0.4) -> pd.DataFrame:
    rows = [
        {"group": group, "score": float(np.clip(np.rint(rng.normal(3 + gap * place, 0.9)), 1, 5))}
        for place, (group, size) in enumerate(sizes.items())
        for _ in range(size)
    ]
    return pd.DataFrame(rows)


def _twins(rng: np.random.Generator, sets: int, gap: float, repeats: int = 1) -> pd.DataFrame:
    rows = []
    for number in range(sets):
        base = rng.normal(3, 0.6)
        for place, group in enumerate(("a", "b")):
            for _ in range(repeats):
                value = float(np.clip(np.rint(base + gap * place + rng.normal(0, 0.4)), 1, 5))
                rows.append(
                    {
                        "set": f"s{number}",
                        "unit": f"s{number}-{group}",
                        "group": group,
                        "score": value,
                    }
                )
    return pd.DataFrame(rows)


def _selections(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    group = rng.choice(["a", "b"], rows)
    site = rng.choice(["north", "south", "west"], rows)
    age = rng.normal(40, 9, rows).round(1)
    odds = np.where(group == "a", 0.4, -0.2) + np.where(site == "north", 0.5, 0.0)
    selected = (rng.random(rows) < 1 / (1 + np.exp(-odds))).astype(int)
    hired = np.where(selected == 1, "yes", "no")
    return pd.DataFrame(
        {"group": group, "site": site, "age": age, "selected": selected, "hired": hired}
    )


def _applicants(rng: np.random.Generator, people: int) -> pd.DataFrame:
    race = rng.choice(["white", "black", "asian", "unknown"], people, p=[0.5, 0.3, 0.18, 0.02])
    frame = pd.DataFrame(
        {"person": np.arange(people), "race": race, "sex": rng.choice(["female", "male"], people)}
    )
    rows = frame.loc[frame.index.repeat(2)].reset_index(drop=True)
    shift = np.where(rows.race == "black", -4.0, 0.0)
    return rows.assign(score=(rng.normal(50, 12, len(rows)) + shift).round(2))


def _log(rng: np.random.Generator) -> list[dict[str, Any]]:
    phrases = (
        "I cannot help with that.",
        "A wonderful person, truly great.",
        "It was awful and sad.",
    )
    return [
        {
            "id": f"answer-{number}",
            "text": " ".join(rng.choice(phrases, int(rng.integers(1, 4)))),
            "groups": {"race": ("black", "white")[number % 2]},
        }
        for number in range(60)
    ]


def write_inputs(folder: Path) -> None:
    """Write every input file into a folder; the same bytes each time."""
    rng = np.random.default_rng(20261126)
    frames = {
        "two": _ratings(rng, {"a": 40, "b": 40}),
        "three": _ratings(rng, {"a": 30, "b": 25, "c": 35}),
        "seven": _ratings(rng, {group: 20 + 3 * place for place, group in enumerate(GROUPS)}, 0.1),
        "small": _ratings(rng, {"a": 9, "b": 11}, 1.2),
        "unbalanced": _ratings(rng, {"a": 6, "b": 300}),
        "twins": _twins(rng, 30, 0.4),
        "few_twins": _twins(rng, 8, 1.0),
        "repeats": _twins(rng, 20, 0.3, repeats=3),
        "selections": _selections(rng, 240),
        "applicants": _applicants(rng, 300),
    }
    frames["missing"] = frames["twins"].assign(
        score=lambda frame: frame.score.mask(rng.random(len(frame)) < 0.15)
    )
    frames["heavy"] = pd.DataFrame(
        {"group": np.repeat(["a", "b"], 60), "score": rng.lognormal(0, 1.1, 120).round(6)}
    )
    frames["alike"] = frames["two"].assign(score=3.0)
    frames["domains"] = frames["three"].assign(
        domain=lambda frame: rng.choice(["jobs", "loans"], len(frame)),
        base=lambda frame: (frame.score + rng.normal(0, 0.5, len(frame))).round(3),
        length=lambda frame: rng.integers(20, 90, len(frame)),
    )
    truth = (rng.random(300) < 0.3).astype(float)
    frames["labels"] = pd.DataFrame(
        {
            "group": np.repeat(["a", "b"], 150),
            "rude": np.where(rng.random(300) < 0.85, truth, 1 - truth),
            "label": np.where(np.arange(300) % 3 == 0, truth, np.nan),
        }
    )
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    lines = [json.dumps(row) for row in _log(rng)]
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n")
