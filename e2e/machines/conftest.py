"""Programs run on ready-made machines; what they print is held to the machine files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PROGRAM = os.environ["GPUOP_PROGRAM"]
DATA = Path(__file__).resolve().parents[2] / "src/machine/data"


def gpu_operator(*args: str, **kwargs) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=240, check=False, **kwargs)


def on(machine: str, *command: str, faults: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    """The command on the machine, which is made for it unless it is a folder."""
    words = [word for fault in faults for word in ("--fault", fault)]
    return gpu_operator("machine", "run", *words, machine, "--", *command)


def python_on(machine: str, code: str, **kwargs):
    """What `code` leaves in `out`."""
    done = on(machine, sys.executable, "-c", f"import json\nout = None\n{code}\nprint(json.dumps(out))", **kwargs)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def models() -> dict:
    return {m["model"]: m for m in yaml.safe_load((DATA / "models.yaml").read_text())["models"]}


def spec(machine: str) -> dict:
    return yaml.safe_load((DATA / f"machines/{machine}.yaml").read_text())


def gpus(machine: str) -> list[dict]:
    """One entry for each GPU of a machine file: its model with what the file says of it."""
    out = []
    for group in spec(machine).get("gpus", []):
        for own in range(group.get("count", 1)):
            gpu = dict(models()[group["model"]])
            for key, value in group.get("override", {}).items():
                gpu[key] = {**gpu[key], **value} if isinstance(value, dict) else value
            gpu["address"] = group["pci"][own]
            gpu["mig"] = group.get("mig", {})
            gpu["index"] = len(out)
            out.append(gpu)
    return out


MACHINES = sorted(file.stem for file in (DATA / "machines").glob("*.yaml"))
WITH_GPUS = [name for name in MACHINES if gpus(name)]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Makes a machine that lasts for the session; one of a kind each."""
    made: dict[str, Path] = {}

    def make(machine: str) -> str:
        if machine not in made:
            made[machine] = tmp_path_factory.mktemp("machine") / machine
            done = gpu_operator("machine", "create", str(made[machine]), machine)
            assert done.returncode == 0, done.stderr
        return str(made[machine])

    return make
