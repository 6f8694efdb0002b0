"""nvidia-smi of ours on every ready-made machine, as a process of that machine."""

import csv
import io
import os
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(os.environ["GPUOP_PROGRAM"]).resolve()
MACHINES = {  # name: (GPUs, product, total MiB, MIG-capable)
    "a30": (1, "NVIDIA A30", True),
    "b200": (8, "NVIDIA B200", True),
    "b300": (8, "NVIDIA B300 SXM6 AC", True),
    "dgx-a100": (8, "NVIDIA A100-SXM4-40GB", True),
    "dgx-a100-80": (8, "NVIDIA A100-SXM4-80GB", True),
    "dgx-h100": (8, "NVIDIA H100 80GB HBM3", True),
    "gb10": (1, "NVIDIA GB10", False),
    "gb200": (4, "NVIDIA GB200", True),
    "l40s-x4": (4, "NVIDIA L40S", False),
    "t4": (1, "Tesla T4", False),
}


def on(machine, *command, faults=()):
    """Runs a program on a machine of its own and gives its exit status and standard output."""
    args = [PROGRAM, "machine", "run"]
    for fault in faults:
        args += ["--fault", fault]
    env = dict(os.environ, TMPDIR="/dev/shm") if os.access("/dev/shm", os.W_OK) else None  # a machine is many files
    done = subprocess.run([*args, machine, "--", *command], capture_output=True, text=True, timeout=300, check=False,
                          env=env)
    return done.returncode, done.stdout


def smi(machine, *args, faults=()):
    return on(machine, PROGRAM, "nvidia-smi", *args, faults=faults)


SHOW_SCRIPT = """set -eu
smi() {{ "{program}" nvidia-smi "$@"; }}
smi --query-gpu=index,name,uuid,mig.mode.current,memory.total --format=csv,nounits; echo "#--#"
smi -L; echo "#--#"
smi; echo "#--#"
smi -q
"""


@pytest.mark.parametrize("machine", MACHINES)
def test_shows_the_machine_as_its_file_describes_it(machine):
    count, product, mig = MACHINES[machine]
    status, text = on(machine, "sh", "-c", SHOW_SCRIPT.format(program=PROGRAM))
    assert status == 0
    query, gpus, table, report = text.split("#--#\n")
    rows = list(csv.DictReader(io.StringIO(query), skipinitialspace=True))
    assert len(rows) == count
    assert {r["name"] for r in rows} == {product}
    assert len({r["uuid"] for r in rows}) == count
    assert {r["mig.mode.current"] for r in rows} == ({"Disabled"} if mig else {"[N/A]"})
    assert all((r["memory.total"] == "[N/A]") == (machine == "gb10") for r in rows)
    assert gpus.count(f": {product} (UUID: GPU-") == count
    assert all(len(line) == 91 for line in table.splitlines() if line[:1] in "|+" and line)
    assert report.count("    Product Name") == count


MIG_SCRIPT = """set -eu
smi() {{ "{program}" nvidia-smi "$@"; }}
smi -i 0 -mig 1 > /dev/null
smi -r -i 0 > /dev/null || true
smi --query-gpu=mig.mode.current --format=csv,noheader -i 0
profile=$(smi mig -lgip -i 0 | awk '/MIG 1g/ && !/[+-]me|gfx/ {{print $4; exit}}')
total=$(smi mig -lgip -i 0 | awk '/MIG 1g/ && !/[+-]me|gfx/ {{split($6, n, "/"); if (!n[2]) split($5, n, "/"); print n[2]; exit}}')
for i in $(seq $total); do smi mig -i 0 -cgi $profile -C > /dev/null; done
smi mig -i 0 -cgi $profile > /dev/null && exit 3 || true
smi -L | grep -c ' MIG '
smi mig -i 0 -dci > /dev/null
smi mig -i 0 -dgi | wc -l
smi -i 0 -mig 0 > /dev/null
smi -r -i 0 > /dev/null || true
smi --query-gpu=mig.mode.current --format=csv,noheader -i 0
"""


@pytest.mark.parametrize("machine,slices", [("dgx-a100", 7), ("dgx-h100", 7), ("a30", 4), ("b200", 7), ("gb200", 7)])
def test_mig_is_switched_on_filled_emptied_and_switched_off(machine, slices):
    status, text = on(machine, "sh", "-c", MIG_SCRIPT.format(program=PROGRAM))
    assert status == 0, text
    assert text.split() == ["Enabled", str(slices), str(slices), "Disabled"]


@pytest.mark.parametrize("fault,status,words", [
    ("driver-missing", 12, "couldn't find libnvidia-ml.so"),
    ("module-missing", 9, "couldn't communicate with the NVIDIA driver"),
    ("version-mismatch", 18, "Driver/library version mismatch"),
    ("gpu-lost,gpu=3", 15, "Unable to determine the device handle for GPU3"),
    ("off-bus,gpu=3", 255, "Unable to determine the device handle for GPU3"),
])
def test_each_fault_has_its_own_words_and_exit_status(fault, status, words):
    got, text = smi("dgx-a100", faults=[fault])
    assert words in text
    assert got == status


def test_changes_need_permission():
    status, text = smi("dgx-a100", "-mig", "1", faults=["no-permission"])
    assert status == 4 and "Insufficient Permissions" in text


def test_an_inventory_of_eight_gpus_keeps_its_promises():
    bench = PROGRAM.parent / "bench/inventory_cost"
    if not bench.exists():
        pytest.skip("bench/inventory_cost is not built")
    status, text = on("dgx-h100", bench, "libnvidia-ml.so.1", "2000")
    assert status == 0, text
