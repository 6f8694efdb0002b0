"""Real runtimes and engines with our hooks, shim, specs and toolkit. Needs root; what is not installed is left out."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

BUILD = pathlib.Path(os.environ['GPUOP_PROGRAM']).resolve().parent
HOOK = BUILD / 'nvidia-cdi-hook'
SHIM = BUILD / 'nvidia-container-runtime'
BUSYBOX = '/bin/busybox'


def need(*programs):
    """Leaves a test out where a program is missing, or without root."""
    missing = [p for p in programs if shutil.which(p) is None]
    if missing or os.geteuid() != 0:
        pytest.skip('needs root and ' + ', '.join(programs))


def processes_where(fits):
    """The ids of processes whose command line, a list of words, fits."""
    found = []
    for file in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
        try:
            words = file.read_bytes().decode().split('\0')
        except (FileNotFoundError, ProcessLookupError):
            continue
        if fits(words):
            found.append(int(file.parent.name))
    return found


@pytest.fixture
def bundle(tmp_path):
    """An OCI bundle of busybox with a small library tree, and a function that runs it under a runtime."""
    need('runc', 'busybox')
    root = tmp_path / 'bundle/rootfs'
    for folder in ('bin', 'etc', 'lib64', 'opt/nv', 'proc', 'dev', 'sys', 'tmp'):
        (root / folder).mkdir(parents=True)
    shutil.copy(BUSYBOX, root / 'bin/busybox')
    shutil.copy(next(pathlib.Path('/lib/x86_64-linux-gnu').glob('libz.so.1.*')), root / 'opt/nv/libz.so.1')
    ldconfig = '/sbin/ldconfig.real' if os.path.exists('/sbin/ldconfig.real') else '/sbin/ldconfig'
    shutil.copy(ldconfig, root / 'bin/ldconfig')
    subprocess.run(['runc', 'spec'], cwd=root.parent, check=True)
    return Bundle(root.parent)


class Bundle:
    def __init__(self, path):
        self.path, self.root = path, path / 'rootfs'
        self.spec = json.loads((path / 'config.json').read_text())
        self.spec['process'].update(terminal=False, rlimits=[])
        self.spec['root']['readonly'] = False
        self.spec['linux']['resources'] = {'devices': [{'allow': False, 'access': 'rwm'}]}

    def run(self, command, runtime='runc', env=None, check=True):
        self.spec['process']['args'] = ['/bin/busybox', 'sh', '-c', command]
        (self.path / 'config.json').write_text(json.dumps(self.spec))
        name = 'gpuop-e2e-%d' % os.getpid()
        arguments = [str(runtime), 'run', name] if runtime == 'runc' else None
        if arguments:
            return subprocess.run(arguments, cwd=self.path, capture_output=True, text=True, check=check, timeout=60, env=env)
        # An engine's way: create, start, wait, delete. The container's output is this pipe.
        out = self.path / 'out'
        with open(out, 'w+') as file:
            created = subprocess.run([str(runtime), 'create', '--bundle', str(self.path), name], stdout=file, stderr=subprocess.STDOUT, timeout=60, env=env)
            if created.returncode == 0:
                subprocess.run([str(runtime), 'start', name], check=True, timeout=60, env=env)
                for _ in range(200):
                    state = json.loads(subprocess.run(['runc', 'state', name], capture_output=True, text=True, check=True).stdout)
                    if state['status'] == 'stopped':
                        break
                    subprocess.run(['sleep', '0.05'], check=True)
                subprocess.run([str(runtime), 'delete', '--force', name], check=True, timeout=60, env=env)
        created.stdout = out.read_text()
        if check:
            assert created.returncode == 0, created.stdout
        return created

    def hook(self, *arguments, env=('NVIDIA_CTK_DEBUG=false',)):
        hook = {'path': str(HOOK), 'args': ['nvidia-cdi-hook', *arguments], 'env': list(env)}
        self.spec.setdefault('hooks', {}).setdefault('createContainer', []).append(hook)


def mounts():
    return sorted(pathlib.Path('/proc/self/mountinfo').read_text().splitlines())


class Engine:
    """containerd under a loop that starts it again, as systemd would."""

    def __init__(self, program, version, path, more='', on_hangup=signal.SIG_DFL):
        self.path = path
        self.config, self.socket = path / 'config.toml', path / 'c.sock'
        cri = 'io.containerd.grpc.v1.cri' if version == 2 else 'io.containerd.cri.v1.runtime'
        self.config.write_text(f'''# theirs
version = {version}
root = "{path}/root"
state = "{path}/state"
[grpc]
  address = "{self.socket}"
[plugins."{cri}"]
  restrict_oom_score_adj = true   # odd   blanks
  [plugins."{cri}".containerd]
    default_runtime_name = "runc"
    [plugins."{cri}".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
{more}''')
        (path / 'net.d').mkdir()
        loop = f"""trap 'kill $p; wait $p; exit' TERM; while :; do {program} -c {self.config} >> {path}/log 2>&1 & p=$!; echo $p >> {path}/starts; wait $p; done"""
        # Who starts the tests by nohup would have an engine that is deaf to the signal.
        # And an engine starts the shim of its own version, which lies beside it.
        path_of_programs = os.path.dirname(shutil.which(program)) + ':' + os.environ['PATH']
        self.process = subprocess.Popen(['sh', '-c', loop], start_new_session=True, env=dict(os.environ, PATH=path_of_programs),
                                        preexec_fn=lambda: signal.signal(signal.SIGHUP, on_hangup))
        self.wait()

    def wait(self):
        for _ in range(200):
            if self.socket.exists() and subprocess.run(['ctr', '-a', str(self.socket), 'version'], capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise AssertionError((self.path / 'log').read_text()[-3000:])

    def starts(self):
        return len((self.path / 'starts').read_text().split())

    def shims(self):
        """The processes that hold this engine's containers: they live on when it ends."""
        return processes_where(lambda words: 'containerd-shim' in words[0] and str(self.socket) in words)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(60)
        # A failed test may have left containers: they would run for as long as this computer does.
        for shim in self.shims():
            children = subprocess.run(['pgrep', '-P', str(shim)], capture_output=True, text=True).stdout.split()
            for pid in (*map(int, children), shim):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
