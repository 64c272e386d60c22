"""The engines that ship with cchybrid, registered like those of any other plugin."""

from collections.abc import Iterable
from typing import Any, Literal

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import DesignerInfo, EngineInfo

BASELINE = {"baseline": True, "prepares": True}


def _engine(name: str, priority: int, module: str, summary: str, **rest: Any) -> EngineInfo:
    return EngineInfo(name, f"cchybrid_plugins.{module}", summary, priority=priority, **rest)


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engines; none of them is imported here."""
    return (
        _engine("classical", 60, "classical.engine:Classical", kind="construction",
            summary="constructions from the literature: trees, rings, exchanges, dominating sets"),
        _engine("colouring", 20, "colouring.engine:Colouring",
            summary="colours the conflict graph of chosen paths (DSATUR and other greedy orders)"),
        _engine("lns", 30, "lns.engine:Lns",
            "large-neighbourhood search: CP-SAT reschedules some deliveries in every iteration",
            prepares=True),
        _engine("matching", 45, "matching.engine:Matching", prepares=True, messages="forwarded",
            summary="matches messages to links step by step where messages are forwarded"),
        _engine("rounds", 44, "rounds.engine:Rounds", kind="exact", rounds="several",
            summary="exact, for steps of several rounds: a CP-SAT decision per number of steps"),
        _engine("packing", 45, "packing.engine:Packing", prepares=True, messages="direct",
            summary="scatters: fills step after step with routes that share no channel"),
        _engine("broadcast", 40, "broadcast.engine:Broadcast",
            "broadcasts: CP-SAT on flows from all informed nodes, hops limited per step",
            messages="forwarded", decides=True),
        _engine("tabu", 50, "tabu.engine:Tabu", prepares=True,
            summary="tabu search with constraint weighting; prices all paths at once"),
        # UMDA polishes with the same tabu search, which alone is faster.
        _engine("umda", 10, "umda.engine:Umda", **BASELINE,
            summary="univariate marginal distribution algorithm with the thesis' heuristics"),
        _engine("hgsa", 9, "hgsa.engine:Hgsa",
            "parallel simulated annealing with genetic operations, after Ohlidal and Schwarz",
            **BASELINE),
        _engine("random", 1, "random_search.engine:RandomSearch", **BASELINE,
            summary="the null baseline: greedy schedules in random order, or uniform samples"),
        _engine("sga", 7, "sga.engine:Sga", **BASELINE,
            summary="standard genetic algorithm with the thesis' heuristics"),
        _engine("mboa", 8, "mboa.engine:Mboa", **BASELINE,
            summary="mixed Bayesian optimization algorithm with the thesis' heuristics"),
        _engine("covering", 40, "covering.engine:Covering", kind="exact", prepares=True,
            messages="direct",
            former_names=("liquid", "division", "column-generation", "milp", "classes"),
            summary="exact: covers all deliveries by the fewest classes of compatible ones"),
        _engine("cpsat", 50, "cpsat.engine:CpSat", kind="exact", prepares=True,
            summary="exact: one CP-SAT decision per number of steps; finds and refutes"),
    )  # fmt: skip


@hookimpl
def cchybrid_designers() -> Iterable[DesignerInfo]:
    """Return the designers of networks."""
    return (
        _designer("exhaustive", 50, "exhaustive.engine:Exhaustive", "exact",
                  "lists all networks of a small order up to isomorphism"),
        _designer("cpsat-design", 45, "cpsat_design.engine:CpsatDesign", "exact",
                  "CP-SAT minimises the latencies of very small networks"),
        _designer("symmetric", 40, "symmetric.engine:Symmetric", "heuristic",
                  "Cayley graphs: circulants and others in which every node looks the same"),
        _designer("annealing", 30, "annealing.engine:Annealing", "heuristic",
                  "simulated annealing by exchanges of links, with rotations"),
        _designer("gappin", 20, "gappin.engine:Gappin", "heuristic",
                  "the genetic algorithm of the GAPPIN paper"),
    )  # fmt: skip


def _designer(
    name: str, priority: int, target: str, kind: Literal["heuristic", "exact"], summary: str
) -> DesignerInfo:
    return DesignerInfo(
        name,
        f"cchybrid_plugins.{target}",
        summary,
        kind=kind,
        priority=priority,
        prepares=kind == "heuristic",
    )
