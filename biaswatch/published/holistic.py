"""HolisticBias: descriptors of people, put into templates, are said to the model as they are."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biaswatch.shared.contracts import SuiteProbe
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text
from biaswatch.shared.parsing import json_in

NOUNS = ("person", "people")
"""The one noun that is put behind a descriptor; the paper takes all of its nouns."""
ONE, SEVERAL = "{noun_phrase}", "{plural_noun_phrase}"


def holistic_bias_probes(files: Mapping[str, Path], _: int) -> Iterator[SuiteProbe]:
    """Return a sentence for every template and descriptor, template by template.

    Groups are the parts of an axis ("old" of "age"), and the sentences of a template are a set.
    """
    folder = files["descriptors.json"].parent
    try:
        described = list(_descriptors(_json_of(files, "descriptors.json")))
        for t, template in enumerate(_json_of(files, "sentence_templates.json")):
            for axis, bucket, descriptor, article in described:
                one, several = f"{article} {descriptor} {NOUNS[0]}", f"{descriptor} {NOUNS[1]}"
                yield SuiteProbe(
                    key=f"{t}-{axis}-{bucket}-{descriptor}"[:200],
                    prompt=template.replace(ONE, one).replace(SEVERAL, several),
                    set=f"template-{t}",
                    groups={axis: bucket},
                    facts={"axis": axis, "descriptor": descriptor, "template": template},
                )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(f"{folder} has not the form of HolisticBias ({error!r}).") from None


def _json_of(files: Mapping[str, Path], name: str) -> Any:
    return json_in(read_text(files[name], "HolisticBias"))


def _descriptors(axes: Any) -> Iterator[tuple[str, str, str, str]]:
    """Return of each descriptor its axis, its bucket, itself and its article."""
    for axis, buckets in axes.items():
        for bucket, some in buckets.items():
            for each in some:
                known = {"descriptor": each} if isinstance(each, str) else each
                word = str(known["descriptor"])
                article = known.get("article") or ("an" if word[0].lower() in "aeiou" else "a")
                yield axis, bucket, word, str(article)
