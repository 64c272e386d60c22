"""A process that fails to build a Problem, as the environment variable CCHYBRID_FAULT says."""

import json
import os
import resource
import signal
import sys
import time

from cchybrid.host import problem_builder
from cchybrid.system.processes import die_with_parent


def main() -> None:
    """Fail."""
    fault = os.environ["CCHYBRID_FAULT"]
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "disk":
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        problem_builder.main()
    job = json.loads(sys.stdin.readline())
    if fault == "half":
        os.write(job["problem"], bytes(8) + b"\x01" * 10_000)
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "hang":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        die_with_parent()
        while os.getppid() != 1:  # 1: the parent had ended before
            time.sleep(0.1)


if __name__ == "__main__":
    main()
