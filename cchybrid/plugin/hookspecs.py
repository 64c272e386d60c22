"""The hooks that a plugin may implement.

A plugin is a module (or object) with functions marked ``@hookimpl``, named by an entry point in
the group ``cchybrid``. ``docs/hooks.md`` has a complete example of every hook.
"""

from collections.abc import Iterable

import pluggy

from cchybrid.plugin import records

hookspec = pluggy.HookspecMarker("cchybrid")
hookimpl = pluggy.HookimplMarker("cchybrid")


class HookSpecs:
    """The hooks; each is called once, when the registry is loaded, and returns records."""

    @hookspec
    def cchybrid_engines(self) -> Iterable[records.EngineInfo]:  # type: ignore[empty-body]
        """Return engines; their code is imported only in their own worker processes."""

    @hookspec
    def cchybrid_topologies(self) -> Iterable[records.TopologyInfo]:  # type: ignore[empty-body]
        """Return families of networks by name."""

    @hookspec
    def cchybrid_collectives(self) -> Iterable[records.CollectiveInfo]:  # type: ignore[empty-body]
        """Return collectives by name."""

    @hookspec
    def cchybrid_bounds(self) -> Iterable[records.BoundInfo]:  # type: ignore[empty-body]
        """Return bound providers; every bound is checked before it counts."""

    @hookspec
    def cchybrid_exporters(self) -> Iterable[records.ExporterInfo]:  # type: ignore[empty-body]
        """Return export formats for verified schedules."""

    @hookspec
    def cchybrid_importers(self) -> Iterable[records.ImporterInfo]:  # type: ignore[empty-body]
        """Return formats of other tools' schedules that can be read and audited."""

    @hookspec
    def cchybrid_strategies(self) -> Iterable[records.StrategyInfo]:  # type: ignore[empty-body]
        """Return strategies; their code is imported only in runs that use them."""

    @hookspec
    def cchybrid_designers(self) -> Iterable[records.DesignerInfo]:  # type: ignore[empty-body]
        """Return designers; their code is imported only in their own worker processes."""

    @hookspec
    def cchybrid_cost_terms(self) -> Iterable[records.CostTermInfo]:  # type: ignore[empty-body]
        """Return cost terms of network design."""

    @hookspec
    def cchybrid_executors(self) -> Iterable[records.ExecutorInfo]:  # type: ignore[empty-body]
        """Return executors; their code is imported only where they are used."""

    @hookspec
    def cchybrid_commands(self) -> Iterable[records.CommandInfo]:  # type: ignore[empty-body]
        """Return commands; their code is imported only where they are called."""

    @hookspec
    def cchybrid_checks(self) -> Iterable[records.CheckInfo]:  # type: ignore[empty-body]
        """Return checks of files; their code is imported only where such a file is checked."""

    @hookspec
    def cchybrid_names(self) -> Iterable[records.NameInfo]:  # type: ignore[empty-body]
        """Return names of ``import cchybrid``; their code is imported when they are first used."""

    @hookspec
    def cchybrid_plugins(self) -> Iterable[str]:  # type: ignore[empty-body]
        """Return modules that are plugins themselves, such as the others of one distribution."""

    @hookspec
    def cchybrid_benchmarks(self) -> Iterable[records.BenchmarkKind]:  # type: ignore[empty-body]
        """Return kinds of benchmarks; their code is imported only where a suite has such rows."""

    @hookspec
    def cchybrid_proof_formats(self) -> Iterable[records.ProofFormatInfo]:  # type: ignore[empty-body]
        """Return formats of proofs for checkers of other projects, as options of ``prove``."""

    @hookspec
    def cchybrid_observers(self) -> Iterable[records.Observer]:  # type: ignore[empty-body]
        """Return functions that are called with every verified event of every run."""
