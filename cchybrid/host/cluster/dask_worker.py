"""The plugin of Dask's workers that declares their threads as a resource."""

from __future__ import annotations

from distributed import Worker, WorkerPlugin


class ThreadsAsResource(WorkerPlugin):
    """Declares the threads of every worker as a resource, as soon as it connects.

    Parameters
    ----------
    resource
        The name of the resource.
    """

    def __init__(self, resource: str) -> None:
        self._resource = resource

    async def setup(self, worker: Worker) -> None:
        """Declare the resource."""
        await worker.set_resources(**{self._resource: worker.state.nthreads})
