"""A stopwatch of a process: seconds of a processor, and of the wall clock without pauses."""

from cchybrid.system.stopwatch import Stopwatch
from cchybrid.system.working_time import Usage


def test_pauses_do_not_count_and_processor_seconds_never_fall():
    times = iter([10.0, 12.0, 13.0, 50.0, 54.0, 55.0])
    watch = Stopwatch(lambda: next(times))
    watch.update(Usage(True, 1.5))
    assert (watch.processor, watch.wall) == (1.5, 2.0)
    watch.pause(Usage(False, 2.0))
    watch.resume()
    assert (watch.processor, watch.wall) == (2.0, 3.0)
    watch.update(Usage(True, 0.5))  # without a child that has not been waited for
    assert (watch.processor, watch.wall) == (2.0, 7.0)
    watch.update(None)
    assert (watch.processor, watch.wall) == (2.0, 8.0)
