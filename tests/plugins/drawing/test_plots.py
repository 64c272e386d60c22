"""Figures in Python and in notebooks."""

import pytest

import cchybrid
from cchybrid.model.errors import InputError
from tests.plugins.drawing.test_figures import SCATTER


def test_plots_are_figures():
    network = SCATTER.instance.network
    for figure in (SCATTER.plot(), SCATTER.plot(step=1), network.plot(), cchybrid.draw(network)):
        assert figure.get_axes()
    with pytest.raises(InputError, match="no step 99"):
        SCATTER.plot(step=99)


def test_an_infeasible_instance_is_plotted_as_its_network():
    arc = cchybrid.Network.from_arcs("arc", 2, [(0, 1)])
    assert cchybrid.solve(arc, "AAS").plot().get_axes()


def test_notebooks_show_the_figure():
    text = SCATTER._repr_html_()
    assert "<table" in text
    assert "<svg" in text
    assert "?xml" not in text
