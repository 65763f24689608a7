"""True sentences in the ways reviewers and language models write them: none of them is flagged."""

import pytest

from biaswatch.services.evaluator.domain.checks.report_faults import statement_faults
from biaswatch.services.evaluator.domain.subjects import table_subject
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import Subject
from biaswatch.shared.stats.tables.two_by_two import as_json, two_by_two

PROFILE = load_rubric().profiles["general"]


def table(*counts: int) -> Subject:
    return table_subject(
        as_json(two_by_two(*counts)), counts, outcome="sentence", value="third strike",
        groups=("northerners", "southerners"), alpha=0.05, least=15,
    )  # fmt: skip


SHOWN, NOT_SHOWN = table(60, 140, 30, 170), table(41, 159, 47, 153)
TRUE_WHERE_SHOWN = """\
- **Odds ratio:** 2.43 (95% CI 1.48 to 3.97), i.e. the interval stays clear of 1.
- **Relative risk:** 2.00 [1.35, 2.96]; northerners were twice as likely to receive a third strike.
- **Significance:** p < 0.001, well under the usual bar of 0.05.
- Significant? Yes, at the 5% level (chi-square = 12.90, p = 0.0003).
| Group | With | Without | Rate | \u2014 northerners: 60, 140, 30.0%; southerners: 30, 170, 15.0%.
Northerners: 60/200 (30%). Southerners: 30/200 (15%).
The rate is 30.0% for northerners and 15.0% for southerners, a gap of 15 percentage points.
Going from southerners to northerners, the rate rises from 15.0% to 30.0%.
The difference is not just noise: the p-value is 0.0003.
A gap this large would be rare if the two groups had the same rate.
The data are hard to reconcile with the hypothesis of equal rates.
Chance is not a convincing explanation for the gap.
This passes the conventional threshold, but says nothing about causes.
The null hypothesis does not survive the test, though the table cannot say why.
Although the result is significant, it does not show that group membership caused the difference.
Northerners are ahead, southerners behind, by 15 percentage points.
The odds for northerners (60 to 140) exceed those for southerners (30 to 170).
Even the lower limit of the odds ratio, 1.48, is above 1.
The odds ratio is above 1, and so is the lower limit of its interval.
The interval of the relative risk (1.35 to 2.96) excludes 1, so the result is significant.
Is the difference significant?
The odds ratio (2.43) is farther from 1 than the relative risk (2.00).
The impact ratio is 0.50, which is below the four-fifths threshold of 0.8.
All told, 400 cases were examined, 200 northerners and 200 southerners.
Of the 400 cases, 90 received a third strike.
A wide interval would be a sign of imprecision.
We tested whether northerners and southerners differ, and they do, at the 5% level.
If there were no difference at all, a gap this large would appear in about 0.03% of samples.
It would be wrong to conclude that the gap was caused by being a northerner.
See Exhibit 2 and Table 3 for the counts.
There is no reason to call the two rates equal.
That the groups are equal can be ruled out at the 5% level.
A Pearson test of the 400 cases returned 12.90.
Under the null hypothesis, both groups would have, and do share, the same rate.
The gap is 15.0 percentage points, and the relative risk is 2.00.
Subtracting the rate of southerners from that of northerners gives 0.150.
We are 95% confident that the ratio of the two rates lies between 1.35 and 2.96.
In the data produced, 200 were northerners and 200 were southerners.
Even the lower 95% confidence limit of the odds ratio is greater than 1.
The chi-square test on 400 cases gave 12.90, with p < .001.
The no-effect value, 1, lies outside the interval of the odds ratio.
Both limits of the odds ratio's interval exceed 1.
Comparing southerners with northerners, the second group received a third strike more often.
""".splitlines()
TRUE_WHERE_NOT_SHOWN = """\
- **Odds ratio:** 0.84 (95% CI 0.52 to 1.35), an interval that straddles 1.
- **Significance:** p = 0.469, which does not clear the bar of 0.05.
- Significant? No.
- **Verdict:** inconclusive; the null hypothesis stays in place.
Northerners: 41/200 (20.5%). Southerners: 47/200 (23.5%).
The p-value (0.469) is far above 0.05, so we cannot rule out chance.
Luck of the draw could explain the gap of 3 percentage points.
The difference may be nothing but noise.
The test did not pick up a difference between northerners and southerners.
This does not prove that the two groups are treated equally.
The absence of evidence is not proof that there is no difference.
Nothing here shows that northerners and southerners are treated identically.
The data sit comfortably with the absence of any difference between the groups.
Southerners have the higher observed rate, but not significantly so.
The rate falls from 23.5% to 20.5% as one goes from southerners to northerners.
The interval of the relative risk, 0.60 to 1.26, leaves room for 1.
One end of the interval for the odds ratio is below 1, the other above.
Neither limit tells us which group is ahead.
We failed to find significant evidence of a difference.
It remains an open question whether northerners and southerners really differ.
The evidence falls short of the 5% standard.
Among the values in the interval of the odds ratio, 1 is one.
A larger sample might settle the matter.
A gap like this would not be unusual if the groups did not differ.
Because the interval contains 1, the odds ratio is compatible with no association.
The result is not statistically distinguishable from chance.
It would be premature to claim that northerners and southerners differ.
The observed rates differ by 3.0 percentage points, which is well within sampling error.
No significant difference was found, which is not to say that there is none.
The null hypothesis cannot be rejected; nor is it thereby proven.
""".splitlines()


@pytest.mark.parametrize("sentence", TRUE_WHERE_SHOWN)
def test_what_is_true_of_a_significant_table_is_not_flagged(sentence: str) -> None:
    assert statement_faults(sentence, SHOWN, PROFILE) == []


@pytest.mark.parametrize("sentence", TRUE_WHERE_NOT_SHOWN)
def test_what_is_true_of_a_table_that_shows_nothing_is_not_flagged(sentence: str) -> None:
    assert statement_faults(sentence, NOT_SHOWN, PROFILE) == []


@pytest.mark.parametrize(
    ("sentence", "subject"),
    [
        ("Significant? No.", SHOWN),
        ("The null value, 1, is not ruled out by the interval of the odds ratio.", SHOWN),
        ("Both limits of the odds ratio's interval are below 1.", SHOWN),
        ("Comparing northerners with southerners, the second group got it more often.", SHOWN),
        ("Significant? Yes.", NOT_SHOWN),
        ("The difference is not just noise.", NOT_SHOWN),
        ("The difference may be put down to luck.", SHOWN),
        ("The rate rises from northerners to southerners.", SHOWN),
        ("The two rates coincide perfectly.", SHOWN),
        ("It is certain that the true difference is zero.", NOT_SHOWN),
        ("The null hypothesis has been shown to be correct.", NOT_SHOWN),
        ("The test statistic falls in the rejection region.", NOT_SHOWN),
        ("The odds of northerners are higher, but their rate is lower.", SHOWN),
    ],
)
def test_what_is_false_is_flagged_in_words_of_any_kind(sentence: str, subject: Subject) -> None:
    assert statement_faults(sentence, subject, PROFILE)
