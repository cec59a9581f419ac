"""What the sample app measures: this machine's load, memory and disk, on Linux and macOS.

Nothing in here is about jobs; that is all in `demo.py`.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """The load per core, and the shares of memory and disk in use."""

    load: float
    memory: float
    disk: float


def load_per_core() -> float:
    """The mean number of processes that ran in the last minute, over the number of cores."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def take_sample(folder: Path) -> Sample:
    """What the machine does now, with the disk that holds `folder`."""
    disk = shutil.disk_usage(folder)
    return Sample(load_per_core(), memory_in_use(), disk.used / disk.total)


def memory_in_use() -> float:
    """The share of the memory in use, from 0 to 1.

    Linux says what is available in /proc/meminfo; macOS has no such file, and `vm_stat` says it.
    """
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        kib = dict(re.findall(r"(\w+):\s+(\d+)", meminfo.read_text()))
        return 1 - int(kib["MemAvailable"]) / int(kib["MemTotal"])
    pages = subprocess.run(["vm_stat"], capture_output=True, text=True, check=True).stdout
    free = re.findall(r"Pages (?:free|inactive|speculative):\s+(\d+)", pages)
    return 1 - sum(map(int, free)) / os.sysconf("SC_PHYS_PAGES")
