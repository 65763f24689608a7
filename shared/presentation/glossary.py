"""Terms of tables and pages, each in one plain line."""

GLOSSARY = {
    "gap": "The first group's mean, or rate, minus the second's.",
    "from": "The lower end of the interval: smaller values do not fit the data well.",
    "to": "The upper end of the interval: larger values do not fit the data well.",
    "verdict": "Disparity: a gap beyond the tolerance. No disparity: one within it. Inconclusive:"
    " too little data for either.",
    "summary": "The word for a comparison: the answer to its headline question, about twins, groups"
    " or the gap.",
    "found": "The one word for all comparisons of the run, and what is behind it.",
    "state": "The word for the monitor, and whether it runs.",
    "evidence": "How strongly the rounds up to now speak for a disparity, as a logarithm: 0 is"
    " nothing, and 1 more is 2.7 times stronger. It may be read at any time.",
    "needed for an alarm": "An alarm is raised when the evidence reaches this number.",
    "units": "Independent observations: prompts, sets of twins or users, with all their answers.",
    "prompts": "The questions with at least one number.",
    "missing": "Answers without a number: refused, cut off, not readable. They never count as 0.",
    "units still needed": "About how many more units a decision takes; - where it is not known.",
    "smallest change it can see": "A change of the gap over time, which needs more data than the"
    " gap itself: about half of the changes this large would have been found by now.",
    "about": "The subject of the verdict: these names and texts, the group beyond them, or users.",
    "twins": "Questions that differ in the group alone. Are they answered differently?",
    "group effect": "Does the group matter, beyond the names and texts that were drawn?",
    "adjusted p": "The probability of data like these without such a gap, after the"
    " correction for all comparisons. Small is strong.",
    "effect size": "The gap in units of the spread of the answers.",
    "constant shift": "The gap if it were the same in every set of twins; it decides nothing.",
    "impact ratio": "The smaller selection rate over the larger; below 0.8 the rule of thumb of"
    " four fifths is not met.",
    "mean": "The average over the prompts.",
    "selected": "The share that is selected, where the suite says what a selection is.",
    "rank": "1 for the largest mean, with all ranks that the group may have.",
    "shrunken mean": "The mean drawn towards that of all groups, more so with few answers; no"
    " verdict uses it.",
    "placebo": "Twins that differ in something other than the group, such as a reference number:"
    " how much their answers differ anyway.",
    "scaffold": "How a question is put to the model: directly, with reasoning first, or in several"
    " steps.",
    "epoch": "Rounds with one model and one instrument; the evidence of each begins at 0.",
    "metric": "Min/Max and Max-Min: ratio and distance of the outermost groups. Z-Score: their"
    " distance from the mean in standard deviations. Dixon Q: the distance of an outermost group to"
    " its neighbour, as a share of the range.",
    "by chance": "The median under random labels.",
    "moved by": "The later gap minus the earlier.",
    "intervals": "Apart: the gaps of both runs do not overlap, which points to a change.",
    "gap that matters most": "The comparison with an alarm, or else with the strongest evidence.",
}
