"""Sentences with numbers as newspapers, journals, memos and lists put them."""

NUMBERS: tuple[str, ...] = (
    "{rate0:.0%} of {g0} {had}; the same is true of {rate1:.0%} of {g1}.",
    "Rate for {g0}: {rate0:.1%}. Rate for {g1}: {rate1:.1%}.",
    "{had0} cases ended this way, {a} of them among {g0} and {c} among {g1}.",
    "- {g0}: {a} of {n0} ({rate0:.0%})",
    "\u2022 {g1} \u2013 {c} of {n1}, i.e. {rate1:.1%}",
    "We estimated a risk ratio of {rr:.2f} (95% CI, {rrlo:.2f}-{rrhi:.2f}; P={p}) from {n} records.",
    "Crude OR {or:.2f} (95 % CI {orlo:.2f}, {orhi:.2f}); \u03c7\u00b2(1) = {chi:.2f}, p = {p}.",
    "A total of {n} people were followed, {n0} of whom were {g0}.",
    "Out of every 100 {g0}, about {r0:.0f} {had}; out of every 100 {g1}, about {r1:.0f}.",
    "The distance between the two rates comes to {pts:.1f} percentage points.",
    "At {rate0:.1%}, {g0} are {pts:.1f} points away from {g1}, who stand at {rate1:.1%}.",
    "The confidence limits of the risk ratio are {rrlo:.2f} and {rrhi:.2f}.",
    "With 95 % confidence, the odds ratio is somewhere between {orlo:.2f} and {orhi:.2f}.",
    "Chance alone would yield a table at least this lopsided with a probability of {p}.",
    "Impact ratio: {ir:.2f} (threshold of the four-fifths rule: 0.80).",
    "{g0}: {n0} files; {g1}: {n1} files; {n} files together.",
    "Rounded to whole percentages, the two rates are {rate0:.0%} ({g0}) and {rate1:.0%} ({g1}).",
    "The figure for {g1} is {rate1:.1%}; for {g0} it is {rate0:.1%}.",
    "Among the {n1} {g1}, {d} came away with nothing and {c} {had}.",
    "Of {g0}, {rate0:.1%} {had}, and of {g1}, {rate1:.1%}.",
    "Table 1 reports {a} and {c} events, out of {n0} {g0} and {n1} {g1}.",
    "To put a number on it, the relative risk is {rr:.2f}, with anything from {rrlo:.2f} to {rrhi:.2f} still plausible at the 95 % level.",
    "The statistic (chi-square, one degree of freedom) is {chi:.2f}.",
    "An estimated odds ratio of {or:.2f} (lower limit {orlo:.2f}, upper limit {orhi:.2f}) goes with a relative risk of {rr:.2f}.",
    "P = {p} by Pearson's chi-square test.",
    "In absolute terms, {a} {g0} and {c} {g1} {had}, whereas {b} {g0} and {d} {g1} did not.",
    "{g0} {had} in {a} of {n0} cases, a rate of {rate0:.2f}.",
    "{g1}: {rate1:.3f}. {g0}: {rate0:.3f}.",
    "The share was {rate0:.1%} in the first group and {rate1:.1%} in the second.",
    "Where {g1} had a rate of {rate1:.1%}, {g0} had one of {rate0:.1%}.",
    "Sample: N = {n}; {g0}, n = {n0}; {g1}, n = {n1}.",
    "Our best estimate of the odds ratio, {or:.1f}, hides a range that reaches from {orlo:.1f} up to {orhi:.1f}.",
    "Just {c} of the {n1} {g1} in the file {had}.",
    "The four cells read {a}, {b}, {c} and {d}.",
    "{rate0:.1%} versus {rate1:.1%}: that is the contrast between {g0} and {g1}.",
    "Relative risk {rr:.2f}; odds ratio {or:.2f}; chi-square {chi:.2f}; p {p}.",
    "One finds {d} {g1} without the outcome and {b} {g0} without it.",
    "The smaller of the two rates, divided by the larger, gives {ir:.2f}; regulators ask whether that falls below 0.8.",
    "That leaves {b} {g0}, and {d} {g1}, for whom things went the other way.",
    "Measured by odds rather than rates, {g0} stand to {g1} as {or:.2f} to 1.",
    "By our count {n0} of the {n} files concern {g0}.",
    "The committee saw {n1} {g1}, of whom {rate1:.1%} {had}, and {n0} {g0}, of whom {rate0:.1%} did.",
    "Estimate (OR): {or:.3f}. Interval: {orlo:.3f} to {orhi:.3f}.",
    "Neither bound of the relative risk, {rrlo:.2f} below and {rrhi:.2f} above, is far from what one would guess.",
    "Such a statistic ({chi:.2f}) has a p-value of {p}.",
)  # fmt: skip
TIMES: tuple[str, ...] = (
    "{X} were {times} as likely as {y} {to_have}.",
    "The chance {to_have} was {times} as high for {x} as for {y}.",
    "Compared with {y}, the rate for {x} was {times} as large.",
    "For {x}, the rate is {times} that for {y}.",
    "The rate of {x} comes to {times} the rate of {y}.",
    "{X} {had} {times} as often as {y}.",
    "Among {x} the outcome is {times} as common as among {y}.",
    "Put simply, {x} stood {times} the chance of {y}.",
)
"""How many times as likely the group with more is, in words."""
PERCENT_MORE: tuple[str, ...] = (
    "{X} were {more:.0f}% more likely than {y} {to_have}.",
    "The likelihood for {x} was {more:.0f} percent higher than for {y}.",
    "{Y} were {fewer:.0f} per cent less likely than {x} {to_have}.",
    "Relative to {y}, the rate of {x} is {more:.0f} % larger.",
    "The rate of {y} is {fewer:.0f}% below that of {x}.",
)
"""Percent of the other rate, which points are mistaken for."""
POINTS: tuple[str, ...] = (
    "{X} {had} {points:.0f} percentage points more often than {y}.",
    "The rate of {x} is {points:.1f} points higher than that of {y}.",
    "{X} are ahead of {y} by {points:.1f} percentage points.",
    "A gap of {points:.1f} percentage points separates {x} from {y}.",
    "{Y} trail {x} by {points:.0f} points.",
)
"""Percentage points, which percent are mistaken for."""
SHARES: tuple[str, ...] = (
    "{Share0} {g0} {had}.",
    "Roughly {share0} {g0} {had}, compared with {share1} {g1}.",
    "About {share1} {g1} {had}.",
    "The outcome came to {share0} {g0} and to {share1} {g1}.",
    "Put in round numbers, {share1} {g1} and {share0} {g0} {had}.",
)
"""Shares in words: four in ten, a third of."""
