"""``--option ENGINE.NAME=VALUE``: reading, and checks of the names before a run."""

from collections.abc import Iterable, Mapping

from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry


def engine_options(texts: list[str]) -> dict[str, dict[str, str]]:
    """Return the options of ``--option`` by engine, designer or strategy."""
    options: dict[str, dict[str, str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        engine, dot, field = name.partition(".")
        if dot and engine and field and not equals:
            raise missing_value(engine, field)
        if not (equals and dot and engine and field):
            raise InputError(
                f"{text!r} sets no option", where="--option", hint="write ENGINE.NAME=VALUE"
            )
        chosen = options.setdefault(engine.lower(), {})
        key = field.replace("-", "_")
        if key in chosen:
            raise InputError(f"{name} is given twice", where="--option", hint="drop one of them")
        chosen[key] = value
    check_names(options)
    return options


def check_names(options: Mapping[str, Iterable[str]]) -> None:
    """Raise an ``InputError`` for an option that its engine or designer does not have.

    Parameters
    ----------
    options
        The names of the options, by engine, designer or strategy. Those whose options cannot be
        read from their source, and strategies, are checked later, by the run.
    """
    for owner, names in options.items():
        for name in names:
            _known(owner, name)


def missing_value(owner: str, name: str) -> InputError:
    """Return the error for ``ENGINE.NAME`` without a value.

    Raises
    ------
    InputError
        There is no such option, which is the worse mistake.
    """
    engine = _known(owner, name)
    return InputError(
        f"the value of {owner}.{name} is missing",
        where="--option",
        hint=f"write --option {engine}.{name}=VALUE; `{_listing(engine)}` shows the default"
        if engine
        else f"write --option {owner}.{name}=VALUE",
    )


def _known(owner: str, name: str) -> str:
    """Return the name of the engine or designer, "" for another; refuse options it lacks."""
    from cchybrid.plugin.option_names import option_names

    registry = load_registry()
    info = registry.engines.get(owner.lower()) or registry.designers.get(owner.lower())
    known = None if info is None else option_names(info.target)
    if info is None or known is None:
        return ""
    if name.replace("-", "_") not in known:
        from cchybrid.plugin.engine import no_such_option

        raise no_such_option(info.name, name, known, _listing(info.name))
    return info.name


def _listing(name: str) -> str:

    is_engine = name.lower() in load_registry().engines
    return f"cchybrid {'engines' if is_engine else 'designers'} {name}"
