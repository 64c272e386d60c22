"""Commands in a folder of the test."""

import json

import pytest

from tests.cli.test_commands import call


@pytest.fixture
def command(tmp_path):
    """A function that runs a command, and checks its exit status."""

    def run_to_end(words, status=0):
        done = call(*words.split(), cwd=tmp_path)
        assert done.returncode == status, done.stderr
        return done

    return run_to_end


@pytest.fixture
def answer(command):
    """A function that runs a command with ``--json``, and returns what it prints."""
    return lambda words, status=0: json.loads(command(f"{words} --json", status).stdout)
