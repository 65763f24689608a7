"""All drills, by family."""

from drills import (
    archives,
    buses,
    clocks,
    databases,
    disks,
    fuzzing,
    hostile,
    limits,
    processes,
    readiness,
    secrets,
)

DRILLS = (
    *processes.DRILLS, *databases.DRILLS, *hostile.DRILLS, *limits.DRILLS, *clocks.DRILLS,
    *buses.DRILLS, *archives.DRILLS, *disks.DRILLS, *secrets.DRILLS,
    *readiness.DRILLS, *fuzzing.DRILLS,
)  # fmt: skip
