"""The catalogue of methods: the question each answers, its source, and where its error is measured.

The tables of methods in docs/statistics.md are generated from it, by `make contracts`.
"""

from dataclasses import dataclass

COMPARISONS = "comparisons"
GROUPS = "groups"
LABELS = "labels"
STUDIES = "studies"
TABLES = "tables"
ANYTIME = "anytime"


@dataclass(frozen=True)
class Method:
    """A method and the question it answers."""

    section: str
    """Package of the method, and section of the page."""
    question: str
    method: str
    function: str
    """Module and function or class, below `shared/stats`."""
    reference: str
    """The literature the method comes from."""
    calibration: str
    """Test or simulation that measures its error, below `tests` or in `calibration`."""


CATALOGUE: tuple[Method, ...] = (
    Method(
        COMPARISONS,
        "Do the means of two groups differ by more than a tolerance, or by less?",
        "bounded means for few, flat or skew values of a known range; else Student's t with a test"
        " of labels; pairs and single units joined",
        "comparisons.gap_test.compare_samples",
        "Gaffke 2005; Zou and Donner 2008; Student 1908; Stouffer et al. 1949; Schuirmann 1987",
        "calibration/comparisons, every shape",
    ),
    Method(
        COMPARISONS,
        "The same of exactly these prompts (`claim: bank`)?",
        "Student's t over answers within prompts, else bounded means; a bound where none vary",
        "comparisons.fixed_prompts.fixed_prompts_gap",
        "Cochran 1977, 5.3; Satterthwaite 1946; Chernoff 1952",
        "calibration/comparisons, shapes/banks",
    ),
    Method(
        COMPARISONS,
        "How large is the mean of a group?",
        "one side of the curve of a gap",
        "comparisons.mean_interval.mean_interval",
        "Gaffke 2005; Student 1908",
        "tests/calibration/test_mean_intervals.py",
    ),
    Method(
        COMPARISONS,
        "How large is the share of a group that is selected, and the ratio of two shares?",
        "mid-p Clopper-Pearson for whole units; delta interval on the logarithm of the ratio",
        "comparisons.mean_interval.impact_ratio_of_means",
        "Clopper and Pearson 1934; Lancaster 1961; Katz et al. 1978",
        "tests/calibration/test_mean_intervals.py",
    ),
    Method(
        COMPARISONS,
        "Did a mean, or a gap, change between two runs?",
        "comparison of pairs of runs; on a bank, a gap of halves; curves of two gaps joined where"
        " prompts differ",
        "comparisons.changes.gap_change",
        "Zou and Donner 2008",
        "tests/calibration/test_run_changes.py",
    ),
    Method(
        COMPARISONS,
        "Does exchanging the labels change the difference of means (permutation test)?",
        "all relabellings up to 10,000, else random ones",
        "comparisons.relabelling.label_permutation",
        "Fisher 1935; Phipson and Smyth 2010",
        "tests/calibration/test_inference.py",
    ),
    Method(
        COMPARISONS,
        "The same at any size, without random numbers?",
        "saddlepoint approximation of all relabellings or sign flips",
        "comparisons.label_tests.exchange_p",
        "Skovgaard 1987; Lugannani and Rice 1980",
        "tests/calibration/test_exact_sizes.py",
    ),
    Method(
        COMPARISONS,
        "Are the values of one group larger by rank?",
        "Mann-Whitney's U: exact, normal with ties, or permuted",
        "comparisons.ranks.mann_whitney",
        "Mann and Whitney 1947; Lehmann 1975",
        "tests/calibration/test_inference.py",
    ),
    Method(
        COMPARISONS,
        "How large is a difference in units of spread?",
        "Hedges' g, d_z for pairs; interval by the noncentral t",
        "comparisons.effect_size.hedges_g",
        "Hedges 1981; Cohen 1988; Steiger and Fouladi 1997",
        "tests/calibration/test_inference.py",
    ),
    Method(
        COMPARISONS,
        "Which comparisons of a family remain after correction?",
        "Bonferroni, Holm, Benjamini-Hochberg, Benjamini-Yekutieli",
        "comparisons.multiplicity.adjust",
        "Dunn 1961; Holm 1979; Benjamini and Hochberg 1995; Benjamini and Yekutieli 2001",
        "tests/calibration/test_inference.py",
    ),
    Method(
        COMPARISONS,
        "Do groups miss the same share of answers?",
        "chi-square, Fisher's test, or random tables with the same margins",
        "comparisons.missingness.missingness",
        "Pearson 1900; Fisher 1935; Wilson 1927",
        "tests/calibration/test_inference.py",
    ),
    Method(
        COMPARISONS,
        "How many prompts and repeats detect a gap?",
        "simulation of the test itself",
        "comparisons.planned_power.simulated_power",
        "Cohen 1988",
        "tests/calibration/test_planned_power.py",
    ),
    Method(
        COMPARISONS,
        "Which of these follow from the sums of a large table alone?",
        "Student's t from sums",
        "comparisons.gaps_from_sums.gap_from_sums",
        "Student 1908; Zou and Donner 2008",
        "tests/calibration/test_same_data.py",
    ),
    Method(
        GROUPS,
        "How are the values of a group distributed?",
        "mean, spread, shape, quantiles, mode, selection rates; against a baseline: divergence,"
        " correlation, precision",
        "groups.summary.summarise",
        "Joanes and Gill 1998; Hyndman and Fan 1996; Lin 1991; Kendall 1945",
        "tests/unit/stats/test_summary_golden.py",
    ),
    Method(
        GROUPS,
        "How far apart are all groups of a dimension?",
        "range, ratio, standard deviation, Z-scores, Dixon's Q",
        "groups.disparity.disparities",
        "Dixon 1950; Rorabacher 1991; Shiffler 1988",
        "tests/unit/stats/test_summary_golden.py",
    ),
    Method(
        GROUPS,
        "How far apart would chance put them?",
        "random exchanges of labels within sets",
        "groups.null_disparities.disparity_null",
        "Phipson and Smyth 2010",
        "tests/calibration/test_label_permutations.py",
    ),
    Method(
        GROUPS,
        "Does any mean of several groups differ?",
        "Welch-type statistic, labels permuted",
        "groups.overall.overall_test",
        "Welch 1951; Pauly, Brunner and Konietschke 2015",
        "tests/calibration/test_overall.py",
    ),
    Method(
        GROUPS,
        "How precise are means that share sets, and what do they borrow from one another?",
        "cluster-robust covariance; empirical Bayes",
        "groups.group_means.shrunken_means",
        "Liang and Zeger 1986; Morris 1983; Paule and Mandel 1982; Evans et al. 2018",
        "tests/unit/stats/test_shrunken_means.py",
    ),
    Method(
        GROUPS,
        "Which ranks of groups are compatible with the data?",
        "simultaneous intervals of all differences",
        "groups.mean_ranks.ranks_of_means",
        "Mogstad, Romano, Shaikh and Wilhelm 2024",
        "tests/calibration/test_mean_ranks.py",
    ),
    Method(
        LABELS,
        "How large is a gap after correction of the instrument by labels?",
        "prediction-powered inference with power tuning",
        "labels.corrected_gap.corrected_gap",
        "Angelopoulos, Duchi and Zrnic 2023; Zrnic and Candes 2024",
        "tests/calibration/test_labels.py",
    ),
    Method(
        LABELS,
        "How large is the ratio of two corrected rates?",
        "Fieller's interval with the curves of corrected gaps",
        "labels.corrected_gap.corrected_ratio",
        "Fieller 1954",
        "tests/calibration/test_labels.py",
    ),
    Method(
        LABELS,
        "How large is the corrected gap of a monitor, at every look?",
        "bets on pairs of label less reading plus mean reading",
        "labels.running_gap.running_gap",
        "Zrnic and Candes 2024; Waudby-Smith and Ramdas 2024",
        "tests/calibration/test_running_gaps.py",
    ),
    Method(
        LABELS,
        "Which answers should be labelled, and how many?",
        "sequential Poisson sampling by uncertainty",
        "labels.sampling.inclusion",
        "Ohlsson 1998; Särndal, Swensson and Wretman 1992",
        "tests/calibration/test_labels.py",
    ),
    Method(
        LABELS,
        "Do people agree, and does anyone answer at random?",
        "Krippendorff's alpha with a jackknife interval; exchange of a person's labels",
        "labels.agreement.agreement",
        "Krippendorff 2011; Efron and Tibshirani 1993",
        "tests/unit/stats/test_agreement.py",
    ),
    Method(
        LABELS,
        "How wrong is an instrument in each group?",
        "weighted bias, absolute error, sensitivity, specificity",
        "labels.agreement.instrument_error",
        "Särndal, Swensson and Wretman 1992, 5.7",
        "tests/unit/stats/test_instrument_error.py",
    ),
    Method(
        TABLES,
        "Are two groups and an outcome independent?",
        "chi-square or Fisher's test by the margins; Boschloo's test",
        "tables.two_by_two.two_by_two",
        "Pearson 1900; Fisher 1935; Boschloo 1970; Cochran 1954",
        "tests/calibration/test_tables.py",
    ),
    Method(
        TABLES,
        "How large are odds ratio, relative risk and risk difference?",
        "Woolf, exact conditional; Katz or score; Newcombe",
        "tables.risks.relative_risk",
        "Woolf 1955; Cornfield 1956; Katz et al. 1978; Miettinen and Nurminen 1985; Newcombe 1998",
        "tests/calibration/test_tables.py",
    ),
    Method(
        TABLES,
        "Does an association hold within strata?",
        "Mantel-Haenszel, CMH, Breslow-Day with Tarone's correction",
        "tables.stratified.stratified",
        "Mantel and Haenszel 1959; Robins, Breslow and Greenland 1986; Tarone 1985",
        "tests/calibration/test_tables.py",
    ),
    Method(
        TABLES,
        "How large is the odds ratio with covariates held equal?",
        "logistic regression, Wald interval",
        "tables.odds_ratio.adjusted_odds_ratio",
        "Hosmer and Lemeshow 2000",
        "tests/unit/stats/test_stratified.py",
    ),
    Method(
        STUDIES,
        "Do two models differ on pairs of questions?",
        "McNemar's exact test, Holm",
        "studies.answer_pairs.paired_table",
        "McNemar 1947; Edwards 1948",
        "tests/calibration/test_tables.py",
    ),
    Method(
        STUDIES,
        "How biased are the answers to BBQ?",
        "accuracy, s_DIS, bias; bootstrap of contexts; exchange of models",
        "studies.bbq_intervals.with_intervals",
        "Parrish et al. 2022; Efron and Tibshirani 1993; Good 2005",
        "tests/unit/stats/test_bbq_intervals.py",
    ),
    Method(
        STUDIES,
        "How far apart are ratings of the same CVs under different names?",
        "total bias, quality, consistency; exchange of names within CVs",
        "studies.hiring.total_bias",
        "Fisher 1935",
        "tests/calibration/test_hiring_audit.py",
    ),
    Method(
        STUDIES,
        "Which impact ratios does Local Law 144 require?",
        "selection or scoring rates over the highest",
        "studies.local_law_144.impact_tables",
        "Rules of the City of New York, 6, 5-301",
        "tests/unit/stats/test_local_law_144.py",
    ),
    Method(
        STUDIES,
        "How high is the score of a published benchmark?",
        "the paper's definition, interval over its independent units",
        "studies.published_choices.mean_score",
        "Nangia et al. 2020; Nadeem et al. 2021; Zhao et al. 2018",
        "tests/unit/published/test_published.py",
    ),
    Method(
        ANYTIME,
        "Does the gap of twins exceed the tolerance, at any look?",
        "fixed bets on histograms of differences",
        "anytime.pair_histograms.PairHistograms",
        "Waudby-Smith and Ramdas 2024; Chugg et al. 2023",
        "tests/calibration/test_anytime.py",
    ),
    Method(
        ANYTIME,
        "The same of two groups without twins?",
        "bets on both means, lowest over the common level",
        "anytime.two_groups.TwoHistograms",
        "Waudby-Smith and Ramdas 2024; Wasserman, Ramdas and Balakrishnan 2020",
        "tests/calibration/test_anytime.py",
    ),
    Method(
        ANYTIME,
        "The same of selections within prompts?",
        "conditional mixture of odds ratios; McNemar's pairs mixed over shares",
        "anytime.odds.CommonOdds",
        "Fisher 1935; Robbins 1970; Ville 1939",
        "tests/calibration/test_anytime.py",
    ),
    Method(
        ANYTIME,
        "The same of users of production traffic?",
        "matches of users in time",
        "anytime.matching.matches_in_time",
        "Rosenbaum 1991",
        "tests/calibration/test_traffic.py",
    ),
    Method(
        ANYTIME,
        "Is a selection rate below four fifths of another?",
        "bets on the ratio of selected shares",
        "anytime.four_fifths.SelectionShares",
        "29 CFR 1607.4 D; Chugg et al. 2023",
        "tests/calibration/test_selections.py",
    ),
    Method(
        ANYTIME,
        "Did a gap or a level change, at any round?",
        "bets against confidence sequences as references, beginning at any round",
        "anytime.change_search.References",
        "Shin, Ramdas and Rinaldo 2024; Shekhar and Ramdas 2023",
        "tests/calibration/test_monitors.py",
    ),
    Method(
        ANYTIME,
        "Which verdict does the evidence allow now, and when may it decide?",
        "e-process against the tolerance, confidence sequence within it; forecast by multiples",
        "anytime.judging.judge",
        "Ville 1939; Wang and Ramdas 2022 for e-BH",
        "tests/calibration/test_monitors.py",
    ),
    Method(
        ANYTIME,
        "How many units does a monitor need?",
        "simulation of monitors until they alarm",
        "anytime.planning.plan_gap",
        "Wald 1947",
        "tests/calibration/test_incomplete_rounds.py",
    ),
)
