"""The published BBQ answers of UnifiedQA, as BBQ's scores read them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biaswatch.shared.stats.studies.bbq import BbqAnswer, BbqOption, biased_option, target_option

OPTIONS = ("ans0", "ans1", "ans2")


def published_answers(folder: Path, category: str, model: str) -> list[BbqAnswer]:
    """Return the answers of a category by `arc` or `race`, from a folder of recorded data."""
    templates = by_template(folder, category, model)
    return [answer for answers in templates.values() for answer in answers]


def by_template(folder: Path, category: str, model: str) -> Mapping[str, list[BbqAnswer]]:
    """Return the answers of each template."""
    templates: dict[str, list[BbqAnswer]] = {}
    for line in (folder / f"preds_{category}.jsonl").read_text().splitlines():
        row = json.loads(line)
        templates.setdefault(row["question_index"], []).append(_answer(row, model))
    return templates


def _answer(row: dict[str, Any], model: str) -> BbqAnswer:
    options = [BbqOption(*row["answer_info"][option]) for option in OPTIONS]
    unknown = [option.group for option in options].index("unknown")
    stereotyped = row["additional_metadata"]["stereotyped_groups"]
    target = target_option(row["category"], options, stereotyped)
    texts = [row[option].strip().casefold() for option in OPTIONS]
    prediction = row[f"unifiedqa-t5-11b_pred_{model}"].strip().casefold()
    return BbqAnswer(
        condition=row["context_condition"],
        label=row["label"],
        unknown=unknown,
        biased=biased_option(target, unknown, row["question_polarity"]),
        prediction=texts.index(prediction) if prediction in texts else None,
    )
