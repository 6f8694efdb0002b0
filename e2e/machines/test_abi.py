"""Our libnvidia-ml.so.1 exports what nvml.h declares, neither less nor (but for one name of our own) more."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
import abi_check  # noqa: E402
from conftest import PROGRAM  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(PROGRAM).parent / "driver/libnvidia-ml.so.1"


def header() -> Path:
    for folder in map(Path, sys.path):
        if (folder / "nvidia").is_dir():
            for found in (folder / "nvidia").rglob("nvml.h"):
                return found
    pytest.fail("nvml.h is not installed (see requirements.txt)")


def exported() -> set[str]:
    done = subprocess.run(["nm", "-D", "--defined-only", str(LIBRARY)], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


def test_every_function_of_the_header_is_exported():
    declared = set(re.findall(r"DECLDIR\s+(nvml\w+)\s*\(", header().read_text()))
    assert len(declared) > 400
    assert exported() == declared | {"nvmlErrorString", "gpuopMachineResetDevice"}


def test_functions_beyond_the_products_list_have_the_headers_parameters(tmp_path):
    """The product's own list is held to the header by e2e/gpu; this is about what only these machines have."""
    text = (ROOT / "src/machine/nvml/more_functions.h").read_text().replace("\\\n", " ")
    names = re.findall(r"X\((\w+),", text)
    assert len(names) > 5
    source = "#include <nvml.h>\n" + abi_check.SHAPES + '#include "machine/nvml/more_functions.h"\n'
    for name in names:
        ours = f"decltype(&gpuop::gpu::nvml::nvml{name})"
        source += abi_check.assertion(f"Same<{ours}, decltype(&::nvml{name})>::value", name)
    # One name cannot be declared twice with C linkage and other types: ours are compared under names of their own.
    source = source.replace('#include "machine/nvml/more_functions.h"', "#define extern_c_off\n#include \"ours.h\"")
    (tmp_path / "ours.h").write_text((ROOT / "src/machine/nvml/more_functions.h").read_text()
                                     .replace('extern "C" {', 'namespace {').replace("nvml##name(", "ours_##name("))
    source = re.sub(r"gpuop::gpu::nvml::nvml(\w+)\)", r"gpuop::gpu::nvml::ours_\1)", source)
    (tmp_path / "ours.h").write_text((tmp_path / "ours.h").read_text().replace("namespace {\n#define", "#define")
                                     .replace("#undef GPUOP_DECLARE\n}\n", "#undef GPUOP_DECLARE\n"))
    file = tmp_path / "check.cc"
    file.write_text(source)
    done = subprocess.run(["clang++-19", "-std=c++23", "-fsyntax-only", "-I", ROOT / "src", "-I", tmp_path, "-isystem",
                           header().parent, file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
