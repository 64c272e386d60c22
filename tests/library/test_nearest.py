"""The known name that a misspelt one probably means."""

from cchybrid.library.nearest import MAX_LENGTH, did_you_mean, nearest


def test_a_long_name_is_like_none() -> None:
    """A name may come from a file and have any length; comparing would take seconds."""
    known = ["a" * MAX_LENGTH]
    assert nearest("a" * MAX_LENGTH, known) == known[0]
    assert nearest("a" * (MAX_LENGTH + 1), known) is None
    assert did_you_mean("a" * 10**7, known, "use another") == "use another"
