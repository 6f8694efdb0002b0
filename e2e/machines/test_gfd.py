"""GPU feature discovery on every ready-made machine, in every MIG layout, strategy and way of sharing.

What it says stands in testdata/gfd/machines.json: a whole machine's labels without strategy and sharing, and how each other
case differs from them (null: not there). After a change that is meant, GPUOP_RENEW=1 writes it anew, for
reviewers to read. `test_labels_are_what_the_machine_file_says` holds the goldens themselves to the machine files.
"""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import MACHINES, PROGRAM, gpu_operator, gpus, on, spec

GOLDEN = Path(__file__).resolve().parents[2] / "testdata/gfd/machines.json"
STRATEGIES = ("none", "single", "mixed")
SHARING = {
    "off": "version: v1\n",
    "slices": "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 10}]}}\n",
    "renamed": "version: v1\nsharing: {timeSlicing: {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: 10}]}}\n",
    "mps": "version: v1\nsharing: {mps: {resources: [{name: nvidia.com/gpu, replicas: 5}]}}\n",
}
# What nvidia-smi is told for each layout: GPUs in MIG mode, and instances on them. 19, 14 and 9 are the smallest profile, two
# slices and three; an A30 has other numbers.
LAYOUTS = {
    "whole": [],
    "empty": [("all", "")],
    "smallest": [("all", "19,19,19,19,19,19,19")],
    "varied": [("0", "9,14,19,19")],
}
A30 = {"smallest": [("all", "14,14,14,14")], "varied": [("0", "5,14,14")]}


WITHOUT_MIG = {"t4", "l40s", "gb10"}


def capable(machine):
    return bool(gpus(machine)) and not any(gpu["model"] in WITHOUT_MIG for gpu in gpus(machine))


def layouts_of(machine):
    if not capable(machine):
        return {"whole": []}
    return {**LAYOUTS, **A30} if machine == "a30" else LAYOUTS


def set_up(folder, layout):
    for which, instances in layout:
        words = [] if which == "all" else ["-i", which]
        for command in [["nvidia-smi", *words, "-mig", "1"]] + ([["nvidia-smi", "mig", *words, "-cgi", instances, "-C"]] if instances else []):
            done = on(folder, *command)
            assert done.returncode == 0, (command, done.stdout, done.stderr)


def labels_of(folder, configs):
    """All strategies and ways of sharing in one visit to the machine."""
    script = "\n".join(
        f"echo '== {strategy} {name}'\n{os.path.realpath(PROGRAM)} gpu-feature-discovery --oneshot --no-timestamp --use-node-feature-api=false "
        f"--fail-on-init-error=false --output-file= --mig-strategy={strategy} --config-file={file} 2>/dev/null || echo failed=$?"
        for strategy in STRATEGIES for name, file in configs.items())
    done = on(folder, "/bin/sh", "-c", script)
    assert done.returncode == 0, done.stderr
    out = {}
    for line in done.stdout.splitlines():
        if line.startswith("== "):
            labels = out[line[3:]] = {}
        else:
            key, _, value = line.partition("=")
            labels[key] = value
    return out


@pytest.fixture(scope="module")
def configs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("configs")
    for name, text in SHARING.items():
        (folder / f"{name}.yaml").write_text(text)
    return {name: str(folder / f"{name}.yaml") for name in SHARING}


BASE = "whole none off"


def unfold(text):
    known = {}
    for machine, cases in json.loads(text).items():
        for case, changes in cases.items():
            labels = {**cases[BASE], **changes}
            known[f"{machine} {case}"] = {key: value for key, value in labels.items() if value is not None}
    return known


def fold(known):
    cases = {}
    for key, labels in known.items():
        machine, case = key.split(" ", 1)
        base = {} if case == BASE else known[f"{machine} {BASE}"]
        changes = {name: labels.get(name) for name in {*base, *labels} if labels.get(name) != base.get(name)}
        cases.setdefault(machine, {})[case] = changes
    text = json.dumps(cases, sort_keys=True, separators=(",", ":"))
    return re.sub(r'(?<=[{}],)(?="[^"]*":{)', "\n", re.sub(r'(?<={)(?="[^"]*":{)', "\n", text)) + "\n"


@pytest.fixture(scope="module")
def golden():
    known = unfold(GOLDEN.read_text()) if GOLDEN.exists() else {}
    yield known
    if os.environ.get("GPUOP_RENEW"):
        GOLDEN.write_text(fold(known))


@pytest.mark.parametrize("machine", MACHINES)
def test_labels_of_every_machine_layout_strategy_and_sharing(machine, configs, golden, tmp_path):
    for layout, steps in layouts_of(machine).items():
        folder = str(tmp_path / layout)
        assert gpu_operator("machine", "create", folder, machine).returncode == 0
        set_up(folder, steps)
        for run, labels in labels_of(folder, configs).items():
            key = f"{machine} {layout} {run}"
            if os.environ.get("GPUOP_RENEW"):
                golden[key] = labels
            assert labels == golden.get(key), key


@pytest.mark.parametrize("machine", [m for m in MACHINES if len({gpu["model"] for gpu in gpus(m)}) == 1])
def test_labels_are_what_the_machine_file_says(machine, golden):
    gpu, count = gpus(machine)[0], len(gpus(machine))
    labels = golden[f"{machine} whole none off"]
    assert labels["nvidia.com/gpu.product"] == gpu["name"].replace(" ", "-")
    assert labels["nvidia.com/gpu.count"] == str(count)
    assert labels["nvidia.com/cuda.driver-version.full"] == spec(machine)["driver"]["version"]
    assert labels["nvidia.com/mig.capable"] == ("true" if capable(machine) else "false")
    shared = golden[f"{machine} whole none slices"]
    assert shared["nvidia.com/gpu.product"] == labels["nvidia.com/gpu.product"] + "-SHARED"
    assert (shared["nvidia.com/gpu.replicas"], shared["nvidia.com/gpu.sharing-strategy"]) == ("10", "time-slicing")
    renamed = golden[f"{machine} whole none renamed"]
    assert renamed["nvidia.com/gpu.product"] == labels["nvidia.com/gpu.product"]
    assert golden[f"{machine} whole none mps"]["nvidia.com/mps.capable"] == "true"


def test_a_machine_without_gpus_says_only_that(golden):
    assert golden["cpu-only whole mixed slices"] == {"nvidia.com/vgpu.present": "false"}


class Running:
    """gpu-feature-discovery on a machine, writing a file."""

    def __init__(self, folder, tmp_path, *flags):
        self.file, self.log = tmp_path / "gfd", open(tmp_path / "log", "wb")
        self.process = subprocess.Popen(
            [PROGRAM, "machine", "run", folder, "--", os.path.realpath(PROGRAM), "gpu-feature-discovery",
             "--use-node-feature-api=false", "--no-timestamp", f"--output-file={self.file}", *flags], stderr=self.log)

    def says(self, key, value, seconds=20):
        """How long it took until the label was so."""
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            if self.file.exists() and f"nvidia.com/{key}={value}\n" in self.file.read_text():
                return time.monotonic() - begin
            time.sleep(0.02)
        raise AssertionError((key, value, self.file.read_text() if self.file.exists() else "no file"))

    def child(self):
        pid = self.process.pid
        while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pid = int(children[0])
        return pid


@pytest.fixture
def running(tmp_path):
    made = []

    def start(machine, *flags):
        folder = str(tmp_path / machine)
        assert gpu_operator("machine", "create", folder, machine).returncode == 0
        made.append(Running(folder, tmp_path, *flags))
        return made[-1], folder

    yield start
    for one in made:
        if one.process.poll() is None:
            os.kill(one.child(), signal.SIGKILL)
            one.process.wait(timeout=10)


def test_labels_follow_mig_and_the_driver_without_polling(running):
    gfd, folder = running("a30", "--mig-strategy=mixed", "--sleep-interval=infinite")
    gfd.says("gpu.replicas", "1")
    set_up(folder, [("0", "14,14")])
    gfd.says("mig-1g.6gb.count", "2")
    assert on(folder, "nvidia-smi", "mig", "-dci").returncode == 0
    assert on(folder, "nvidia-smi", "mig", "-dgi").returncode == 0
    begin = time.monotonic()
    while "mig-1g.6gb" in gfd.file.read_text():
        assert time.monotonic() < begin + 20
        time.sleep(0.02)


def test_labels_follow_a_mig_mode_that_is_switched_from_outside(running):
    """NVML tells of instances that are made, and of no mode."""
    gfd, folder = running("dgx-h100", "--mig-strategy=single", "--sleep-interval=infinite")
    gfd.says("gpu.product", "NVIDIA-H100-80GB-HBM3")
    for mode, product in (("1", "NVIDIA-H100-80GB-HBM3-MIG-INVALID"), ("0", "NVIDIA-H100-80GB-HBM3")):
        done = on(folder, "nvidia-smi", "-mig", mode)
        assert done.returncode == 0, done.stdout
        gfd.says("gpu.product", product, 60)
    gfd.says("gpu.count", "8")


def test_a_call_that_hangs_does_not_keep_it_from_ending(running):
    gfd, folder = running("t4")
    gfd.says("gpu.count", "1")
    assert gpu_operator("machine", "fault", folder, "hang", "call=nvmlDeviceGetCount_v2").returncode == 0
    assert gpu_operator("machine", "fault", folder, "xid", "gpu=0", "value=13").returncode == 0  # it looks again
    time.sleep(0.5)
    os.kill(gfd.child(), signal.SIGTERM)
    gfd.process.wait(timeout=10)
    assert not gfd.file.exists()
