"""What a program sees of a ready-made machine's host, at the paths where it is in life."""

import json
import os
import subprocess

import jsonschema
import pytest
import yaml

from conftest import DATA, MACHINES, PROGRAM, WITH_GPUS, gpu_operator, gpus, on, python_on, spec

HOST = """
import glob, os
def read(path):
    try:
        return open(path).read()
    except OSError:
        return None
out = {
    "os": read("/etc/os-release"), "dgx": read("/etc/dgx-release"), "version": read("/proc/driver/nvidia/version"),
    "nodes": sorted(n for n in os.listdir("/dev") if n.startswith("nvidia") and n[6:].isdigit()),
    "pci": {a: [read(f"/sys/bus/pci/devices/{a}/{f}").strip() for f in ("vendor", "device", "class", "numa_node")]
            for a in os.listdir("/sys/bus/pci/devices")},
    "drivers": {a: os.path.basename(os.path.realpath(f"/sys/bus/pci/devices/{a}/driver"))
                for a in os.listdir("/sys/bus/pci/devices") if os.path.exists(f"/sys/bus/pci/devices/{a}/driver")},
    "module": read("/sys/module/nvidia/version"), "numa": read("/sys/devices/system/node/online"),
    "vendor": read("/sys/class/dmi/id/sys_vendor"), "secure": open(glob.glob("/sys/firmware/efi/efivars/SecureBoot-*")[0], "rb").read()[4],
    "informations": {os.path.basename(os.path.dirname(p)): read(p) for p in glob.glob("/proc/driver/nvidia/gpus/*/information")},
    "engines": [p for p in ("/etc/containerd/config.toml", "/etc/docker/daemon.json", "/etc/crio/crio.conf.d/10-crio.conf") if os.path.exists(p)],
    "libraries": sorted(os.path.basename(p) for p in glob.glob("/usr/lib/*-linux-gnu/libnvidia-ml.so*")),
}
"""


@pytest.mark.parametrize("machine", MACHINES)
def test_the_host_is_that_of_the_machine_file(machine, folder):
    got, want = python_on(folder(machine), HOST), spec(machine)
    host = want["host"]
    assert f'VERSION_ID="{host["os"]["versionId"]}"' in got["os"]
    assert (got["dgx"] is not None) == ("dgx" in host)
    assert got["vendor"] == host["vendor"] + "\n"
    assert got["secure"] == (1 if host.get("secureBoot") else 0)
    nodes = host["numaNodes"]
    assert got["numa"] == ("0\n" if nodes == 1 else f"0-{nodes - 1}\n")
    installed = want["driver"].get("installed", True)
    assert got["nodes"] == [f"nvidia{i}" for i in range(len(gpus(machine)))]
    if installed:
        version = want["driver"]["version"]
        assert f"  {version}  " in got["version"]
        assert got["module"] == version + "\n"
        assert f"libnvidia-ml.so.{version}" in got["libraries"] and "libnvidia-ml.so.1" in got["libraries"]
    else:
        assert (got["version"], got["module"], got["libraries"]) == (None, None, [])
    for gpu in gpus(machine):
        address = gpu["address"].lower()
        vendor, device, class_code, _ = got["pci"][address]
        assert (vendor, device) == ("0x10de", f"0x{gpu['pciId'] >> 16:04x}")
        assert class_code == ("0x030000" if gpu.get("display") else "0x030200")
        assert got["drivers"][address] == "nvidia"
        assert gpu["name"] in got["informations"][address]
    assert len(got["engines"]) == 1


@pytest.mark.parametrize("machine", WITH_GPUS)
def test_nvidia_smi_lists_the_gpus(machine, folder):
    done = on(folder(machine), "nvidia-smi", "-L")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("GPU ")]
    assert [line.split(" (UUID")[0] for line in lines] == [f"GPU {g['index']}: {g['name']}" for g in gpus(machine)]
    profiles = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("  MIG ")]
    assert profiles == [p for g in gpus(machine) for p in g["mig"].get("instances", [])]


@pytest.mark.parametrize("fault,status,words", [
    ("driver-missing", 127, "nvidia-smi"), ("module-missing", 9, "NVIDIA driver"), ("module-vermagic", 9, "NVIDIA driver"),
    ("version-mismatch", 18, "Driver/library version mismatch"), ("off-bus,gpu=0", None, "Unknown Error"),
])
def test_nvidia_smi_says_what_is_wrong(fault, status, words):
    done = on("t4", "nvidia-smi", faults=(fault,))
    assert done.returncode != 0
    if status is not None:
        assert done.returncode == status, done.stdout + done.stderr
    assert words in done.stdout + done.stderr


def test_faults_come_and_go_while_the_machine_lasts(folder):
    machine = folder("dgx-a100")
    assert gpu_operator("machine", "fault", machine, "xid", "gpu=3", "value=79").returncode == 0
    assert "Xid (PCI:0000:4e:00): 79" in on(machine, "cat", "/dev/kmsg").stdout
    assert gpu_operator("machine", "fault", machine, "device-node-missing", "gpu=3").returncode == 0
    assert on(machine, "ls", "/dev/nvidia3").returncode != 0
    assert "fault device-node-missing gpu=3" in gpu_operator("machine", "show", machine).stdout
    assert gpu_operator("machine", "clear", machine, "device-node-missing", "gpu=3").returncode == 0
    assert on(machine, "ls", "/dev/nvidia3").returncode == 0


def test_mig_made_by_one_program_is_there_for_the_next_and_gone_after_a_reboot(folder):
    machine = folder("a30")
    made = python_on(machine, """
import pynvml as n
n.nvmlInit()
h = n.nvmlDeviceGetHandleByIndex(0)
n.nvmlDeviceSetMigMode(h, 1)
gi = n.nvmlDeviceCreateGpuInstance(h, 5)
ci = n.nvmlGpuInstanceCreateComputeInstance(gi, 1)
out = n.nvmlDeviceGetUUID(n.nvmlDeviceGetMigDeviceHandleByIndex(h, 0))
""")
    listed = on(machine, "nvidia-smi", "-L").stdout
    assert made in listed and "MIG 2g.12gb" in listed
    assert "gi" in on(machine, "ls", "/proc/driver/nvidia/capabilities/gpu0/mig").stdout
    assert gpu_operator("machine", "reboot", machine).returncode == 0
    assert "MIG" not in on(machine, "nvidia-smi", "-L").stdout
    assert on(machine, "ls", "/proc/driver/nvidia/capabilities/gpu0/mig").stdout.strip() == ""


def test_an_unprivileged_user_can_have_a_machine(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else; who is not root did all of the above unprivileged")
    for path in [tmp_path, *tmp_path.parents]:
        if str(path).startswith("/tmp/"):
            path.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", PROGRAM, "machine"]
    for command in (["create", str(home / "m"), "t4"], ["show", str(home / "m")],
                    ["run", str(home / "m"), "--", "nvidia-smi", "-L"]):
        done = subprocess.run([*nobody, *command], capture_output=True, text=True, timeout=120, check=False)
        if "make a mount namespace" in done.stderr:
            pytest.skip("this kernel has no user namespaces for everybody")
        assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("GPU 0: Tesla T4")


def test_the_schema_accepts_every_ready_made_machine():
    schema = json.loads(gpu_operator("machine", "schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    for machine in MACHINES:
        jsonschema.validate(yaml.safe_load((DATA / f"machines/{machine}.yaml").read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"machine": "v1", "name": "x", "host": {"os": {"id": "a", "versionId": "1"}}, "driver": {}, "gpu": []}, schema)


def test_a_mistake_is_refused_with_line_and_field(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text((DATA / "machines/t4.yaml").read_text().replace("- model: t4", "- model: t5"))
    done = gpu_operator("machine", "run", str(file), "--", "true")
    line = file.read_text().splitlines().index("- model: t5") + 1
    assert done.returncode == 1
    assert f"{file}:{line}: gpus[0].model" in done.stderr
