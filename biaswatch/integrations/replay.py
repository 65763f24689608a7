"""Export a log of Inspect or lm-evaluation-harness as answers that `replay:` reads."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from biaswatch.importing.log_files import LogFile
from biaswatch.integrations.formats import ExportRequest
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import not_a_file
from biaswatch.written_files import check_ending, write_atomically

EPOCH = "epoch"
KEYS = MappingFile(id=("doc.key", "id"), strata={EPOCH: (EPOCH,)})
"""The key of a probe: in the row that lm-evaluation-harness read, or the id of a sample."""
KEPT = ("text", "model", "finish_reason")


async def export(request: ExportRequest) -> str:
    """Write the answers of a log, by probe and repeat, for `--target replay:FILE`."""
    source, output = Path(request.source), Path(request.destination)
    check_ending(output, (".jsonl",))
    if why := not_a_file(source):
        raise UsageError(why)
    left_out = LeftOut()
    answers = [answer for _, answer in LogFile(source, mapping=KEYS).answers(left_out)]
    lines = list(_lines(answers))
    if not lines:
        raise UsageError(f"{source} has no answer with a text and the key of a probe.")
    write_atomically(output, "".join(json.dumps(line) + "\n" for line in lines))
    return " ".join([f"Wrote {len(lines):,} answers to {output}.", *left_out.sentences()])


def _lines(answers: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for answer in answers:
        if "text" in answer and "id" in answer:
            repeat = int(answer.get("facts", {}).get(EPOCH, "1")) - 1
            kept = {name: answer[name] for name in KEPT if name in answer}
            yield {"key": answer["id"], "repeat": repeat, **kept}
