"""The one check of alpha: 1 minus a coverage, or the share of false alarms."""


def check_alpha(alpha: float) -> None:
    """Raise ValueError, with one sentence, unless alpha lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha:g}, but it has to lie between 0 and 1.")
