"""A real node: kube-apiserver, kubelet, containerd 2 and runc, with a simulated machine's driver as the host's.

`node` is this computer, with everything of the node below one folder; programs are started beside it. `host` is a node whose
engine and kubelet run on the machine, at the usual places of a host: what a chart needs. One of them at a time.

Needs root, Go (for e2e/cluster/build), runc, iptables and a C compiler; without them everything here is left out and says why.
GPUOP_PROGRAM is the built gpu-operator; the programs for hosts lie beside it. Limits are times GPUOP_SLACK, 4 unless said
otherwise.
"""
import contextlib
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine_files  # noqa: E402
from machine_files import make_nodes  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ['GPUOP_PROGRAM']
CLUSTER = ROOT / 'e2e/cluster'
SLACK = float(os.environ.get('GPUOP_SLACK', '4'))


def wait(what, seconds=60.0):
    end = time.monotonic() + seconds * SLACK
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError('not within %s s: %s' % (seconds * SLACK, what.__doc__))


RUNNING = []


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A failure tells what ran on the node and what it wrote."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.sections += [('the node', one.explain()) for one in RUNNING]


def missing():
    if os.geteuid() != 0:
        return 'a node needs root'
    tools = [t for t in ('go', 'runc', 'iptables', 'clang-19', 'busybox', 'openssl') if shutil.which(t) is None]
    return 'not installed: ' + ', '.join(tools) if tools else None


class Node:
    """The node with its cluster, and the machine whose driver is its host's."""

    def __init__(self, bin_folder, run):
        self.bin, self.run = pathlib.Path(bin_folder), pathlib.Path(run)
        self.machine, self.devices = self.run / 'machine', self.run / 'devices'
        self.env = machine_files.environment(self.machine)
        self.children = []

    def start(self, name, *arguments, **more):
        log = open(self.run / (name + '.log'), 'ab')
        child = subprocess.Popen([str(a) for a in arguments], stdout=log, stderr=log, start_new_session=True, **more)
        self.children.append(child)
        return child

    def kubectl(self, *arguments, check=True, stdin=None):
        return subprocess.run([str(self.bin / 'kubectl'), '--kubeconfig', str(self.run / 'admin.kubeconfig'), *arguments],
                              input=stdin, capture_output=True, text=True, check=check, timeout=120)

    def apply(self, *things):
        done = self.kubectl('apply', '-f', '-', check=False, stdin=json.dumps({'apiVersion': 'v1', 'kind': 'List', 'items': list(things)}))
        assert done.returncode == 0, done.stderr

    def get(self, kind, name):
        done = self.kubectl('get', kind, name, '-o', 'json', check=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def once(self, name, command, seconds=90, **spec):
        """Runs a Pod to its end: its phase and log."""
        resources = spec.pop('resources', {})
        env = [{'name': k, 'value': v} for k, v in spec.pop('env', {}).items()]
        self.apply({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name, 'namespace': 'default', 'annotations': spec.pop('annotations', {})},
                    'spec': {'restartPolicy': 'Never', 'terminationGracePeriodSeconds': 0, 'automountServiceAccountToken': False, **spec,
                             'containers': [{'name': 'main', 'image': 'bed.local/cuda:1', 'imagePullPolicy': 'Never', 'env': env, 'resources': resources,
                                             'command': ['/bin/busybox', 'sh', '-c', command]}]}})

        def over():
            """the Pod has ended"""
            pod = self.get('pod', name)
            phase = pod.get('status', {}).get('phase')
            return phase if phase in ('Succeeded', 'Failed') else None
        try:
            phase = wait(over, seconds)
        except AssertionError as late:
            raise AssertionError('%s\n%s' % (late, self.kubectl('describe', 'pod', name).stdout[-3000:]))
        log = self.kubectl('logs', name, check=False).stdout
        self.kubectl('delete', 'pod', name, '--force', '--grace-period=0', '--wait=true', check=False)
        return phase, log

    def explain(self, namespace='gpu-operator'):
        out = ['%s:\n%s' % (log.name, ''.join(log.read_text(errors='replace').splitlines(True)[-15:])) for log in sorted(self.run.glob('*.log'))
               if log.stem not in ('etcd', 'apiserver', 'kcm', 'scheduler', 'pod-resources')]
        out.append(self.kubectl('get', 'pods', '-A', '-o', 'wide', check=False).stdout)
        for pod in json.loads(self.kubectl('-n', namespace, 'get', 'pods', '-o', 'json', check=False).stdout or '{"items": []}')['items']:
            name, status = pod['metadata']['name'], pod['status']
            for container in status.get('initContainerStatuses', []) + status.get('containerStatuses', []):
                if not container['ready']:
                    said = self.kubectl('-n', namespace, 'logs', '--tail=15', name, '-c', container['name'], check=False).stdout
                    out.append('%s %s: %s\n%s' % (name, container['name'], json.dumps(container['state']), said))
        out.append(self.kubectl('get', 'events', '-A', '--sort-by=.lastTimestamp', check=False).stdout[-3000:])
        return '\n'.join(out)

    def ready(self):
        """the node is Ready"""
        conditions = self.get('node', 'bed-node').get('status', {}).get('conditions', [])
        return any(c['type'] == 'Ready' and c['status'] == 'True' for c in conditions)

    def allocatable(self, resource='nvidia.com/gpu'):
        return int(self.get('node', 'bed-node').get('status', {}).get('allocatable', {}).get(resource, 0))

    def engine_answers(self):
        """containerd answers"""
        return subprocess.run([self.bin / 'ctr', '-a', self.run / 'containerd.sock', 'version'], capture_output=True).returncode == 0

    def engine_starts(self):
        return len((self.run / 'containerd.starts').read_text().split())

    def restart_engine(self):
        before = self.engine_starts()
        os.kill(int((self.run / 'containerd.starts').read_text().split()[-1]), signal.SIGTERM)

        def again():
            """containerd was started again and answers"""
            return self.engine_starts() > before and self.engine_answers()
        wait(again)

    def restart_kubelet(self):
        pid = int((self.run / 'kubelet.pid').read_text())
        argv = (pathlib.Path('/proc') / str(pid) / 'cmdline').read_bytes().decode().split('\0')[:-1]
        os.kill(pid, signal.SIGTERM)
        while pathlib.Path('/proc', str(pid)).exists() and 'Z' not in pathlib.Path('/proc', str(pid), 'stat').read_text().split()[2]:
            time.sleep(0.1)
        child = self.start('kubelet', *argv, env=dict(os.environ, PATH=str(self.bin) + ':' + os.environ['PATH']))
        (self.run / 'kubelet.pid').write_text(str(child.pid))

    def start_plugin(self):
        """The device plugin, with the machine's /dev as its own and the engine's CDI folder at its usual place."""
        script = 'mount --bind "$RUN/devices/dev" /dev && mkdir -p /var/run/cdi && mount --bind "$RUN/cdi" /var/run/cdi && exec "$@"'
        roots = ['--driver-root=%s/root' % self.machine, '--driver-root-ctr-path=%s/root' % self.machine, '--dev-root=%s' % self.devices]
        return self.start('plugin', 'unshare', '-m', '--propagation', 'private', 'sh', '-c', script, 'x', PROGRAM, 'nvidia-device-plugin', *roots,
                          '--device-list-strategy=cdi-cri', '--nvidia-cdi-hook-path=%s/nvidia/toolkit/nvidia-cdi-hook' % self.run,
                          env=dict(self.env, RUN=str(self.run)))

    def stop(self):
        for child in self.children:
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()


def wait_for_rmdir(folder):
    def gone():
        """the control group is empty"""
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError:
            return False
        return True
    wait(gone, 10)


class Host(Node):
    """A node whose engine and kubelet run on the machine."""

    def pid(self, name):
        return int((self.run / (name + '.starts')).read_text().split()[-1])

    def restart_kubelet(self):
        before = self.pid('kubelet')
        os.kill(before, signal.SIGTERM)

        def again():
            """the kubelet was started again"""
            return self.pid('kubelet') != before
        wait(again)

    def nvidia_smi(self, *words):
        done = subprocess.run([PROGRAM, 'machine', 'run', self.machine, '--', 'nvidia-smi', *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def boot_id(self):
        return self.get('node', 'bed-node')['status']['nodeInfo']['bootID']

    def processes(self):
        """Of the machine: those that see its files as it does, and all that these have started."""
        parents, all_of_it = {}, set()
        own = os.readlink('/proc/%d/ns/mnt' % self.pid('containerd'))
        for folder in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                parents[int(folder.name)] = int((folder / 'stat').read_text().rsplit(')', 1)[1].split()[1])
                if os.readlink(folder / 'ns/mnt') == own:
                    all_of_it.add(int(folder.name))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        more = True
        while more:
            more = {pid for pid, parent in parents.items() if parent in all_of_it} - all_of_it
            all_of_it |= more
        return all_of_it

    def reboot(self):
        """Power off and on: every process of the machine ends, /run is empty, the boot has another name."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for group in pathlib.Path('/sys/fs/cgroup').glob('*/kubepods'):
            for folder, _, _ in os.walk(group, topdown=False):
                wait_for_rmdir(folder)
        shutil.rmtree(self.machine / 'root/run')
        (self.machine / 'root/run/containerd').mkdir(parents=True)
        subprocess.run([PROGRAM, 'machine', 'reboot', self.machine], check=True, capture_output=True)
        make_nodes(self.machine, self.machine / 'root/dev')
        (self.run / 'boot_id').write_text(pathlib.Path('/proc/sys/kernel/random/uuid').read_text())
        log = open(self.run / 'machine.log', 'ab')
        subprocess.Popen([PROGRAM, 'machine', 'run', str(self.machine), '--', str(CLUSTER / 'node.d/boot'), str(self.bin), str(self.run)],
                         stdout=log, stderr=log, start_new_session=True)
        wait(self.engine_answers)


def make_image(node):
    """An image with a CUDA program, a shell, and the C library: nothing of the driver."""
    files = machine_files.image(node.machine, node.run)
    subprocess.run(['python3', CLUSTER / 'node.d/image.py', node.run / 'cuda.tar', 'bed.local/cuda:1', '["/vector_add"]',
                    *('%s=%s' % f for f in files.items())], check=True)
    subprocess.run([node.bin / 'ctr', '-a', node.run / 'containerd.sock', '-n', 'k8s.io', 'images', 'import', node.run / 'cuda.tar'], check=True, capture_output=True)


def make_machine(node):
    """A machine's files as the driver's root, and a /dev with its nodes."""
    machine_files.create(node.machine)
    (node.devices / 'dev').mkdir(parents=True)
    for name, minor in (('null', 3), ('zero', 5), ('full', 7), ('random', 8), ('urandom', 9)):
        os.mknod(node.devices / 'dev' / name, 0o20666, os.makedev(1, minor))
        os.chmod(node.devices / 'dev' / name, 0o666)
    make_nodes(node.machine, node.devices / 'dev')


def built():
    reason = missing()
    if reason:
        pytest.skip('no real node here: ' + reason)
    done = subprocess.run([CLUSTER / 'build', 'control-plane', 'node', 'helm'], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextlib.contextmanager
def bed(kind):
    """Where a node of this kind will run; the node and its cluster are gone afterwards."""
    one = kind(built(), tempfile.mkdtemp(prefix='gpuop-node-', dir='/tmp'))
    RUNNING.append(one)
    try:
        yield one
    finally:
        RUNNING.remove(one)
        one.stop()
        subprocess.run([CLUSTER / 'down', one.run])


def up(one, *machine):
    subprocess.run([CLUSTER / 'up', one.bin, one.run, '--node', *machine], check=True, timeout=300)


@pytest.fixture(scope='module')
def node():
    with bed(Node) as one:
        up(one)
        make_machine(one)
        make_image(one)
        yield one


@pytest.fixture(scope='module')
def host():
    with bed(Host) as one:
        machine_files.create(one.machine)
        make_nodes(one.machine, one.machine / 'root/dev')
        up(one, one.machine)
        make_image(one)
        yield one
