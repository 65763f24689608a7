"""The gap of prompts that were always answered alike: how surely it is no matter of chance."""

from math import exp


def always_alike_p(gap: float, tolerance: float, steadiness: float) -> float:
    """Return a bound on the p-value of |gap| <= tolerance where no prompt's answers ever varied.

    A prompt whose answers do vary can be answered alike a few times, and its twin, or another run,
    alike in another way: with two answers each and even odds, in one of eight cases. For a mean m
    of answers in [0, 1], all n of them equal to v, P(v)^n exp(n (v - m)) sums to at most 1 over v,
    since P(v) exp(v - m) <= P(v) exp(1 - P(v)) <= 1 and n is at least 2. So by Markov's inequality
    the probability that all prompts are answered alike and their gap is off by d is at most
    exp(-d steadiness), whatever their answers.

    Parameters
    ----------
    gap
        The gap that was seen, of prompts answered at least twice each.
    tolerance
        The largest gap that does not matter, at least 0.
    steadiness
        The least, over prompts, of the number of answers over the prompt's weight, divided by the
        range that answers to a prompt can have: here the widest that was seen within a set.

    References
    ----------
    Chernoff (1952), for bounds by exponential moments.
    """
    if abs(gap) <= tolerance:
        return 1.0
    return min(
        1.0, exp(-(abs(gap) - tolerance) * steadiness) + exp(-(abs(gap) + tolerance) * steadiness)
    )
