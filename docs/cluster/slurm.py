"""Starts Dask on SLURM for `nox -s cohort`, and ends it with Ctrl-C. `--help` tells the options; see ../cohort.md.

Run it in this repository's folder, which all nodes have to share, on a node that the others can reach.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys

from dask_jobqueue import SLURMCluster


def main() -> None:
    parser = argparse.ArgumentParser(description="Starts Dask on SLURM for `nox -s cohort`, and ends it with Ctrl-C.")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="default: 4")
    parser.add_argument("--processors", type=int, default=16, metavar="N", help="of a job, each a worker; default: 16")
    parser.add_argument("--memory", default="64GB", metavar="SIZE", help="of a job, 4 GB a worker; default: 64GB")
    parser.add_argument("--walltime", default="02:00:00", metavar="TIME", help="of a job; default: 02:00:00")
    parser.add_argument("--queue", metavar="NAME", help="SLURM's partition; default: SLURM's")
    parser.add_argument("--account", metavar="NAME", help="default: SLURM's")
    parser.add_argument("--interface", metavar="NAME", help="the network between the nodes, such as ib0")
    parser.add_argument("--port", type=int, default=8786, help="of the scheduler; default: 8786")
    options = parser.parse_args()
    cluster = SLURMCluster(
        cores=options.processors,
        processes=options.processors,
        memory=options.memory,
        walltime=options.walltime,
        queue=options.queue,
        account=options.account,
        interface=options.interface,
        python=sys.executable,
        scheduler_options={"port": options.port, "dashboard_address": None},
    )
    with cluster, contextlib.suppress(KeyboardInterrupt):
        cluster.scale(jobs=options.jobs)
        print(f"nox -s cohort -- LEARNERS --out RESULTS --scheduler {cluster.scheduler_address}", flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
