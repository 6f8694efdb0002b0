"""The toolkit configures a running dockerd: Debian's 20.10, which knows no CDI, and one that does where ENGINES=docker had it built."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest
from conftest import need
from docker_api import Docker

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine_files  # noqa: E402

PROGRAM = os.environ['GPUOP_PROGRAM']
SLACK = float(os.environ.get('GPUOP_SLACK', '4'))
LOOK = '/bin/busybox ls /dev | /bin/busybox grep "^nvidia[0-9]"; /vector_add'
THEIRS = '''{
    "log-opts":   {"max-size": "10m"},
  %s
}
'''
# sd_listen_fds(3)
ACTIVATE = '''import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])
'''


def within(seconds, what):
    end = time.monotonic() + seconds * SLACK
    while not what():
        assert time.monotonic() < end, '%s: not within %s s' % (what.__doc__, seconds * SLACK)
        time.sleep(0.05)


class Daemon:
    """dockerd with everything of it below one folder."""

    def __init__(self, folder, program, knows_cdi):
        self.run, self.program, self.knows_cdi = folder, program, knows_cdi
        # What it would write or read at its usual place. And Debian's runc is older than Docker's time namespaces.
        self.own_flags = ['--cdi-spec-dir', folder / 'cdi'] if knows_cdi else []
        self.theirs = THEIRS % ('"features": {"time-namespaces": false}' if knows_cdi else '"deprecated-key-path": "%s/key.json"' % folder)
        self.config, self.socket, self.log = folder / 'daemon.json', folder / 'd.sock', folder / 'log'
        self.api = Docker(self.socket)
        self.process = None

    def start(self, *flags, listener=None):
        """`listener`: a socket that is made and held by somebody else, as systemd does it for docker.socket."""
        # Its containerd's sockets lie below these folders, so their names must be short.
        argv = [self.program, '--config-file', self.config, '--data-root', self.run / 'data', '--exec-root', self.run / 'x', '--pidfile', self.run / 'pid',
                '-H', 'unix://%s' % self.socket if listener is None else 'fd://', '--bridge=none', '--ip-forward=false', '--iptables=false', '--ip6tables=false', '--userland-proxy=false', '--storage-driver=vfs', *self.own_flags, *flags]
        if listener is not None:
            argv = [sys.executable, '-c', ACTIVATE, listener.fileno(), *argv]
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen([str(a) for a in argv], stdout=log, stderr=log, start_new_session=True, pass_fds=() if listener is None else (listener.fileno(),),
                                            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))

        def up():
            """dockerd answers"""
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            return self.api.answers()
        within(60, up)

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)
        self.process = None


@pytest.fixture(scope='module', params=['GPUOP_DEBIAN_DOCKER', 'GPUOP_DOCKER'], ids=['debian', 'cdi'])
def docker(request):
    built = os.environ.get(request.param)
    if not built:
        pytest.skip('no %s: `make e2e` unpacks debian-docker, and with ENGINES=docker builds the other' % request.param)
    need('containerd', 'runc', 'busybox', 'clang-19')
    groups = set(pathlib.Path('/sys/fs/cgroup').glob('*/docker'))
    folder = pathlib.Path(tempfile.mkdtemp(prefix='gpuop-', dir='/tmp'))
    one = Daemon(folder, built + '/dockerd', request.param == 'GPUOP_DOCKER')
    one.machine, one.devices = folder / 'machine', folder / 'devices'
    machine_files.create(one.machine)
    (one.devices / 'dev').mkdir(parents=True)
    machine_files.make_nodes(one.machine, one.devices / 'dev')
    one.config.write_text(one.theirs)
    try:
        one.start()
        (folder / 'image').mkdir()
        one.api.load('cuda:1', machine_files.image(one.machine, folder / 'image'))
        yield one
    finally:
        one.stop()
        for line in reversed(pathlib.Path('/proc/mounts').read_text().splitlines()):
            if line.split()[1].startswith(str(folder) + '/'):
                subprocess.run(['umount', '-l', line.split()[1]])
        shutil.rmtree(folder)
        for group in set(pathlib.Path('/sys/fs/cgroup').glob('*/docker')) - groups:
            with contextlib.suppress(OSError):  # another daemon's that began meanwhile
                group.rmdir()


def toolkit(docker, *flags):
    run = docker.run
    return [PROGRAM, 'nvidia-ctk-installer', '--runtime=docker', f'--toolkit-install-dir={run}/nvidia', f'--pid-file={run}/toolkit.pid', f'--config={docker.config}',
            f'--socket={docker.socket}', '--restart-mode=signal', '--set-as-default=false', '--enable-cdi', f'--cdi-output-dir={run}/cdi',
            '--nvidia-container-runtime.mode=cdi', f'--driver-root={docker.machine}/root', f'--dev-root={docker.devices}', f'--dev-root-ctr-path={docker.devices}',
            '--create-device-nodes=none', '--host-root=/', *flags]


def install(docker, *flags):
    return subprocess.run([str(w) for w in toolkit(docker, '--no-daemon', *flags)], env=machine_files.environment(docker.machine), capture_output=True, text=True, timeout=300)


def give_back(docker, *flags):
    """A toolkit that runs as in its Pod is told to end, wherever it is."""
    daemon = subprocess.Popen(toolkit(docker, *flags), env=machine_files.environment(docker.machine))

    def began():
        """the toolkit has begun"""
        assert daemon.poll() is None
        return (docker.run / 'toolkit.pid').exists()
    try:
        within(60, began)
    finally:
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(120) == 0


@pytest.mark.parametrize('default', [False, True], ids=['', 'default'])
def test_containers_get_the_gpus_that_they_name_and_all_is_given_back(docker, default):
    before, flag = docker.config.read_bytes(), '--set-as-default=%s' % str(default).lower()
    done = install(docker, flag)
    assert done.returncode == 0, done.stderr
    written = json.loads(docker.config.read_text())
    assert written['log-opts'] == {'max-size': '10m'} and written['features'] == {**json.loads(before).get('features', {}), 'cdi': True}
    assert set(docker.api.info()['Runtimes']) >= {'runc', 'nvidia', 'nvidia-cdi', 'nvidia-legacy'}
    assert docker.api.info()['DefaultRuntime'] == ('nvidia' if default else 'runc')
    code, said = docker.api.run('cuda:1', LOOK, 'nvidia', ['NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=2'])
    assert code == 0 and said.startswith('nvidia2\ndevices 1\nGPU-') and said.count(' ok\n') == 1, said
    code, said = docker.api.run('cuda:1', LOOK, 'nvidia', ['NVIDIA_VISIBLE_DEVICES=0,5'])
    assert code == 0 and said.startswith('nvidia0\nnvidia5\ndevices 2\n') and said.count(' ok\n') == 2, said
    for runtime, env in (('runc', ['NVIDIA_VISIBLE_DEVICES=all']), ('nvidia', []), ('', ['NVIDIA_VISIBLE_DEVICES=void'])):
        code, said = docker.api.run('cuda:1', LOOK, runtime, env)
        assert code != 0 and 'nvidia' not in said.split('\n')[0] and 'no driver' in said, said
    code, said = docker.api.run('cuda:1', LOOK, 'nvidia', ['NVIDIA_VISIBLE_DEVICES=77'])
    assert code is None and 'unresolvable CDI devices nvidia.com/gpu=77' in said, said
    stamp = docker.config.stat()
    assert install(docker, flag).returncode == 0 and docker.config.stat() == stamp, 'nothing to do, and yet something was written'
    give_back(docker, flag)
    assert docker.config.read_bytes() == before
    # It reads its file without a restart, and would keep what the file no longer says.
    assert 'nvidia' not in docker.api.info()['Runtimes'] and docker.api.info()['DefaultRuntime'] == 'runc'
    code, said = docker.api.run('cuda:1', 'echo still works')
    assert (code, said) == (0, 'still works\n')


def test_a_device_request_gives_what_the_spec_says(docker):
    if not docker.knows_cdi:
        pytest.skip('this Docker knows no CDI')
    assert install(docker).returncode == 0
    code, said = docker.api.run('cuda:1', LOOK, cdi=['nvidia.com/gpu=3'])
    assert code == 0 and said.startswith('nvidia3\ndevices 1\nGPU-') and said.count(' ok\n') == 1, said
    code, said = docker.api.run('cuda:1', LOOK, cdi=['nvidia.com/gpu=all'])
    assert code == 0 and said.count(' ok\n') == 8, said
    code, said = docker.api.run('cuda:1', LOOK, cdi=['nvidia.com/gpu=77'])
    assert code is None and 'nvidia.com/gpu=77' in said, said
    give_back(docker)


def test_a_configuration_that_docker_refuses_is_taken_back(docker):
    """What dockerd was told by a flag a file must not say again: it would go on with the old file, and not start with the new."""
    docker.stop()
    docker.start('--default-runtime', 'runc')
    done = install(docker, '--set-as-default=true')
    assert done.returncode == 1 and 'docker refused its configuration' in done.stderr, done.stderr
    assert docker.config.read_text() == docker.theirs and not (docker.run / 'nvidia/.toolkit-engine.json').exists()
    docker.stop()
    docker.start('--default-runtime', 'runc')
    assert 'nvidia' not in docker.api.info()['Runtimes']


def test_a_docker_whose_socket_somebody_else_made_is_told_of_its_configuration(docker):
    """As packages do it: systemd makes the socket (docker.socket) and dockerd gets it. Who listens is not who must be told."""
    docker.stop()
    docker.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(docker.socket))
        listener.listen()
        docker.start(listener=listener)
        told = []
        before = signal.signal(signal.SIGHUP, lambda *_: told.append('the one who made the socket'))
        try:
            done = install(docker)
            assert done.returncode == 0, done.stderr
            assert set(docker.api.info()['Runtimes']) >= {'nvidia', 'nvidia-cdi', 'nvidia-legacy'}
            give_back(docker)
        finally:
            signal.signal(signal.SIGHUP, before)
            docker.stop()
        assert not told
        assert docker.config.read_text() == docker.theirs
