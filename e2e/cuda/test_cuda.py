"""Real CUDA programs on a simulated machine: compiled by NVIDIA's nvcc, and numba's."""
import glob
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = pathlib.Path(os.environ["GPUOP_PROGRAM"])
CUDA = pathlib.Path(glob.glob(str(pathlib.Path(sys.prefix) / "lib/python3*/site-packages/nvidia/cu13"))[0])
KERNELS = HERE.parent.parent / "testdata/cuda/kernels.cu"


def nvcc(*words):
    env = dict(os.environ, CUDA_HOME=str(CUDA), PATH=f"{CUDA}/bin:{os.environ['PATH']}")
    subprocess.run([CUDA / "bin/nvcc", *map(str, words)], env=env, check=True, timeout=300)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The programs and the kernels, each once."""
    folder = tmp_path_factory.mktemp("built")
    driver = PROGRAM.parent / "driver"
    subprocess.run(["g++", "-O1", "-std=c++17", f"-I{CUDA}/include", HERE / "host.cc", driver / "libcuda.so.1", "-o",
                    folder / "host"], check=True, timeout=300)
    nvcc("-fatbin", "-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_80,code=sm_80", KERNELS,
         "-o", folder / "kernels.fatbin")
    nvcc("-fatbin", "-gencode", "arch=compute_80,code=sm_80", KERNELS, "-o", folder / "machine_code.fatbin")
    nvcc("-fatbin", "-gencode", "arch=compute_80,code=compute_80", "-compress-mode", "speed", KERNELS, "-o",
         folder / "lz4.fatbin")
    (folder / "libcudart.so").symlink_to(CUDA / "lib/libcudart.so.13")
    runtime = ["-std=c++17", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80", f"-L{folder}"]
    nvcc(*runtime, HERE / "runtime.cu", "-o", folder / "runtime")
    nvcc(*runtime, HERE / "features.cu", "-o", folder / "features")
    nvcc(*runtime, "-default-stream", "per-thread", HERE / "runtime.cu", "-o", folder / "per_thread")
    return folder


class Machine:
    def __init__(self, folder):
        self.folder = folder
        self.command("create", folder, HERE / "machine.yaml")

    def command(self, *words):
        subprocess.run([PROGRAM, "machine", *map(str, words)], check=True, timeout=60)

    def env(self, **more):
        return dict(os.environ, GPUOP_MACHINE_STATE=str(self.folder / "state"),
                    LD_LIBRARY_PATH=str(PROGRAM.parent / "driver"), **more)

    def run(self, *words, **env):
        """Standard output of a program that sees this machine's libraries, and its exit status."""
        got = subprocess.run([*map(str, words)], env=self.env(**env), stdout=subprocess.PIPE, text=True, timeout=300)
        return got.stdout.strip(), got.returncode

    def smi(self, *words):
        subprocess.run([PROGRAM, "nvidia-smi", *words], env=self.env(), check=True, timeout=60)


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "machine")


@pytest.mark.parametrize("kernel", ["add", "reduce", "matrix", "histogram"])
def test_driver_api_programs_compute_what_the_cpu_does(machine, built, kernel):
    assert machine.run(built / "host", built / "kernels.fatbin", kernel) == ("right", 0)


def test_a_program_on_the_machine_finds_its_libraries_as_on_a_host(machine, built):
    got = subprocess.run([PROGRAM, "machine", "run", machine.folder, "--", built / "host", built / "kernels.fatbin", "add"],
                         stdout=subprocess.PIPE, text=True, timeout=120)
    assert (got.stdout.strip(), got.returncode) == ("right", 0)


def test_compressed_binaries_are_read_and_machine_code_is_refused(machine, built):
    assert machine.run(built / "host", built / "lz4.fatbin", "add") == ("right", 0)
    out, status = machine.run(built / "host", built / "machine_code.fatbin", "add")
    assert status == 3 and "CUDA_ERROR_NO_BINARY_FOR_GPU" in out


def test_a_program_of_the_runtime_api_computes(machine, built):
    assert machine.run(built / "runtime") == ("right on NVIDIA A100-SXM4-40GB, 8.0", 0)


def test_each_thread_may_have_a_stream_of_its_own(machine, built):
    assert machine.run(built / "per_thread") == ("right on NVIDIA A100-SXM4-40GB, 8.0", 0)


def test_what_programs_use_beyond_a_plain_kernel(machine, built):
    out, status = machine.run(built / "features")
    assert (sorted(out.splitlines()), status) == (["0 wrong", "block 0 of 2 says hello", "block 1 of 2 says hello"], 0)


def test_the_runtime_library_has_every_name_of_nvidias(built):
    def names(library):
        listed = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True).stdout
        return {line.split()[2].split("@")[0] for line in listed.splitlines() if len(line.split()) == 3}
    # Other libraries' graphics, and what nvcc's own code alone asks for.
    beside = ("cudaGL", "cudaEGL", "cudaVDPAU", "cudaGraphics", "cudaSubgrid", "cudaEventCreateFromEGL", "__cuda", "libcudart")
    missing = names(CUDA / "lib/libcudart.so.13") - names(PROGRAM.parent / "driver/libcudart.so.13")
    assert sorted(name for name in missing if not name.startswith(beside)) == []


def test_numba_kernels_compute(machine):
    driver = str(PROGRAM.parent / "driver/libcuda.so.1")
    out, status = machine.run(sys.executable, HERE / "numba_kernels.py", NUMBA_CUDA_DRIVER=driver)
    assert (out, status) == ("five right on NVIDIA A100-SXM4-40GB", 0)


def test_devices_follow_the_variable(machine, built):
    assert machine.run(built / "host", "-", "memory")[0].startswith("2 NVIDIA A100-SXM4-40GB")
    assert machine.run(built / "host", "-", "memory", CUDA_VISIBLE_DEVICES="1")[0].startswith("1 ")
    out, status = machine.run(built / "host", "-", "memory", CUDA_VISIBLE_DEVICES="")
    assert status == 3 and "CUDA_ERROR_NO_DEVICE" in out


def test_a_mig_slice_is_all_there_is(machine, built):
    whole = machine.run(built / "host", "-", "memory")[0]
    machine.smi("-i", "0", "-mig", "1")
    machine.command("reset", machine.folder, 0)
    machine.smi("mig", "-i", "0", "-cgi", "19", "-C")
    slice_, status = machine.run(built / "host", "-", "memory", CUDA_VISIBLE_DEVICES="0")
    assert status == 0 and slice_.startswith("1 NVIDIA A100-SXM4-40GB MIG 1g.5gb ") and slice_.endswith("limited")
    mib = lambda text: int(text.split(" MiB")[0].split()[-1])
    assert mib(slice_) < mib(whole) / 7
    assert machine.run(built / "host", built / "kernels.fatbin", "reduce", CUDA_VISIBLE_DEVICES="0") == ("right", 0)


@pytest.mark.parametrize("fault, error", [
    (["gpu-lost", "gpu=0"], None),
    (["module-missing"], "CUDA_ERROR_NO_DEVICE"),
    (["version-mismatch"], "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
    (["uvm-missing"], "CUDA_ERROR_UNKNOWN"),
    (["needs-reset", "gpu=0"], "CUDA_ERROR_DEVICE_UNAVAILABLE"),
])
def test_faults_are_told_apart(machine, built, fault, error):
    machine.command("fault", machine.folder, *fault)
    out, status = machine.run(built / "host", built / "kernels.fatbin", "add")
    if error is None:  # the other GPU takes its place
        assert (out, status) == ("right", 0)
    else:
        assert status == 3 and error in out


def test_a_broken_gpu_computes_wrongly_and_says_nothing(machine, built):
    machine.command("fault", machine.folder, "wrong-result", "gpu=0")
    assert machine.run(built / "host", built / "kernels.fatbin", "add") == ("wrong", 1)


def test_a_kernel_that_hangs_ends_when_the_fault_is_cleared(machine, built):
    machine.command("fault", machine.folder, "kernel-hang", "gpu=0")
    hung = subprocess.Popen([built / "host", built / "kernels.fatbin", "add"], env=machine.env(), stdout=subprocess.PIPE,
                            text=True)
    with pytest.raises(subprocess.TimeoutExpired):
        hung.wait(timeout=3)
    machine.command("clear", machine.folder, "kernel-hang", "gpu=0")
    assert hung.communicate(timeout=60)[0].strip() == "right"


def test_an_illegal_address_is_an_error_and_an_xid(machine, built):
    out, status = machine.run(built / "host", built / "kernels.fatbin", "illegal")
    assert status == 3 and "CUDA_ERROR_ILLEGAL_ADDRESS" in out


def test_declarations_are_nvidias(built):
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", f"-I{CUDA}/include", f"-I{HERE.parent.parent}/src",
                    HERE / "abi_check.cc"], check=True, timeout=120)
