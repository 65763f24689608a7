"""All drills, by family."""

from drills import archives, buses, clocks, databases, disks, hostile, limits, processes, secrets

DRILLS = (
    *processes.DRILLS, *databases.DRILLS, *hostile.DRILLS, *limits.DRILLS, *clocks.DRILLS,
    *buses.DRILLS, *archives.DRILLS, *disks.DRILLS, *secrets.DRILLS,
)  # fmt: skip
