"""podman 4.3 reads our specs: an independent consumer of CDI up to 0.5.0."""
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

import pytest
from conftest import need

PROGRAM = os.environ['GPUOP_PROGRAM']


@pytest.fixture
def podman(tmp_path):
    need('podman', 'runc', 'busybox')
    (tmp_path / 'containers.conf').write_text('''[containers]
default_ulimits = ["nofile=20000:20000","nproc=20000:20000"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
''')
    image = tmp_path / 'image.tar'
    with tarfile.open(image, 'w') as tar:
        tar.add('/bin/busybox', 'bin/busybox')
    cdi = tmp_path / 'cdi'
    cdi.mkdir()
    env = dict(os.environ, CONTAINERS_CONF=str(tmp_path / 'containers.conf'))
    state = tempfile.mkdtemp(prefix='gpuop-', dir='/tmp')  # podman refuses a run folder with a long name
    base = ['podman', '--root', state + '/root', '--runroot', state + '/run']
    subprocess.run([*base, 'import', str(image), 'probe:1'], env=env, check=True, capture_output=True)

    def run(device, command):
        # A mount namespace of its own gives /etc/cdi this test's specs.
        script = 'mkdir -p /etc/cdi && mount --bind "$CDI" /etc/cdi && exec "$@"'
        return subprocess.run(['unshare', '-m', '--propagation', 'private', 'sh', '-c', script, 'x', *base, 'run', '--rm', '--network', 'none',
                               '--device', device, 'probe:1', '/bin/busybox', 'sh', '-c', command],
                              env=dict(env, CDI=str(cdi)), capture_output=True, text=True, timeout=120)
    yield cdi, run
    subprocess.run([*base, 'system', 'reset', '--force'], env=env, capture_output=True)
    shutil.rmtree(state, ignore_errors=True)


def test_a_generated_spec_gives_the_device(podman, tmp_path):
    cdi, run = podman
    driver = tmp_path / 'driver'
    (driver / 'dev').mkdir(parents=True)
    (driver / 'lib64').mkdir()
    (driver / 'lib64/libcuda.so.550.1').write_text('a library')
    for name, minor in (('nvidia0', 0), ('nvidiactl', 255)):
        os.mknod(driver / 'dev' / name, 0o20666, os.makedev(195, minor))
        os.chmod(driver / 'dev' / name, 0o666)
    hook = pathlib.Path(PROGRAM).parent / 'nvidia-cdi-hook'
    subprocess.run([PROGRAM, 'nvidia-ctk', 'cdi', 'generate', '--mode=management', f'--driver-root={driver}', '--vendor=nvidia.com',
                    f'--nvidia-cdi-hook-path={hook}', f'--output={cdi}/nvidia.yaml'], check=True)
    assert 'cdiVersion: 0.5.0' in (cdi / 'nvidia.yaml').read_text()
    done = run('nvidia.com/gpu=all', 'cat /lib64/libcuda.so.550.1; readlink /lib64/libcuda.so; echo $NVIDIA_VISIBLE_DEVICES; cat < /dev/nvidia0')
    assert done.stdout == 'a librarylibcuda.so.1\nvoid\n', done.stdout + done.stderr
    assert 'No such device or address' in done.stderr  # allowed, and no driver behind it


# A class of one letter, which the specification allows, crashes podman 4.3.
@pytest.mark.parametrize('version,edits', [
    ('0.3.0', 'env: [A=b]'), ('0.4.0', 'mounts: [{hostPath: /etc/hostname, containerPath: /x, type: bind, options: [ro, rbind]}]'),
    ('0.5.0', 'deviceNodes: [{path: /dev/x, hostPath: /dev/null}]'), ('0.5.0', 'hooks: [{hookName: poststop, path: /bin/true}]')])
def test_what_we_accept_podman_accepts(podman, version, edits):
    cdi, run = podman
    (cdi / 'x.yaml').write_text(f'cdiVersion: "{version}"\nkind: v.com/gpu\ndevices:\n- name: d\n  containerEdits: {{{edits}}}\n')
    listed = subprocess.run([PROGRAM, 'nvidia-ctk', 'cdi', 'list', '--spec-dir', str(cdi)], capture_output=True, text=True, check=True)
    assert listed.stdout == 'v.com/gpu=d\n' and listed.stderr == ''
    done = run('v.com/gpu=d', 'true')
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('text', [
    'kind: v.com/gpu\ndevices: []',
    'cdiVersion: 0.5.0\nkind: v.com/gpu\nfoo: 1\ndevices: [{name: d, containerEdits: {env: [A=b]}}]',
    'cdiVersion: 0.5.0\nkind: v.com/gpu\ndevices: [{name: d, containerEdits: {env: [A]}}]',
    'cdiVersion: 0.5.0\nkind: v.com/gpu\ndevices: [{name: d, containerEdits: {deviceNodes: [{path: /dev/null, permissions: x}]}}]',
    'cdiVersion: 0.5.0\nkind: v.com/gpu\ndevices: [{name: d, containerEdits: {hooks: [{hookName: never, path: /h}]}}]'])
def test_what_we_refuse_podman_refuses(podman, text):
    cdi, run = podman
    (cdi / 'x.yaml').write_text(text + '\n')
    listed = subprocess.run([PROGRAM, 'nvidia-ctk', 'cdi', 'list', '--spec-dir', str(cdi)], capture_output=True, text=True, check=True)
    assert listed.stdout == '' and str(cdi / 'x.yaml') in listed.stderr
    assert run('v.com/gpu=d', 'true').returncode != 0
