"""pynvml, nvitop and gpustat on every ready-made machine: their figures are those of the machine file."""

import re
import sys
from pathlib import Path

import pytest

from conftest import WITH_GPUS, gpus, on, python_on, spec

BIN = Path(sys.executable).parent

PYNVML = """
import pynvml as n
n.nvmlInit()
def ask(f, *args):
    try:
        value = f(*args)
    except n.NVMLError as e:
        return str(e)
    return value
out = {"driver": n.nvmlSystemGetDriverVersion(), "cuda": n.nvmlSystemGetCudaDriverVersion_v2(), "gpus": []}
for i in range(n.nvmlDeviceGetCount()):
    h = n.nvmlDeviceGetHandleByIndex(i)
    memory = ask(n.nvmlDeviceGetMemoryInfo, h)
    out["gpus"].append({
        "name": n.nvmlDeviceGetName(h), "uuid": n.nvmlDeviceGetUUID(h), "minor": n.nvmlDeviceGetMinorNumber(h),
        "bus": n.nvmlDeviceGetPciInfo(h).busId, "id": n.nvmlDeviceGetPciInfo(h).pciDeviceId,
        "memory": memory if isinstance(memory, str) else memory.total,
        "capability": n.nvmlDeviceGetCudaComputeCapability(h), "cores": n.nvmlDeviceGetNumGpuCores(h),
        "limit": ask(n.nvmlDeviceGetPowerManagementLimit, h), "power": n.nvmlDeviceGetPowerUsage(h),
        "clock": n.nvmlDeviceGetMaxClockInfo(h, n.NVML_CLOCK_SM),
        "temperature": n.nvmlDeviceGetTemperature(h, n.NVML_TEMPERATURE_GPU),
        "ecc": ask(n.nvmlDeviceGetEccMode, h), "mig": ask(n.nvmlDeviceGetMigMode, h),
        "link": ask(n.nvmlDeviceGetNvLinkState, h, 0), "vbios": n.nvmlDeviceGetVbiosVersion(h),
        "width": n.nvmlDeviceGetMaxPcieLinkWidth(h), "affinity": list(n.nvmlDeviceGetCpuAffinity(h, 4))})
n.nvmlShutdown()
"""


@pytest.mark.parametrize("machine", WITH_GPUS)
def test_pynvml_reads_what_the_machine_file_says(machine, folder):
    got = python_on(folder(machine), PYNVML)
    driver = spec(machine)["driver"]
    assert got["driver"] == driver["version"]
    major, minor = driver["cuda"].split(".")
    assert got["cuda"] == int(major) * 1000 + int(minor) * 10
    assert len(got["gpus"]) == len(gpus(machine))
    assert len({gpu["uuid"] for gpu in got["gpus"]}) == len(got["gpus"])
    for gpu, want in zip(got["gpus"], gpus(machine)):
        assert gpu["name"] == want["name"]
        assert gpu["minor"] == want["index"]
        assert gpu["bus"] == "0000" + want["address"].upper()
        assert gpu["id"] == want["pciId"]
        assert gpu["memory"] == ("Not Supported" if want.get("unifiedMemory") else want["memoryMiB"] << 20)
        assert "{}.{}".format(*gpu["capability"]) == want["computeCapability"]
        assert gpu["cores"] == want["multiprocessors"] * want["coresPerMultiprocessor"]
        limit = want["power"].get("default", 0)
        assert gpu["limit"] == (limit * 1000 if limit else "Not Supported")
        assert want["power"]["idle"] * 1000 <= gpu["power"] < want["power"]["idle"] * 1000 + 1000
        assert gpu["clock"] == want["clocks"]["sm"]
        assert gpu["vbios"] == want["vbios"]
        assert gpu["width"] == want["pcie"]["width"]
        assert gpu["ecc"] == ([1, 1] if want.get("ecc") else "Not Supported")
        assert 20 < gpu["temperature"] < want["temperature"]["slowdown"]
        assert any(gpu["affinity"])


@pytest.mark.parametrize("machine", WITH_GPUS)
def test_gpustat_shows_every_gpu(machine, folder):
    done = on(folder(machine), str(BIN / "gpustat"), "--no-color", "--no-header")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    assert len(lines) == len(gpus(machine))
    for line, want in zip(lines, gpus(machine)):
        name = want["name"]
        assert re.match(rf"\[{want['index']}\] {re.escape(name)}\s*\|", line), line
        if not want.get("unifiedMemory"):
            assert f"/ {want['memoryMiB']} MB" in line


@pytest.mark.parametrize("machine", WITH_GPUS)
def test_nvitop_shows_every_gpu(machine, folder):
    done = on(folder(machine), str(BIN / "nvitop"), "--once", "--no-unicode")
    assert done.returncode == 0, done.stderr
    assert f"Driver Version: {spec(machine)['driver']['version']}" in done.stdout
    assert f"CUDA Driver Version: {spec(machine)['driver']['cuda']}" in done.stdout
    rows = re.findall(r"^\|\s+(\d+)\s+(\S.*?)\s+(?:On|Off)\s*\|\s*([0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\.0)", done.stdout, re.M)
    assert len(rows) == len(gpus(machine)), done.stdout
    for (index, _, bus), want in zip(rows, gpus(machine)):
        assert int(index) == want["index"]
        assert bus == "0000" + want["address"].upper()
    for want in gpus(machine):
        if want["power"].get("default"):
            assert f"{want['power']['default']}W" in done.stdout


def test_nvitop_sees_mig_devices(folder):
    done = on(folder("mixed"), str(BIN / "nvitop"), "--once", "--no-unicode")
    assert done.returncode == 0, done.stderr
    for profile in ("3g.20gb", "2g.10gb", "1g.5gb"):
        assert profile in done.stdout
