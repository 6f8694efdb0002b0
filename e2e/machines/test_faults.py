"""Every fault as nvidia-smi shows it: how `-L` ends and how many GPUs it lists, how a change of MIG mode ends, and what of
GPU 0's figures is not as on a healthy machine. The same faults in NVML, CUDA, /proc and /dev are a table in
src/machine/faults/fault_matrix_test.cc; what a node's Allocatable makes of them is one in e2e/plugin/nodes_test.cc."""

import subprocess

import pytest

from conftest import PROGRAM, gpu_operator, on

FIELDS = ["temperature.gpu", "pcie.link.width.current", "clocks_event_reasons.active", "ecc.errors.corrected.volatile.total",
          "ecc.errors.uncorrected.volatile.total"]
HEALTHY = {"pcie.link.width.current": "16", "clocks_event_reasons.active": "0x0000000000000001",
           "ecc.errors.corrected.volatile.total": "0", "ecc.errors.uncorrected.volatile.total": "0"}
HANGS = "hangs"

# fault: (exit of -L, GPUs listed, exit of a change of MIG mode, figures that differ; None: GPU 0 has none)
FAULTS = {
    "contexts-dead gpu=0": (0, 8, 0, {"ecc.errors.uncorrected.volatile.total": "1"}),
    "device-node-missing gpu=0": (0, 7, 0, {}),
    "driver-missing": (127, 0, 127, None),
    "ecc-corrected gpu=0 value=5": (0, 8, 0, {"ecc.errors.corrected.volatile.total": "5"}),
    "ecc-uncorrected gpu=0 value=2": (0, 8, 0, {"ecc.errors.uncorrected.volatile.total": "2"}),
    "engine-restart": (0, 8, 0, {}),
    "fabric-not-ready": (0, 8, 0, {}),
    "gpu-lost gpu=0": (15, 7, 6, None),
    "hang call=nvmlDeviceGetName": (HANGS, 0, 0, {}),
    "kernel-hang gpu=0": (0, 8, 0, {}),
    "mig-busy gpu=0": (0, 8, 19, {}),
    "module-missing": (9, 0, 9, None),
    "module-vermagic": (9, 0, 9, None),
    "needs-reset gpu=0": (0, 8, 255, {name: "[GPU requires reset]" for name in FIELDS}),
    "no-permission": (0, 8, 4, {}),
    "nvlink-down gpu=0 value=4": (0, 8, 0, {}),
    "off-bus gpu=0": (255, 7, 6, None),
    "pcie-degraded gpu=0 value=8": (0, 8, 0, {"pcie.link.width.current": "8"}),
    "power-brake gpu=0": (0, 8, 0, {"clocks_event_reasons.active": "0x0000000000000089"}),
    "power-cable gpu=0": (8, 7, 6, None),
    "power-loss": (0, 8, 0, {}),
    "reboot": (0, 8, 0, {}),
    "row-remap-failed gpu=0": (0, 8, 0, {}),
    "row-remap-pending gpu=0": (0, 8, 0, {}),
    "thermal gpu=0 value=95": (0, 8, 0, {"temperature.gpu": "95", "clocks_event_reasons.active": "0x0000000000000069"}),
    "uvm-missing": (0, 8, 0, {}),
    "version-mismatch": (18, 0, 18, None),
    "wrong-result gpu=0": (0, 8, 0, {}),
    "xid gpu=0 value=13": (0, 8, 0, {}),
}


def smi(machine, *words):
    """Exit status and standard output of nvidia-smi; HANGS when it does not end."""
    try:
        done = subprocess.run([PROGRAM, "machine", "run", machine, "--", "nvidia-smi", *words], capture_output=True, text=True, timeout=10)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return HANGS, ""


def figures(machine):
    status, out = smi(machine, "-i", "0", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits")
    return None if status not in (0, HANGS) else dict(zip(FIELDS, out.strip().split(", ")))


def test_the_table_names_every_fault():
    listed = [line.split()[0] for line in gpu_operator("machine", "faults").stdout.splitlines() if line.strip()]
    assert sorted(f.split()[0] for f in FAULTS) == sorted(name for name in listed if name[0].islower())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_as_nvidia_smi_shows_it(fault, tmp_path):
    machine = str(tmp_path / "m")
    assert gpu_operator("machine", "create", machine, "dgx-h100").returncode == 0
    assert gpu_operator("machine", "fault", machine, *fault.split()).returncode == 0
    status, listed, mig, differs = FAULTS[fault]
    got, out = smi(machine, "-L")
    assert (got, sum(line.startswith("GPU ") for line in out.splitlines())) == (status, listed), out
    seen = figures(machine)
    if differs is None:
        assert seen is None
    else:
        seen = {name: value for name, value in seen.items() if value != HEALTHY.get(name, value) or name in differs}
        assert seen == differs
    assert smi(machine, "-i", "0", "-mig", "0")[0] == mig
