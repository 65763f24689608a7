"""Sentences of HolisticBias: every descriptor in every template."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from biaswatch.published.choices import Wording
from biaswatch.shared.contracts import SuiteProbe
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import read_text
from biaswatch.shared.parsing import json_in

NOUNS = ("person", "people")
"""The noun after a descriptor; the paper uses all of its nouns."""
ONE, SEVERAL = "{noun_phrase}", "{plural_noun_phrase}"


def holistic_bias_probes(files: Mapping[str, Path], _: Wording) -> Iterator[SuiteProbe]:
    """Yield a sentence for every template and descriptor.

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
    except UsageError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise UsageError(f"{folder} has not the form of HolisticBias ({error!r}).") from None


def _json_of(files: Mapping[str, Path], name: str) -> Any:
    return json_in(read_text(files[name], "HolisticBias"))


def _descriptors(axes: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield axis, bucket, descriptor and article of each descriptor."""
    for axis, buckets in axes.items():
        for bucket, descriptors in buckets.items():
            for descriptor in descriptors:
                fields = {"descriptor": descriptor} if isinstance(descriptor, str) else descriptor
                word = str(fields["descriptor"])
                article = fields.get("article") or ("an" if word[0].lower() in "aeiou" else "a")
                yield axis, bucket, word, str(article)
