"""All-to-all between terminals that share switches, from all-to-all between the switches."""

import pytest
from cchybrid_plugins.engines.classical.context import Context, DoesNotApplyError
from cchybrid_plugins.engines.classical.shared_switches import shared_switches

import cchybrid
from cchybrid.problem import build_problem, list_transfers
from cchybrid.referee.verify import verify


def steps_of(topology: str, collective: str = "AAS") -> int:
    instance = cchybrid.instance(topology, collective)
    problem = build_problem(instance)
    drafted, found = list_transfers(problem, shared_switches(Context(problem, 0, lambda: None)))
    assert not drafted.violations(found)
    assert verify(instance, drafted.lift(found).steps) == ()
    return found.steps


@pytest.mark.parametrize("terminals", [2, 3])
def test_hypercubes_repeat_the_exchange_of_the_switches(terminals):
    """n / 2 steps between n switches, as all channels are used in all of them."""
    switches = 8 if terminals == 3 else 16
    between = switches // 2
    alone = -(-(switches * terminals - 1) // 1)
    expected = max(terminals**2 * between, alone)
    assert steps_of(f"{terminals}-fat-hypercube-{switches}") == expected


def test_what_a_switch_has_for_itself_takes_no_step_of_its_own():
    # Spidergon-8 takes 4 steps, so 2 * 2 * 4 = 16 for two terminals; 15 is what a port needs.
    assert steps_of("2-fat-spidergon-8") == 16


@pytest.mark.parametrize(
    ("topology", "collective", "reason"),
    [
        ("hypercube-8", "AAS", "attached to exactly one switch"),
        ("b-tree-8", "AAB", "several destinations"),
        ("2-fat-hypercube-8", "OAS", "not one message from every"),
        ("clos-8", "AAS", "one switch|no construction applies|one terminal"),
    ],
)
def test_it_says_why_it_does_not_apply(topology, collective, reason):
    with pytest.raises(DoesNotApplyError, match=reason):
        steps_of(topology, collective)
