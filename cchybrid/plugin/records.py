"""The typed records that plugins register by the hooks of ``hookspecs``."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Protocol

from cchybrid.library.records import API, CollectiveInfo, Roles, TopologyInfo
from cchybrid.model.errors import PluginError
from cchybrid.model.instance import Horizon
from cchybrid.plugin.expressed import FEATURES
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.proof.records import BoundFunction, BoundInfo, later, load_target

__all__ = [
    "API", "KINDS", "BenchmarkKind", "BoundFunction", "BoundInfo", "CheckInfo", "CollectiveInfo",
    "CommandInfo", "CostTermInfo", "DesignerInfo", "EngineInfo", "ExecutorInfo", "ExporterInfo",
    "ImporterInfo", "NameInfo", "Observer", "ProofFormatInfo", "Roles", "StrategyInfo",
    "TopologyInfo", "later", "load_target",
]  # fmt: skip

Kind = Literal["heuristic", "exact", "construction"]
Messages = Literal["any", "forwarded", "hop by hop", "direct"]
Rounds = Literal["one", "several", "any"]
KINDS: tuple[Kind, ...] = ("heuristic", "exact", "construction")


@dataclass(frozen=True)
class _Later:
    """A record of something that is imported only where it is used."""

    name: str
    target: str
    summary: str
    _: KW_ONLY
    api: int = API


@dataclass(frozen=True, kw_only=True)
class EngineInfo(_Later):
    """An engine: an optimizer that offers assignments and may prove bounds.

    Parameters
    ----------
    name
        The name for ``--engine``: one word, neither the name of a strategy nor ``prover``.
    target
        ``package.module:Class``, imported only in the engine's own worker process.
    summary
        One line, shown by ``cchybrid engines``.
    kind
        ``heuristic``: finds schedules. ``exact``: may also report bounds without evidence.
        ``construction``: ends by itself within about a second.
    priority
        Engines of one kind are tried in descending priority, those of equal priority by name;
        external ones after those of cchybrid, whatever their priority.
    baseline
        Whether the engine is only for comparison: it takes part only if it is named.
    prepares
        Whether the engine has a method ``prepare``, which compiles kernels. ``cchybrid warm-up``,
        or else the first run, compiles them once per installation, outside the time limit. An
        engine whose ``prepare`` raises, ends its process or takes longer than 120 seconds, without
        those of waiting for a processor, takes no part in the run.
    messages
        ``forwarded``: the engine works only where some messages are forwarded; ``hop by hop``: only
        where that is store-and-forward switching; ``direct``: only where none is; ``any``: in all
        cases. The strategy ``auto`` starts it nowhere else.
    decides
        Whether a heuristic decides by large models whether there is a schedule of the fewest open
        number of steps. The strategy ``auto`` gives it more time where messages are forwarded and
        the gap is one or two steps.
    rounds
        ``one``: the engine works where every step has one round, and gets no other Problem;
        ``several``: only where steps have several (``Problem.rounds``); ``any``: in both cases.
    horizons
        What steps may be in the Problems that the engine gets (``Problem.horizon``): ``steps``, the
        ``slots`` of a period, ``ticks``.
    former_names
        Names that the engine had before: they still work wherever an engine is named, and the
        first use of each prints one line with the present name. No other engine may have them.
    requires
        Distributions that it needs besides those of cchybrid, for information: they are neither
        imported nor checked.
    external
        Whether another distribution than cchybrid registers the engine. The registry sets it.
    api
        The version of the plugin interface that the engine was written for.
    """

    kind: Kind = "heuristic"
    priority: int = 0
    baseline: bool = False
    prepares: bool = False
    messages: Messages = "any"
    decides: bool = False
    rounds: Rounds = "one"
    horizons: tuple[Horizon, ...] = ("steps",)
    former_names: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    external: bool = False

    @property
    def proves(self) -> bool:
        """Whether the engine may report bounds."""
        return self.kind == "exact"


class StrategyInfo(_Later):
    """A strategy: it decides which engines work when, on what, and with how many threads.

    Parameters
    ----------
    name
        The name for ``--strategy``: one word, neither the name of an engine nor ``prover``.
    target
        ``package.module:object``, imported only where it is used: a
        ``cchybrid.plugin.strategy.Strategy``.
    summary
        One line.
    api
        The version of the plugin interface that the strategy was written for.
    """


@dataclass(frozen=True, kw_only=True)
class DesignerInfo(_Later):
    """A designer: an optimizer that searches for networks of low cost.

    Parameters
    ----------
    name
        The name for ``--designer``.
    target
        ``package.module:Class``, imported only in the designer's own worker process; a class as
        ``cchybrid_plugins.design.network.designer.Designer``.
    summary
        One line, shown by ``cchybrid designers``.
    kind
        ``heuristic``: finds networks. ``exact``: if it ends with ``Stop.EXHAUSTED``, no network has
        a lower cost than the best one that it has offered.
    priority
        Designers are tried in descending priority, those of equal priority by name.
    prepares
        Whether the designer has a method ``prepare()`` that compiles its kernels, so that
        ``cchybrid warm-up`` calls it. If it has one, every run calls it before the search.
    requires
        Distributions that it needs besides those of cchybrid, for information.
    api
        The version of the plugin interface that the designer was written for.
    """

    kind: Literal["heuristic", "exact"] = "heuristic"
    priority: int = 0
    prepares: bool = False
    requires: tuple[str, ...] = ()

    @property
    def proves(self) -> bool:
        """Whether the designer may claim that no network is better."""
        return self.kind == "exact"


@dataclass(frozen=True, kw_only=True)
class CostTermInfo(_Later):
    """A cost term of network design.

    Parameters
    ----------
    name
        The name for ``--cost``.
    target
        ``package.module:function``, imported where costs are computed. The function gets a
        ``DesignTask`` and the ports, shape (n, d), and returns a number, or a tuple of numbers for
        several terms, which is computed once; infinity rules a network out.
    summary
        What is measured, with the unit; one line, shown by ``cchybrid designers``.
    maximised
        Whether larger values are better.
    index
        The place of the term in the tuple.
    api
        The version of the plugin interface that the term was written for.
    """

    maximised: bool = False
    index: int = 0


@dataclass(frozen=True)
class ExporterInfo:
    """An export format.

    Parameters
    ----------
    name
        The name for ``--to``.
    export
        ``export(schedule)`` returns the text of a verified schedule.
    summary
        One line, for the reference.
    sized
        Whether the format states the sizes of messages: ``export(schedule, size)`` is called where
        the user gives a size, in bytes.
    expresses
        The features of schedules (``cchybrid.plugin.expressed.FEATURES``) that the format expresses
        or states. A schedule with any other feature is refused before ``export`` is called. Without
        any, it gets wormhole schedules of whole messages on shortest paths only, over channels of
        capacity 1, with all ports.
    api
        The version of the plugin interface that the format was written for.
    """

    name: str
    export: Callable[..., str]
    summary: str
    _: KW_ONLY
    sized: bool = False
    expresses: tuple[str, ...] = ()
    api: int = API

    def __post_init__(self) -> None:
        unknown = sorted(set(self.expresses) - FEATURES)
        if unknown:
            raise PluginError(f"exporter {self.name}: no feature is called {unknown[0]!r:.60}")


@dataclass(frozen=True)
class ImporterInfo:
    """A format of other tools that can be read.

    Parameters
    ----------
    name
        The name for ``--from``.
    recognises
        ``recognises(text)`` tells whether a file's text is of this format, quickly: it gets the
        first 64 KiB. The importers are asked in the order of their names.
    read
        ``read(text, request)`` returns what the file says, as an ``Imported``. It raises an
        ``InputError`` (one line: what, where) for a file that it cannot read, or mean.
    summary
        One line, for the reference.
    api
        The version of the plugin interface that the importer was written for.
    """

    name: str
    recognises: Callable[[str], bool]
    read: Callable[[str, ImportRequest], Imported]
    summary: str
    api: int = API


class ProofFormatInfo(_Later):
    """A format of proofs for checkers of other projects, which is an option of ``prove``.

    Parameters
    ----------
    name
        The name of the option, one word; its value is the folder to write.
    target
        ``package.module:function``, imported only where it is used: ``write(instance, certificate,
        folder, seconds)`` gets the JSON objects of the instance and of a certificate that the
        checker has accepted, and returns the paths of the files that it has written. It raises an
        ``InputError`` for a claim that the format cannot express: the certificate is written and
        shown nevertheless, and the exit status is 2.
    summary
        One line, shown by ``cchybrid prove --help``.
    api
        The version of the plugin interface that the format was written for.
    """


@dataclass(frozen=True, kw_only=True)
class ExecutorInfo(_Later):
    """An executor: it runs the jobs of ``bench run`` and ``solve`` on this machine or on others.

    Parameters
    ----------
    name
        The name for ``--executor``.
    target
        ``package.module:Class``, imported only where it is used; a class as
        ``cchybrid.plugin.executor.Executor``, which gets an ``ExecutorSettings``.
    summary
        One line, shown by ``cchybrid plugins``.
    session
        ``package.module:Class``, by which ``solve`` runs on the machines of any executor: a
        ``cchybrid.host.session.Session`` that gets the executor first. The first executor with one
        is that of ``--cluster`` alone.
    requires
        Distributions that it needs besides those of cchybrid, for information.
    api
        The version of the plugin interface that the executor was written for.
    """

    session: str = ""
    requires: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CommandInfo(_Later):
    """A command of the command line, or a group of commands.

    Parameters
    ----------
    name
        The name after ``cchybrid``.
    target
        ``package.module:object``, imported only where the command is called: a function with the
        annotations of Typer, or a ``typer.Typer`` with commands of its own.
    summary
        One line, shown by ``cchybrid --help``.
    group
        The heading below which ``cchybrid --help`` shows it.
    api
        The version of the plugin interface that the command was written for.
    """

    group: str = "Commands of plugins"


@dataclass(frozen=True, kw_only=True)
class CheckInfo(_Later):
    """A check of files that need no certificate beside them, for ``cchybrid check FILE``.

    Parameters
    ----------
    name
        The ``format`` of the JSON object in such a file.
    target
        ``package.module:function``, imported only where it is used. ``function(path, record,
        explain, as_json)`` gets the JSON object of the file, prints the verdict, and returns
        whether it holds (exit status 0 or 1); with ``explain`` it prints the argument, too, with
        ``as_json`` one JSON object instead.
    summary
        One line, shown by ``cchybrid plugins``.
    folder
        Whether a folder is checked in which some file has this format: the function gets the path
        of the folder, and the object of that file.
    api
        The version of the plugin interface that the check was written for.
    """

    folder: bool = False


@dataclass(frozen=True)
class NameInfo:
    """A name of ``import cchybrid``, such as a function or a class.

    Parameters
    ----------
    name
        The attribute of ``cchybrid``.
    target
        ``package.module:object``, imported when the attribute is first used.
    summary
        One line.
    api
        The version of the plugin interface that the name was written for.
    """

    name: str
    target: str
    summary: str = ""
    _: KW_ONLY
    api: int = API


@dataclass(frozen=True, kw_only=True)
class BenchmarkKind(_Later):
    """A kind of benchmarks.

    Parameters
    ----------
    name
        The name in messages, in the plural.
    target
        ``package.module:Class``, imported only where a suite has such rows; a subclass of
        ``cchybrid.plugin.benchmark.Benchmark``.
    summary
        One line, shown by ``cchybrid plugins``.
    tables
        The keys of its tables in the TOML file of a suite; the name by default.
    key
        The key that no JSON object of another kind's rows has; the name by default.
    api
        The version of the plugin interface that the kind was written for.
    """

    tables: tuple[str, ...] = ()
    key: str = ""

    @property
    def table_keys(self) -> tuple[str, ...]:
        """The keys of its tables in a suite."""
        return self.tables or (self.name,)

    @property
    def row_key(self) -> str:
        """The key by which the JSON objects of its rows are recognised."""
        return self.key or self.name


class Observer(Protocol):
    """A function that is called with every event of a run, in order, after verification.

    An event is a mapping with at least ``event`` (its kind) and ``seconds`` (since the start);
    ``docs/hooks.md`` lists the kinds.
    """

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Process one event; after an exception the observer is removed and the run continues."""
