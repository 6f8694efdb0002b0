"""The toolkit configures a running CRI-O, where ENGINES=crio had it built: containers get GPUs by its handler and by CDI, over the CRI."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from conftest import need

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine_files  # noqa: E402

PROGRAM = os.environ['GPUOP_PROGRAM']
CLUSTER = pathlib.Path(__file__).resolve().parents[1] / 'cluster'
SLACK = float(os.environ.get('GPUOP_SLACK', '4'))
LOOK = '/bin/busybox ls /dev | /bin/busybox grep "^nvidia[0-9]"; /vector_add'
CONFIG = '''# theirs
[crio]
root = "{run}/root"
runroot = "{run}/runroot"
storage_driver = "vfs"
log_dir = "{run}/logs"
version_file = "{run}/version"
clean_shutdown_file = "{run}/clean.shutdown"
[crio.api]
listen = "{run}/crio.sock"
[crio.runtime]
default_runtime = "runc"     # odd   blanks
cgroup_manager = "cgroupfs"
conmon_cgroup = "pod"
pinns_path = "{bin}/pinns"
container_exits_dir = "{run}/exits"
container_attach_socket_dir = "{run}/attach"
namespaces_dir = "{run}/ns"
hooks_dir = ["{run}/hooks.d"]
cdi_spec_dirs = ["{run}/cdi"]
[crio.runtime.runtimes.runc]
runtime_path = "{run}/runc-here"
runtime_root = "{run}/runc"
monitor_path = "/usr/bin/conmon"
monitor_cgroup = "pod"
[crio.image]
pause_image = "bed.local/pause:1"
pause_command = "/pause"
signature_policy = "{run}/policy.json"
[crio.network]
network_dir = "{run}/net.d"
plugin_dirs = ["{bin}"]
[crio.nri]
enable_nri = false
'''
# A computer without CAP_SYS_RESOURCE lowers no process's oom_score_adj; CRI-O asks for that.
RUNC = '''#!/bin/sh
for word in "$@"; do
  [ "$last" = --bundle ] && sed -i 's/"oomScoreAdj": *-[0-9]*/"oomScoreAdj": 0/' "$word/config.json"
  last=$word
done
exec runc "$@"
'''
# What systemd would do.
SYSTEMCTL = '''#!/bin/sh
[ "$*" = 'restart crio' ] || exit 4
old=$(tail -n1 {run}/starts)
kill "$old"
while [ "$(tail -n1 {run}/starts)" = "$old" ]; do sleep 0.1; done
echo restarted >> {run}/restarts
'''


class Crio:
    def __init__(self, built, node, run):
        self.bin, self.node, self.run = pathlib.Path(built), pathlib.Path(node), run
        self.config, self.socket = run / 'crio.conf', run / 'crio.sock'
        self.machine, self.devices = run / 'machine', run / 'devices'
        for folder in ('tools', 'crio.conf.d', 'hooks.d', 'net.d', 'cdi', 'image', 'devices/dev'):
            (run / folder).mkdir(parents=True)
        self.config.write_text(CONFIG.format(run=run, bin=built))
        (run / 'policy.json').write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
        for name, text in (('runc-here', RUNC), ('tools/systemctl', SYSTEMCTL.format(run=run))):
            (run / name).write_text(text)
            (run / name).chmod(0o755)
        self.env = dict(machine_files.environment(self.machine), PATH=os.pathsep.join([str(run / 'tools'), os.environ['PATH']]))
        machine_files.create(self.machine)
        machine_files.make_nodes(self.machine, self.devices / 'dev')
        files = machine_files.image(self.machine, run / 'image')
        subprocess.run(['python3', CLUSTER / 'node.d/image.py', run / 'cuda.tar', 'bed.local/cuda:1', '["/vector_add"]', *('%s=%s' % f for f in files.items())], check=True)
        for image in (self.node / 'pause.tar', run / 'cuda.tar'):
            subprocess.run(['podman', '--root', run / 'root', '--runroot', run / 'runroot', '--storage-driver', 'vfs', 'load', '-i', image], check=True, capture_output=True)
        loop = f"""trap 'kill $p; wait $p; exit' TERM; while :; do {self.bin}/crio -c {self.config} -d {run}/crio.conf.d >> {run}/log 2>&1 & p=$!; echo $p >> {run}/starts; wait $p; done"""
        self.process = subprocess.Popen(['sh', '-c', loop], start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        self.within(60, self.answers)

    def within(self, seconds, what):
        end = time.monotonic() + seconds * SLACK
        while not what():
            assert time.monotonic() < end, '%s: not within %s s\n%s' % (what.__doc__, seconds * SLACK, (self.run / 'log').read_text()[-3000:])
            time.sleep(0.1)

    def crictl(self, *words):
        return subprocess.run([self.node / 'crictl', '-r', f'unix://{self.socket}', '-t', f'{20 * SLACK:.0f}s', *words], capture_output=True, text=True, timeout=60 * SLACK)

    def answers(self):
        """CRI-O answers"""
        return self.crictl('version').returncode == 0

    def restarts(self):
        file = self.run / 'restarts'
        return len(file.read_text().split()) if file.exists() else 0

    def once(self, command, handler='', env=None, cdi=()):
        """Runs a shell's command in a Pod of one container to its end: its output, or None and what CRI-O said."""
        log = self.run / 'pods/main.log'
        log.unlink(missing_ok=True)
        pod, container = self.run / 'pod.json', self.run / 'container.json'
        pod.write_text(json.dumps({'metadata': {'name': 'one', 'namespace': 'default', 'uid': 'one'}, 'log_directory': str(log.parent),
                                   'linux': {'security_context': {'namespace_options': {'network': 2}}}}))
        container.write_text(json.dumps({'metadata': {'name': 'main'}, 'image': {'image': 'bed.local/cuda:1'}, 'log_path': 'main.log',
                                         'command': ['/bin/busybox', 'sh', '-c', 'exec 2>&1; %s; echo over' % command],
                                         'envs': [{'key': k, 'value': v} for k, v in (env or {}).items()], 'CDI_devices': [{'name': n} for n in cdi]}))
        try:
            done = self.crictl('run', '--no-pull', *(['-r', handler] if handler else []), str(container), str(pod))
            if done.returncode != 0:
                return None, done.stderr

            def over():
                """the container has ended"""
                return log.exists() and log.read_text().endswith(' F over\n')
            self.within(60, over)
            return ''.join(line.split(' ', 3)[3] for line in log.read_text().splitlines(True)[:-1]), ''
        finally:
            self.crictl('rmp', '-af')

    def toolkit(self, *flags):
        run = self.run
        return [PROGRAM, 'nvidia-ctk-installer', '--runtime=crio', f'--toolkit-install-dir={run}/nvidia', f'--pid-file={run}/toolkit.pid', f'--config={self.config}',
                f'--drop-in-config={run}/crio.conf.d/99-nvidia.toml', f'--socket={self.socket}', f'--hooks-dir={run}/hooks.d', '--set-as-default=false', '--enable-cdi', f'--cdi-output-dir={run}/cdi',
                '--nvidia-container-runtime.mode=cdi', f'--driver-root={self.machine}/root', f'--dev-root={self.devices}', f'--dev-root-ctr-path={self.devices}',
                '--create-device-nodes=none', '--host-root=/', *flags]

    def install(self, *flags):
        return subprocess.run(self.toolkit('--no-daemon', *flags), env=self.env, capture_output=True, text=True, timeout=600)

    def give_back(self, *flags):
        """A toolkit that runs as in its Pod is told to end, wherever it is."""
        daemon = subprocess.Popen(self.toolkit(*flags), env=self.env)

        def began():
            """the toolkit has begun"""
            assert daemon.poll() is None
            return (self.run / 'toolkit.pid').exists()
        try:
            self.within(60, began)
        finally:
            daemon.send_signal(signal.SIGTERM)
            assert daemon.wait(300) == 0

    def stop(self):
        self.crictl('rmp', '-af')
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(60)


@pytest.fixture(scope='module')
def crio():
    built = os.environ.get('GPUOP_CRIO')
    if not built:
        pytest.skip('CRI-O is left out: `make e2e ENGINES=crio` builds it')
    need('go', 'runc', 'conmon', 'podman', 'busybox', 'clang-19')
    node = subprocess.run([CLUSTER / 'build', 'node'], capture_output=True, text=True)
    assert node.returncode == 0, node.stderr
    run = pathlib.Path(tempfile.mkdtemp(prefix='gpuop-', dir='/tmp'))
    one = None
    try:
        one = Crio(built, node.stdout.strip(), run)
        yield one
    finally:
        if one is not None:
            one.stop()
        for line in reversed(pathlib.Path('/proc/mounts').read_text().splitlines()):
            if line.split()[1].startswith(str(run) + '/'):
                subprocess.run(['umount', '-l', line.split()[1]])
        shutil.rmtree(run)


def test_pods_get_the_gpus_that_they_name_and_all_is_given_back(crio):
    before, drop_in = crio.config.read_bytes(), crio.run / 'crio.conf.d/99-nvidia.toml'
    said, why = crio.once('echo works')
    assert said == 'works\n', why
    done = crio.install()
    assert done.returncode == 0 and 'no sandbox' not in done.stderr, done.stderr
    assert crio.config.read_bytes() == before and 'nvidia-container-runtime.cdi' in drop_in.read_text() and crio.restarts() == 1
    said, why = crio.once(LOOK, 'nvidia', {'NVIDIA_VISIBLE_DEVICES': 'nvidia.com/gpu=2'})
    assert said and said.startswith('nvidia2\ndevices 1\nGPU-') and said.count(' ok\n') == 1, (said, why)
    # CRI-O reads the same specs itself, whatever the handler.
    said, why = crio.once(LOOK, cdi=['nvidia.com/gpu=0', 'nvidia.com/gpu=5'])
    assert said and said.startswith('nvidia0\nnvidia5\ndevices 2\n') and said.count(' ok\n') == 2, (said, why)
    for handler, env in (('', {'NVIDIA_VISIBLE_DEVICES': 'all'}), ('nvidia', {}), ('nvidia', {'NVIDIA_VISIBLE_DEVICES': 'void'})):
        said, why = crio.once(LOOK, handler, env)
        assert said is not None and 'nvidia' not in said.split('\n')[0] and ' ok\n' not in said, (said, why)
    said, why = crio.once(LOOK, 'nvidia', {'NVIDIA_VISIBLE_DEVICES': '77'})
    assert said is None and 'nvidia.com/gpu=77' in why, (said, why)
    stamp = drop_in.stat()
    assert crio.install().returncode == 0 and drop_in.stat() == stamp and crio.restarts() == 1, 'nothing to do, and yet something was done'
    crio.give_back()
    assert crio.config.read_bytes() == before and not drop_in.exists() and crio.restarts() == 2
    said, why = crio.once('echo still works')
    assert said == 'still works\n', why


def test_a_configuration_that_crio_does_not_start_with_is_taken_back(crio):
    """Somebody else's file says a handler of ours otherwise, and is read after ours: CRI-O would run that."""
    other = crio.run / 'crio.conf.d/99-z.conf'
    other.write_text('[crio.runtime.runtimes.nvidia]\nruntime_path = "/no/such/runtime"\n')
    restarts = crio.restarts()
    done = crio.install()
    assert done.returncode == 1 and 'would be hidden' in done.stderr and crio.restarts() == restarts, done.stderr
    other.unlink()
    assert not (crio.run / 'crio.conf.d/99-nvidia.toml').exists() and not (crio.run / 'nvidia/.toolkit-engine.json').exists()


def test_a_runtime_that_starts_nothing_is_taken_back(crio):
    """CRI-O starts with it and lists it, and no sandbox of it starts."""
    restarts = crio.restarts()
    done = crio.install('--nvidia-container-runtime.runtimes=/no/such/runtime')
    assert done.returncode == 1 and 'handler nvidia' in done.stderr, done.stderr
    assert not (crio.run / 'crio.conf.d/99-nvidia.toml').exists() and crio.restarts() == restarts + 2
    said, why = crio.once('echo still works')
    assert said == 'still works\n', why
    assert json.loads(crio.crictl('pods', '-o', 'json').stdout)['items'] == []


def test_instead_of_a_hook_whose_program_is_gone_crio_gets_the_runtimes(crio):
    """NVIDIA's toolkit in hook mode, killed before it could clean up, and replaced by ours: ours has no such program,
    and CRI-O passes over a hook without one."""
    hook = crio.run / 'hooks.d/oci-nvidia-hook.json'
    program = crio.run / 'nvidia/toolkit/nvidia-container-runtime-hook'
    hook.write_text(json.dumps({'version': '1.0.0', 'hook': {'path': str(program), 'args': ['nvidia-container-runtime-hook', 'prestart']},
                                'when': {'always': True, 'commands': ['.*']}, 'stages': ['prestart']}))
    said, why = crio.once(LOOK, env={'NVIDIA_VISIBLE_DEVICES': 'nvidia.com/gpu=1'})
    assert said is not None and ' ok\n' not in said, (said, why)
    done = crio.install('--config-mode=hook')
    assert done.returncode == 0 and 'is taken away' in done.stderr and 'no part of this toolkit' in done.stderr, done.stderr
    assert not hook.exists()
    # As by the hook, a container that names no handler gets what it asks for.
    said, why = crio.once(LOOK, env={'NVIDIA_VISIBLE_DEVICES': 'nvidia.com/gpu=1'})
    assert said and said.startswith('nvidia1\ndevices 1\nGPU-'), (said, why)
    crio.give_back()
    said, why = crio.once('echo still works')
    assert said == 'still works\n', why
