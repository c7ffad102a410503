"""Starts Dask on SLURM for `nox -s cohort`, and ends it with Ctrl-C. `--help` tells the options; see ../cohort.md.

Run it in this repository's folder, which all nodes have to share, on a node that the others can reach.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import time

from dask_jobqueue import SLURMCluster

LOGS = ".kata/slurm"  # of the jobs; git ignores it
ROUND = 30  # seconds until SLURM is asked again which jobs it has


def main() -> None:
    parser = argparse.ArgumentParser(description="Starts Dask on SLURM for `nox -s cohort`, and ends it with Ctrl-C.")
    parser.add_argument("--jobs", type=int, default=4, metavar="N", help="how many jobs; default: 4")
    parser.add_argument(
        "--processors",
        type=int,
        default=16,
        metavar="N",
        help="processors of a job, with a worker on each; default: 16",
    )
    parser.add_argument(
        "--memory", default="64GB", metavar="SIZE", help="memory of a job, 4 GB for each worker; default: 64GB"
    )
    parser.add_argument("--walltime", default="02:00:00", metavar="TIME", help="time limit of a job; default: 02:00:00")
    parser.add_argument("--queue", metavar="NAME", help="SLURM's partition; default: SLURM's")
    parser.add_argument("--account", metavar="NAME", help="SLURM's account; default: SLURM's")
    parser.add_argument("--interface", metavar="NAME", help="the network between the nodes, such as ib0")
    parser.add_argument("--port", type=int, default=8786, help="the scheduler's port; default: 8786")
    options = parser.parse_args()
    try:
        cluster = started(options)
    except (RuntimeError, ValueError) as error:
        sys.exit(f"error: Dask's scheduler cannot start ({error}); try another --port, --interface or --memory")
    with cluster, contextlib.suppress(KeyboardInterrupt):
        refused = asked("sbatch", "--test-only", text=cluster.job_script())
        if refused.returncode:
            sys.exit(f"error: SLURM takes no such job: {refused.stderr.strip().splitlines()[0]}")
        print(f"nox -s cohort -- LEARNERS --out RESULTS --scheduler {cluster.scheduler_address}", flush=True)
        while True:
            send(cluster, options.jobs)
            time.sleep(ROUND)


def started(options: argparse.Namespace) -> SLURMCluster:
    """A scheduler without workers. Raises: RuntimeError, ValueError."""
    return SLURMCluster(
        cores=options.processors,
        processes=options.processors,
        memory=options.memory,
        walltime=options.walltime,
        queue=options.queue,
        account=options.account,
        interface=options.interface,
        python=sys.executable,
        log_directory=LOGS,
        scheduler_options={"port": options.port, "dashboard_address": ":0"},
    )


def send(cluster: SLURMCluster, jobs: int) -> None:
    """Sends as many jobs as SLURM has not, so also one in the place of each that it ended."""
    listed = asked("squeue", "--noheader", "--me", "--format", "%A")
    if listed.returncode == 0:  # else SLURM is away, and comes back
        known = listed.stdout.split()
        for name in [name for name, job in cluster.workers.items() if job.job_id not in known]:
            del cluster.workers[name]
        cluster.scale(jobs=jobs)


def asked(*command: str, text: str = "") -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        sys.exit(f"error: {command[0]} cannot be run ({error.strerror}); run this where SLURM is")


if __name__ == "__main__":
    main()
