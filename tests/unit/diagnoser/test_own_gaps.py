"""The instrument's own gap is put beside the right gap, with the right sign."""

from biaswatch.shared.analysis.findings import FindingKey, RunFinding, with_own_gaps
from biaswatch.shared.contracts import Estimate, Gap, MissingTest, OwnGap, Verdict


def finding(a: str, b: str) -> RunFinding:
    gap = Gap(a=a, b=b, gap=Estimate(value=1), verdict=Verdict.INCONCLUSIVE)
    question = FindingKey("t", "direct", "vader", "sentiment", "race")
    return RunFinding(question, (), (gap,), (), MissingTest(), 1)


def own(feature: str = "sentiment") -> OwnGap:
    gap = Estimate(value=0.25, low=-0.5, high=1.0)
    return OwnGap(feature=feature, dimension="race", a="Asian", b="white", gap=gap)


def test_names_agree_whatever_their_case_and_order() -> None:
    [straight] = with_own_gaps(finding("asian", "white"), [own()]).gaps
    assert straight.instrument == Estimate(value=0.25, low=-0.5, high=1.0)
    [turned] = with_own_gaps(finding("White", "asian"), [own()]).gaps
    assert turned.instrument == Estimate(value=-0.25, low=-1.0, high=0.5)


def test_what_was_not_calibrated_has_none() -> None:
    for known in ([], [own("toxicity")]):
        assert with_own_gaps(finding("asian", "white"), known).gaps[0].instrument is None
    assert with_own_gaps(finding("asian", "black"), [own()]).gaps[0].instrument is None
