"""Runs on many machines: jobs on a Dask cluster, and one instance raced by its workers."""

from cchybrid.plugin import ExecutorInfo, hookimpl


@hookimpl
def cchybrid_executors() -> tuple[ExecutorInfo, ...]:
    """Return the executor of Dask clusters."""
    return (
        ExecutorInfo("dask", f"{__name__}.dask_executor:DaskExecutor", "workers of a Dask cluster",
            session=f"{__name__}.race:ClusterSession", requires=("distributed",)),
    )  # fmt: skip
