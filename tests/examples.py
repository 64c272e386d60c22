"""The number of examples of a property, by the profile of hypothesis that the run has."""

from hypothesis import HealthCheck, settings


def examples(number: int) -> int:
    """Return ``number`` in the long run, otherwise the same share of it for every property."""
    return number * settings.default.max_examples // 100


def drawn(number: int) -> settings:
    """Return settings for as many examples, the same ones in every run."""
    return settings(
        max_examples=examples(number), derandomize=True, suppress_health_check=list(HealthCheck)
    )
