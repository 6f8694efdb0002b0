"""The toolkit killed at each system call of a change, with a real containerd 2: the guard that watches the change ends it, the
configuration is old or new, the engine runs with it, and an ordinary Pod starts.

GPUOP_KILL_POINTS: how many points, spread over the change (12), "all", or "FROM-TO". Limits are times GPUOP_SLACK, 4 unless said
otherwise."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import BUSYBOX, Engine, need, processes_where
import killed
from test_containerd import toolkit

CLUSTER = pathlib.Path(__file__).resolve().parents[1] / 'cluster'
POINTS = os.environ.get('GPUOP_KILL_POINTS', '12')
SLACK = float(os.environ.get('GPUOP_SLACK', '4'))
FEWEST = 200
IMAGES = '''[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "bed.local/pause:1"
'''


class Host:
    """An engine that can start Pods, and what the toolkit may change."""

    def __init__(self, bin_folder, path):
        self.bin, self.path = pathlib.Path(bin_folder), path
        self.engine = Engine(self.bin / 'containerd', 3, path, IMAGES)
        self.log = open(path / 'toolkit.log', 'ab')
        subprocess.run(['python3', CLUSTER / 'node.d/image.py', path / 'shell.tar', 'bed.local/shell:1', '["/bin/busybox"]', f'/bin/busybox={BUSYBOX}'], check=True)
        for image in (self.bin / 'pause.tar', path / 'shell.tar'):
            subprocess.run([self.bin / 'ctr', '-a', self.engine.socket, '-n', 'k8s.io', 'images', 'import', image], check=True, capture_output=True)
        (path / 'pod.json').write_text(json.dumps({'metadata': {'name': 'ordinary', 'namespace': 'default', 'uid': 'ordinary'},
                                                   'log_directory': str(path), 'linux': {'security_context': {'namespace_options': {'network': 2}}}}))
        (path / 'classed.json').write_text(json.dumps({'metadata': {'name': 'classed', 'namespace': 'default', 'uid': 'classed'},
                                                       'linux': {'security_context': {'namespace_options': {'network': 2}}}}))
        (path / 'container.json').write_text(json.dumps({'metadata': {'name': 'main'}, 'image': {'image': 'bed.local/shell:1'}, 'log_path': 'main.log',
                                                         'command': ['/bin/busybox', 'echo', 'works']}))
        self.files = {'config': self.engine.config, 'drop-in': path / 'conf.d/99-nvidia.toml', 'record': path / 'inst/.toolkit-engine.json'}
        self.old = self.state()

    def state(self):
        return {name: (file.read_bytes(), file.stat().st_mode, file.stat().st_uid) if file.exists() else None for name, file in self.files.items()}

    def crictl(self, *words):
        return subprocess.run([self.bin / 'crictl', '-r', f'unix://{self.engine.socket}', '-t', f'{20 * SLACK:.0f}s', *words],
                              capture_output=True, text=True, timeout=60 * SLACK)

    def within(self, seconds, what):
        end = time.monotonic() + seconds * SLACK
        while not what():
            assert time.monotonic() < end, '%s: not within %s s' % (what.__doc__, seconds * SLACK)
            time.sleep(0.02)

    def guards(self, pid):
        """The guards of a process that was killed."""
        return processes_where(lambda words: words[:3] == ['nvidia-ctk-installer', 'guard', str(pid)])

    def handlers(self):
        """What the engine runs with, whatever its files say."""
        done = self.crictl('info')
        return set(json.loads(done.stdout)['config']['containerd']['runtimes']) if done.returncode == 0 else set()

    def starts_a_pod(self):
        """an ordinary Pod starts"""
        log = self.path / 'main.log'
        log.unlink(missing_ok=True)
        done = self.crictl('run', '--no-pull', str(self.path / 'container.json'), str(self.path / 'pod.json'))
        assert done.returncode == 0, done.stderr

        def wrote():
            """the container wrote its line"""
            return log.exists() and log.read_text().endswith('stdout F works\n')
        self.within(10, wrote)

    def sandboxes(self):
        return json.loads(self.crictl('pods', '-o', 'json').stdout)['items']

    def as_before(self):
        """Without the toolkit again, by hand: what it wrote goes, and the engine reads that."""
        if self.state() == self.old:
            return
        self.files['config'].write_bytes(self.old['config'][0])
        for name in ('drop-in', 'record'):
            self.files[name].unlink(missing_ok=True)
        starts = self.engine.starts()
        os.kill(int((self.path / 'starts').read_text().split()[-1]), signal.SIGHUP)

        def again():
            """the engine was started again"""
            return self.engine.starts() > starts
        self.within(10, again)
        self.engine.wait()


@pytest.fixture(scope='module')
def host(tmp_path_factory):
    need('go', 'runc', 'busybox')
    built = subprocess.run([CLUSTER / 'build', 'node'], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    one = Host(built.stdout.strip(), tmp_path_factory.mktemp('kills'))
    yield one
    one.crictl('rmp', '-af')
    one.engine.stop()
    for line in reversed(pathlib.Path('/proc/mounts').read_text().splitlines()):
        if line.split()[1].startswith(str(one.path) + '/'):
            subprocess.run(['umount', '-l', line.split()[1]])


def check(host, pid, new):
    """After the kill: 'old' or 'new', or a failed assertion that says what is wrong."""
    def ended():
        """the guard ended the change"""
        return not host.guards(pid)
    host.within(60, ended)
    journal = host.path / 'inst/.toolkit-journal'
    assert sorted(p.name for p in journal.iterdir()) in ([], ['lock'])
    left = [p for folder in (host.path, host.path / 'conf.d', host.path / 'inst') if folder.exists() for p in folder.iterdir() if 'gpuop-' in p.name]
    assert not left, left
    host.engine.wait()
    now = host.state()
    assert now in (host.old, new), 'neither old nor new: ' + repr(now)
    assert host.handlers() == ({'runc'} if now == host.old else {'runc', 'nvidia', 'nvidia-cdi', 'nvidia-legacy'}), 'the engine runs with other files than these'
    assert not host.sandboxes(), 'what was tried is still there'
    host.starts_a_pod()
    if now != host.old:
        done = host.crictl('runp', '-r', 'nvidia', str(host.path / 'classed.json'))
        assert done.returncode == 0, done.stderr
    for sandbox in host.sandboxes():
        host.crictl('rmp', '-f', sandbox['id'])

    def gone():
        """no process of a container is left"""
        return not host.engine.shims()
    host.within(10, gone)
    return 'old' if now == host.old else 'new'


def chosen(total):
    if POINTS == 'all':
        return range(1, 2 * total)
    if '-' in POINTS:
        first, last = map(int, POINTS.split('-'))
        return range(first, last + 1)
    return [1 + i * (total - 1) // (int(POINTS) - 1) for i in range(int(POINTS))]


def test_a_toolkit_killed_at_any_system_call_leaves_a_node_that_works(host):
    command = toolkit(host.engine, '--no-daemon')
    _, was_killed, total, status = killed.run(command, host.log)
    assert (was_killed, status) == (False, 0), (host.path / 'toolkit.log').read_text()[-3000:]
    new = host.state()
    assert new['drop-in'] and new['record'] and new != host.old
    assert total >= FEWEST
    points = chosen(total)
    outcomes, began = [], time.monotonic()
    for point in points:
        host.as_before()
        mark = host.log.tell()
        pid, was_killed, counted, status = killed.run(command, host.log, point)
        assert was_killed or status == 0
        try:
            outcome = check(host, pid, new)
        except AssertionError as error:
            said = (host.path / 'toolkit.log').read_bytes()[mark:].decode()
            raise AssertionError(f'killed before call {point} of {total}: {error}\nthe toolkit and its guard:\n{said}\nthe engine:\n{(host.path / "log").read_text()[-2000:]}')
        assert was_killed or outcome == 'new'
        if not was_killed:
            break  # the change had fewer calls than this
        outcomes.append(outcome)
        print(f'point {point} of about {total}: {outcome}, {time.monotonic() - began:.1f} s', flush=True)
    print(f'{len(outcomes)} kills: {outcomes.count("old")} old, {outcomes.count("new")} new, {time.monotonic() - began:.0f} s')
    host.as_before()
    if '-' not in POINTS:
        assert len(outcomes) >= (FEWEST if POINTS == 'all' else int(POINTS) * 3 // 4) and 'old' in outcomes
