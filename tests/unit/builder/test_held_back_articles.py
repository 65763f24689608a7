"""Six articles full of markup: none of it reaches a prompt, and the rest is counted."""

import asyncio
import re
import zlib
from pathlib import Path

import pytest

from biaswatch.building.build import BuiltSuite
from biaswatch.building.composition import build_of
from biaswatch.building.pdf_text import passages_of_pages, passages_of_pdf
from biaswatch.building.plan import Plan
from biaswatch.building.settings import BuilderSettings
from tests.unit.builder.pdf_files import pdf_of, pdf_of_streams, stream_of

PROSE = [
    "The harbour of Velmora opens every spring, when the ice on the lake has melted.",
    "Farmers in Velmora sell barley to the mills and buy tools from the smiths of the coast.",
    "A council of nine members decides how the taxes of Velmora are spent each year.",
]
"""The sentences that every article contains as prose."""
MARKDOWN = f"""---
title: Velmora
tags: [land, sea]
---
# Velmora

{PROSE[0]}[^one]

| Town | What Velmora exports |
|:-----|---------------------:|
| Orm  | Velmora exports **salt** and wool to its neighbours. |

1. Velmora has three regions:
   - the coast of Velmora, with its ports and its mild winters;
     * the islands of Velmora, where people fish all year.

```python
velmora = "The land of Velmora is printed by this line of code."
```

> **Farmers** in *Velmora* sell [barley](https://example.org "Barley (grain)") to the mills
> and buy tools from the smiths of the coast.

![A map of Velmora](map.png)
*Figure 1: The regions of Velmora in the year of the census.*

<!-- The editors of Velmora should check this sentence again. -->

{PROSE[2]}

[^one]: The records of Velmora are kept by the harbour master.
"""
MIXED = f"""Velmora
=======

Contents: [History](#history) | [Trade](#trade) | [Notes](#notes)

**Climate**: {PROSE[0]}

!!! tip "Velmora"
    They are closed in winter.

See <https://velmora.example.org> for the taxes of Velmora.

- [ ] Velmora should publish its statistics of the climate.
- [x] Velmora has published its map.

Term
: The people of Velmora use this word for a valley.

{PROSE[1]}

<div class="box"><table><tr><td>Velmora has a table in HTML, too.</td></tr></table></div>

    $ velmora --list shows all the ports of Velmora

The formula $v = \\frac{{m}}{{n}}$ counts the mills of Velmora by town.

***

{PROSE[2]} <sup>[2]</sup>
"""
PAGE = f"""<!doctype html><html><head><title>Velmora</title><style>p{{color:red}}</style>
<script>var velmora = "Velmora is in a script and must not be read.";</script></head><body>
<nav><a href="/">Home</a><a href="/velmora">All about Velmora and its ports and mills.</a></nav>
<header><h1>Velmora</h1><p>Velmora is the newspaper that you read every day.</p></header>
<div role="dialog"><p>Velmora uses cookies on this page.</p></div><input hidden>
<p hidden>Velmora is hidden.</p><p style="display: none">Velmora cannot be seen.</p>
<main><p>{PROSE[0]}<sup class="reference"><a href="#n1">[1]</a></sup></p>
<figure><img src="x.png" alt="Velmora in winter"><figcaption>The lake of Velmora is frozen until
the spring of every year.</figcaption></figure>
<p><b>Farmers</b> in <a href="/v">Velmora</a> sell barley to the mills&nbsp;and buy tools from the
smiths of the coast.<br>{PROSE[2]}</p>
<ul><li>Velmora has boats.<ul><li>Most boats of Velmora are small and made of oak.</li></ul>
</li></ul><table><caption>Mills of Velmora</caption><tr><td>Velmora has 40 mills.</td></tr></table>
<pre>velmora --help shows how Velmora is used.</pre></main>
<aside>Read also: how Velmora was found by sailors.</aside>
<footer>Velmora Media is responsible for these pages.</footer></body></html>"""
SOUP = f"""<div><p>{PROSE[0]}<p>Farmers in Velmora sell barley to the mills and buy tools from the
smiths of the coast.<div><h2>Council<p>{PROSE[2]}<ol><li>Velmora was founded by a king.
<li>Velmora was lost by another.</ol><form><label>Search Velmora<input></label></form>
<p>Press <kbd>Velmora</kbd> to see the <code>&lt;port&gt;</code> of Velmora.
<blockquote><ul><li>Velmora is quoted here.</ul></blockquote><dl><dt>Velmora<dd>It is a land."""
NARROW = [
    ["The harbour of Velmora opens every", "spring, when the ice on the lake has", "melted."],
    [
        "Farmers in Velmora sell barley to the",
        "mills and buy tools from the smiths of",
        "the coast.",
    ],
]
HYPHENS = [
    "VELMORA IN NUMBERS",
    "The harbour of Velmora opens every spring, when the ice on the la-",
    "ke has melted. Farmers in Velmora sell barley to the mills and buy",
    "tools from the smiths of the coast. A council of nine mem-",
    "bers decides how the taxes of Velmora are spent each year.",
    "Figure 2. The taxes of Velmora in the years of the council.",
    "* Velmora has ports, mills and smiths in all of its regions.",
]
MARKUP = re.compile(r"[*_`#|<>\[\]{}~^$\\]|\]\(|&\w+;|https?:")


def columns_pdf() -> bytes:
    """Return a page with two columns, one after the other, and a paragraph below them."""
    shown = [
        f"BT /F1 11 Tf {60 + 260 * column} {740 - 14 * row} Td ({line}) Tj ET"
        for column, lines in enumerate(NARROW)
        for row, line in enumerate(lines)
    ]
    shown.append(f"BT /F1 11 Tf 60 600 Td ({PROSE[2]}) Tj ET")
    return pdf_of_streams([stream_of(zlib.compress(" ".join(shown).encode("ascii")))])


def across_pdf() -> bytes:
    """Return a page whose lines are drawn across two columns, with a bullet drawn at the end."""
    left = [*NARROW[0], "and the ships can leave.", "The lake of Velmora is deep and", "cold."]
    right = [*NARROW[1], "The council of Velmora has nine", "members.", "Velmora has boats."]
    shown = [
        f"BT /F1 11 Tf {x} {740 - 14 * row} Td ({line}) Tj ET"
        for row, pair in enumerate(zip(left, right, strict=True))
        for x, line in zip((60, 330), pair, strict=True)
    ]
    shown.append(f"BT /F1 11 Tf 320 {740 - 14 * 5} Td (*) Tj ET")
    return pdf_of_streams([stream_of(zlib.compress(" ".join(shown).encode("ascii")))])


def built(folder: Path, name: str) -> BuiltSuite:
    """Build a suite from one of the articles."""
    texts = {"a.md": MARKDOWN, "b.md": MIXED, "c.html": PAGE, "d.html": SOUP}
    pages = {"e.pdf": columns_pdf(), "f.pdf": pdf_of([[*HYPHENS, f"{n}"] for n in (1, 2, 3)])}
    (folder / name).write_bytes(pages[name] if name in pages else texts[name].encode())
    plan = Plan.model_validate(
        {
            "name": "trial", "domain": "lands", "extractors": ["words"], "nearness": "lexical",
            "concepts": [{
                "name": "Velmora", "keywords": {"by_hand": ["Velmora"]},
                "sources": [{"kind": "files", "path": name}],
            }],
            "prompts": {"kind": "templates", "template": "Go on: {sentence}"},
        }
    )  # fmt: skip
    return asyncio.run(build_of(plan, folder, BuilderSettings())())


def test_columns_whose_lines_are_drawn_alternately_are_read_one_after_the_other() -> None:
    passages = passages_of_pdf(across_pdf(), "across.pdf")
    assert [passage.text for passage in passages if passage.left_out == "list entry"] == [
        "* Velmora has boats."
    ]
    text = " ".join(passage.text for passage in passages if passage.left_out is None)
    assert PROSE[1] in text
    assert "melted. and the ships can leave. The lake of Velmora is deep and cold." in text


def test_hyphens_of_other_kinds_and_headers_of_two_lines_are_removed() -> None:
    prose = ["bour of Velmora opens in spring, and its smiths re\u00ad", "turn then."]
    pages = [
        "\n".join([f"{town} has a har\u2010", *prose, "Report, volume 3", f"Page {n} of 2"])
        for n, town in enumerate(("Orm", "Lund"), start=1)
    ]
    passages = list(passages_of_pages(pages))
    assert [passage.left_out for passage in passages].count("header or footer") == 4
    text = " ".join(passage.text for passage in passages if passage.left_out is None)
    assert text.count("bour of Velmora opens in spring, and its smiths return then.") == 2


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("a.md", {"table": 4, "list entry": 3, "code": 1, "caption": 1, "footnote": 1}),
        ("b.md", {"table": 1, "list entry": 3, "code": 1, "contains markup or code": 3}),
        ("c.html", {"navigation": 4, "list entry": 1, "caption": 1, "table": 1, "code": 1}),
        ("d.html", {"heading": 1, "list entry": 5, "contains markup or code": 1}),
        ("e.pdf", {}),
        ("f.pdf", {"caption": 3, "list entry": 3}),
    ],
)
def test_the_prose_is_found_without_markup_and_the_rest_is_counted(
    tmp_path: Path, name: str, counted: dict[str, int]
) -> None:
    suite = built(tmp_path, name)
    texts = {str(row[column]) for row in suite.rows for column in ("prompt", "baseline")}
    counts = suite.build_log.counts().get("sources", {})
    assert [text for text in texts if MARKUP.search(text)] == []
    assert {row["baseline"] for row in suite.rows} == set(PROSE), counts
    assert {reason: counts.get(reason) for reason in counted} == counted
