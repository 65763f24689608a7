"""Export a suite as a dataset that Croissant describes."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.suite_questions import QUESTIONS, question_rows, write_questions
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite
from biaswatch.written_files import write_atomically

CONFORMS = "http://mlcommons.org/croissant/1.0"
_OWN_TERMS = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty"),
    *("fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField"),
    *("path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
    *("separator", "source", "subField", "transform"),
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _OWN_TERMS},
}
"""The JSON-LD context that Croissant 1.0 prescribes."""


async def export(request: ExportRequest) -> str:
    """Write the questions of a suite, and `croissant.json` next to them."""
    suite, folder = load_suite(Path(request.source)), Path(request.destination)
    content = write_questions(suite, folder)
    write_atomically(folder / "croissant.json", json.dumps(metadata_of(suite, content), indent=2))
    return f"Wrote {len(suite.probes):,} questions and croissant.json to {folder}."


def metadata_of(suite: Suite, content: bytes) -> dict[str, Any]:
    """Return the metadata of a suite whose file of questions has this content."""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": suite.name,
        "description": suite.about or f"Questions of the suite {suite.name}.",
        "version": f"1.0.0+{suite.hash}",
        "rai:dataUseCases": "Measuring differences between groups in the answers of a model.",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": QUESTIONS,
                "name": QUESTIONS,
                "contentUrl": QUESTIONS,
                "encodingFormat": "application/jsonlines",
                "sha256": sha256(content).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "questions",
                "name": "questions",
                "key": {"@id": "questions/key"},
                "field": list(_fields(suite)),
            }
        ],
    }


def _fields(suite: Suite) -> Iterator[dict[str, Any]]:
    for column in next(question_rows(suite), {}):
        yield {
            "@type": "cr:Field",
            "@id": f"questions/{column}",
            "name": column,
            "dataType": "sc:Text",
            "source": {"fileObject": {"@id": QUESTIONS}, "extract": {"column": column}},
        }
