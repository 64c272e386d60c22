"""Tests of benchmarks of designs need the feature ``bench``."""

from tests.present import present

collect_ignore = [] if present("bench run") else ["test_benchmark.py"]
