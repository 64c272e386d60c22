"""Options out of range are refused with the name of the option."""

import pytest
from cchybrid_plugins.engines.cpsat.engine import CpSat
from cchybrid_plugins.engines.lns.engine import Lns

from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import read_options


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "9" * 5000, "\u0663", "", "true"])
@pytest.mark.parametrize(("kind", "name"), [(CpSat.Options, "draws"), (Lns.Options, "units")])
def test_texts_that_are_no_number_of_an_option(kind, name, text):
    with pytest.raises(InputError, match=rf"--option it\.{name}: .* is not an? (integer|number)"):
        read_options("it", kind, {name: text})


def test_a_number_of_an_option_has_a_largest_value():
    read_options("it", CpSat.Options, {"draws": str(1 << 53)})
    with pytest.raises(InputError, match="is not an integer of at most 9007199254740992"):
        read_options("it", CpSat.Options, {"draws": str((1 << 53) + 1)})
