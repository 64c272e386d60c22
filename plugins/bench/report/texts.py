"""The texts of the sections of a report, from the template ``texts.j2``."""

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from cchybrid.model.shown import counted

from .significance import NOT_SHOWN, PENALTY, UNLIKE


@cache
def _macros() -> Any:
    environment = Environment(undefined=StrictUndefined, autoescape=False)
    environment.filters["counted"] = counted
    environment.globals |= {"not_shown": NOT_SHOWN, "penalty": PENALTY, "unlike": UNLIKE}
    text = (files(__package__) / "texts.j2").read_text(encoding="utf-8")
    return environment.from_string(text).module


def text_of(macro: str, **values: Any) -> str:
    """Return the text of a macro of the template as one line."""
    return " ".join(str(getattr(_macros(), macro)(**values)).split())
