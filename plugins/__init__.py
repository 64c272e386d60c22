"""The engines that ship with cchybrid, registered as any other plugin's are."""

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engines; none of them is imported here."""
    return (
        EngineInfo(
            "classical",
            "cchybrid_plugins.classical.engine:Classical",
            "constructions from the literature: trees, rings, exchanges, dominating sets",
            kind="construction",
            priority=60,
        ),
        EngineInfo(
            "colouring",
            "cchybrid_plugins.colouring.engine:Colouring",
            "colours the conflict graph of chosen paths (DSATUR and other greedy orders)",
            priority=20,
        ),
        EngineInfo(
            "lns",
            "cchybrid_plugins.lns.engine:Lns",
            "large-neighbourhood search: CP-SAT repacks a part of the schedule, again and again",
            priority=30,
            prepares=True,
        ),
        EngineInfo(
            "broadcast",
            "cchybrid_plugins.broadcast.engine:Broadcast",
            "broadcasts: CP-SAT on flows from all that are informed, near nodes in the last steps",
            priority=40,
        ),
        EngineInfo(
            "tabu",
            "cchybrid_plugins.tabu.engine:Tabu",
            "tabu search that weighs what is violated; prices all paths at once",
            priority=50,
            prepares=True,
        ),
        EngineInfo(
            "umda",
            "cchybrid_plugins.umda.engine:Umda",
            "univariate marginal distribution algorithm with the thesis' heuristics",
            priority=10,
            # It polishes with the same tabu search, which alone is faster.
            baseline=True,
            prepares=True,
        ),
        EngineInfo(
            "hgsa",
            "cchybrid_plugins.hgsa.engine:Hgsa",
            "parallel simulated annealing with genetic operations, after Ohlidal and Schwarz",
            priority=9,
            baseline=True,
            prepares=True,
        ),
        EngineInfo(
            "random",
            "cchybrid_plugins.random_search.engine:RandomSearch",
            "the null baseline: greedy schedules in random order, or blind draws",
            priority=1,
            baseline=True,
            prepares=True,
        ),
        EngineInfo(
            "sga",
            "cchybrid_plugins.sga.engine:Sga",
            "standard genetic algorithm with the thesis' heuristics",
            priority=7,
            baseline=True,
            prepares=True,
        ),
        EngineInfo(
            "mboa",
            "cchybrid_plugins.mboa.engine:Mboa",
            "mixed Bayesian optimization algorithm with the thesis' heuristics",
            priority=8,
            baseline=True,
            prepares=True,
        ),
        EngineInfo(
            "division",
            "cchybrid_plugins.division.engine:Division",
            "recursive division of the transfers, exact where their routes are laid down",
            kind="exact",
            priority=40,
            prepares=True,
        ),
        EngineInfo(
            "cpsat",
            "cchybrid_plugins.cpsat.engine:CpSat",
            "exact: one CP-SAT decision per number of steps; finds and refutes",
            kind="exact",
            priority=50,
            prepares=True,
        ),
        EngineInfo(
            "milp",
            "cchybrid_plugins.milp.engine:Milp",
            "column generation over compatibility classes: strong bounds, schedules by diving",
            kind="exact",
            priority=10,
            baseline=True,
            prepares=True,
        ),
        EngineInfo(
            "classes",
            "cchybrid_plugins.classes.engine:Classes",
            "lists all compatibility classes and covers by the fewest (thesis section 4.2.1)",
            kind="exact",
            priority=9,
            baseline=True,
            prepares=True,
        ),
    )
