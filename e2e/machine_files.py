"""A simulated GPU machine's files as the driver of this computer's own container engines."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ['GPUOP_PROGRAM']


def create(folder, kind='dgx-a100'):
    subprocess.run([PROGRAM, 'machine', 'create', folder, kind], check=True, capture_output=True)


def make_nodes(machine, to):
    """Device nodes for the machine's files in /dev: an engine takes nothing else for a device. Not those that are there."""
    for path in sorted((machine / 'root/dev').rglob('nvidia*')):
        at = to / path.relative_to(machine / 'root/dev')
        if path.is_dir():
            at.mkdir(exist_ok=True)
            continue
        if at.is_char_device():
            continue
        name = path.name
        minor = {'nvidiactl': 255, 'nvidia-modeset': 254, 'nvidia-uvm': 0, 'nvidia-uvm-tools': 1}.get(name)
        number = ''.join(c for c in name if c.isdigit())
        major = 509 if 'uvm' in name else 195 if minor is not None or name == 'nvidia' + number else 508
        at.unlink(missing_ok=True)
        os.mknod(at, 0o20666, os.makedev(major, minor if minor is not None else int(number or 0)))
        os.chmod(at, 0o666)


def environment(machine):
    """For what loads the driver's libraries outside of containers: by these it finds the machine."""
    return dict(os.environ, GPUOP_MACHINE_STATE=str(machine / 'root/dev/nvidiactl'), GPUOP_MACHINE_DEV=str(machine / 'root/dev'))


def image(machine, scratch):
    """What an image holds that computes with CUDA, by its path there: the program, a shell and the C library, nothing of the
    driver. `scratch` takes what is compiled."""
    binary = scratch / 'vector_add'
    subprocess.run(['clang-19', '-O1', '-Wall', '-Werror', '-o', binary, ROOT / 'e2e/node/vector_add.c', '-ldl'], check=True)
    files = {'/vector_add': binary, '/kernels.ptx': ROOT / 'src/gpu/cuda/kernels.ptx', '/bin/busybox': '/bin/busybox'}
    libraries = set()
    for program in [binary, *(machine / 'root/usr/lib/x86_64-linux-gnu').glob('lib*.so.*.*')]:
        for word in subprocess.run(['ldd', program], capture_output=True, text=True).stdout.split():
            if word.startswith('/') and os.path.exists(word):
                libraries.add(word)
    files.update({l: os.path.realpath(l) for l in libraries})
    return files
