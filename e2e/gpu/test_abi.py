"""Our declarations against NVIDIA's published headers, and our kernels against NVIDIA's assembler."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import abi_check

ROOT = Path(__file__).resolve().parents[2]
COMPILER = next((c for c in ("clang++-19", "clang++") if shutil.which(c)), None)


def installed(name: str) -> Path:
    """A file of NVIDIA's packages, wherever this environment has it."""
    for folder in map(Path, sys.path):
        if (folder / "nvidia").is_dir():
            for found in (folder / "nvidia").rglob(name):
                return found
    pytest.skip(f"{name} is not installed (see requirements.txt)")


def compile_check(source: str, include: Path, tmp_path: Path) -> subprocess.CompletedProcess:
    file = tmp_path / "check.cc"
    file.write_text(source)
    return subprocess.run([COMPILER, "-std=c++23", "-fsyntax-only", "-Wno-invalid-offsetof", "-ferror-limit=0",
                           "-I", ROOT / "src", "-isystem", include, file], capture_output=True, text=True, check=False)


CASES = [("nvml", "nvml.h", {"structs": 60, "functions": 220, "enumerators": 600, "versions": 20}),
         ("cuda", "cuda.h", {"functions": 30, "enumerators": 30})]


@pytest.mark.parametrize("library,header,least", CASES)
def test_our_declarations_are_those_of_the_published_header(library, header, least, tmp_path):
    source, counts = getattr(abi_check, library)(ROOT / "src")
    for kind, number in least.items():
        assert counts[kind] >= number, counts
    done = compile_check(source, installed(header).parent, tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("change", [
    ("kNoPermission = 4,", "kNoPermission = 5,"),
    ("unsigned long long reserved;", "unsigned reserved;"),
    ("unsigned long long free;\n  unsigned long long used;", "unsigned long long used;\n  unsigned long long free;"),
    ("X(DeviceGetIndex, Device device, unsigned* index)", "X(DeviceGetIndex, Device device, char* index)"),
    ("X(DeviceGetIndex, Device device, unsigned* index)", "X(DeviceGetIndex, Device device)"),
])
def test_a_wrong_declaration_does_not_compile(change, tmp_path):
    src = tmp_path / "src"
    shutil.copytree(ROOT / "src/gpu", src / "gpu")
    hits = 0
    for header in (src / "gpu/nvml").glob("*.h"):
        text = header.read_text()
        hits += text.count(change[0])
        header.write_text(text.replace(change[0], change[1]))
    assert hits > 0
    source, _ = abi_check.nvml(src)
    file = tmp_path / "check.cc"
    file.write_text(source)
    done = subprocess.run([COMPILER, "-std=c++23", "-fsyntax-only", "-I", src, "-isystem", installed("nvml.h").parent,
                           file], capture_output=True, text=True, check=False)
    assert "static assertion failed" in done.stderr


def test_ptxas_accepts_the_kernels_from_sm_50_to_sm_121():
    program = Path(os.environ["GPUOP_PROGRAM"]).parent / "gpu_test"
    if not program.exists():
        pytest.skip("gpu_test is not built")
    done = subprocess.run([program, "--gtest_filter=CudaKernelsTest.*"], capture_output=True, text=True, check=False,
                          env=dict(os.environ, GPUOP_PTXAS=str(installed("ptxas"))))
    assert done.returncode == 0 and "SKIPPED" not in done.stdout, done.stdout
