"""The docstrings of the interface for plugins describe all that its page leaves to them."""

import dataclasses
import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString

MODULES = (
    "cchybrid.plugin", "cchybrid.plugin.benchmark", "cchybrid.plugin.benchmark_report",
    "cchybrid.plugin.conformance", "cchybrid.plugin.imported", "cchybrid.plugin.strategy",
    "cchybrid.problem",
)  # fmt: skip
"""The modules that authors of plugins import."""
if find_spec("cchybrid_plugins.design") is not None:  # a plugin, which can be deleted
    MODULES += tuple(
        f"cchybrid_plugins.design.network.{name}" for name in ("designer", "local_run", "task")
    )


def public_classes() -> Iterator[type]:
    """Yield the classes of the interface."""
    for name in MODULES:
        module = import_module(name)
        for each in getattr(module, "__all__", vars(module)):
            value = getattr(module, each)
            is_public = hasattr(module, "__all__") or getattr(value, "__module__", "") == name
            if is_public and inspect.isclass(value) and not each.startswith("_"):
                yield value


CLASSES = sorted({*public_classes()}, key=lambda each: (each.__module__, each.__name__))


def described(owner: type) -> set[str]:
    """Return the fields that the docstrings of a class and of its bases describe."""
    found = set()
    for base in owner.__mro__[:-1]:
        text = NumpyDocString(inspect.cleandoc(base.__doc__ or ""))
        for entry in (*text["Parameters"], *text["Attributes"]):
            if any(entry.desc):
                found |= {*entry.name.split(", ")}
    return found


def attributes(owner: Any) -> set[str]:
    """Return the public fields of a record, and the attributes that a protocol declares."""
    if dataclasses.is_dataclass(owner):
        names = {field.name for field in dataclasses.fields(owner)}
    elif issubclass(owner, tuple):
        names = {*getattr(owner, "_fields", ())}
    else:
        is_protocol = getattr(owner, "_is_protocol", False)
        names = {*inspect.get_annotations(owner)} if is_protocol else set()
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("owner", CLASSES, ids=lambda owner: owner.__name__)
def test_docstrings_describe_the_fields_and_methods_of_a_class_and_no_others(owner):
    assert attributes(owner) - described(owner) == set()
    if dataclasses.is_dataclass(owner):
        assert {name for name in described(owner) if not hasattr(owner, name)} <= attributes(owner)
    for name, value in vars(owner).items():
        if not name.startswith("_") and inspect.isfunction(value):
            assert inspect.getdoc(value), name
