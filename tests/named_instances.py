"""Instances by a few words, for tables of tests."""

import cchybrid
from cchybrid.model import Instance


def named(words: str) -> Instance:
    """Return an instance from its network, its collective and options, as in ``ring-6 AAB root=1``.

    ``hops`` stands for store-and-forward switching.
    """
    network, collective, *more = words.replace("hops", "switching=store-and-forward").split()
    options = dict(each.split("=") for each in more)
    return cchybrid.instance(
        network, collective, **{k: int(v) if v.isdigit() else v for k, v in options.items()}
    )
