"""The demo as a newcomer runs it, and that it leaves nothing behind, also when it is cut short at any moment."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import ROOT, kubectls, wait

SLACK = float(os.environ.get('GPUOP_SLACK', '4'))
DEMO = ROOT / 'tools/demo'

pytestmark = pytest.mark.skipif(not kubectls(), reason='no kubectl from 1.27 on')


class Demo:
    """A run of its own: files go below a folder that says whose they are."""

    def __init__(self, folder, **env):
        self.folder = folder
        bin_folder = folder / 'bin'
        bin_folder.mkdir()
        kubectl = kubectls().get('pinned') or list(kubectls().values())[-1]
        (bin_folder / 'kubectl').symlink_to(kubectl)
        (folder / 'tmp').mkdir()
        self.machines = set(memory())
        self.log = folder / 'log'
        with open(self.log, 'wb') as log:
            # What runs in the background of a script begins with SIGINT ignored, and no shell below it can change that.
            self.process = subprocess.Popen(
                ['env', '--default-signal=INT', str(DEMO), os.environ['GPUOP_PROGRAM']], stdout=log, stderr=log, start_new_session=True,
                env=dict(os.environ, PATH='%s:%s' % (bin_folder, os.environ['PATH']), TMPDIR=str(folder / 'tmp'), HOME=str(folder), **env))

    def interrupt(self, number):
        """As a terminal does: to all that the demo started itself."""
        os.killpg(self.process.pid, number)
        self.process.wait(timeout=30 * SLACK)

    def ends_clean(self):
        def clean():
            """nothing is left of the demo"""
            return not self.left()
        wait(clean, 20 * SLACK, words=lambda: '%s\n%s' % (self.left(), self.log.read_text()))

    def left(self):
        """What is still there of it: processes, folders of its own and of its machines, mounts."""
        out = [str(p) for p in (self.folder / 'tmp').iterdir()]
        out += ['%s: %s' % p for p in processes(str(self.folder / 'tmp'))]
        ours = set(memory()) - self.machines
        # Others' clusters may have begun meanwhile; theirs are locked by a process that is none of ours.
        out += [str(p) for p in ours if not in_use(p)]
        out += [line for line in pathlib.Path('/proc/self/mounts').read_text().splitlines() if str(self.folder) in line]
        return out


def memory():
    """Folders of machines, everybody's."""
    return pathlib.Path('/dev/shm').glob('gpuop-*') if os.path.isdir('/dev/shm') else []


def in_use(folder):
    return subprocess.run(['flock', '-n', str(folder / '.cluster'), 'true'], capture_output=True).returncode != 0


def processes(word):
    """Processes that name a file below that folder."""
    out = []
    for entry in pathlib.Path('/proc').iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode(errors='replace')
        except OSError:
            continue
        if word in command:
            out.append((entry.name, command))
    return out


@pytest.mark.parametrize('seconds', [0.05, 0.6, 2.5, 9])
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['INT', 'TERM'])
def test_cut_short_it_leaves_nothing(tmp_path, number, seconds):
    demo = Demo(tmp_path)
    time.sleep(seconds)
    demo.interrupt(number)
    assert demo.process.returncode in (128 + number, -number), demo.log.read_text()
    demo.ends_clean()


def test_the_whole_of_it(tmp_path):
    began = time.monotonic()
    demo = Demo(tmp_path)
    demo.process.wait(timeout=120 * SLACK)
    took = time.monotonic() - began
    said = demo.log.read_text()
    assert demo.process.returncode == 0, said
    print('%.1f s' % took)
    for line in ('3 of 3 GPU nodes fit; 17 GPUs advertised', 'TooFewGPUsOnOneNode', 'ArchitectureMismatch', 'GPUOffBus', 'Done;'):
        assert line in said, (line, said)
    assert len(re.findall('vectorAdd: Proved: 1 of 1 devices computed', said)) == 3, said
    demo.ends_clean()
    assert took <= 60 * SLACK, said


@pytest.mark.skipif(not shutil.which('flock'), reason='no flock(1)')
def test_kept_it_goes_when_its_process_is_ended(tmp_path):
    demo = Demo(tmp_path, KEEP='1')
    demo.process.wait(timeout=120 * SLACK)
    said = demo.log.read_text()
    assert demo.process.returncode == 0, said
    number, folder = re.search(r'to end it: kill (\d+); rm -r (\S+)', said).groups()
    kubeconfig = re.search(r'KUBECONFIG=(\S+)', said).group(1)
    done = subprocess.run([str(tmp_path / 'bin/kubectl'), '--kubeconfig', kubeconfig, 'get', 'nodes', '-o', 'name'], capture_output=True, text=True)
    assert len(done.stdout.split()) == 4, done.stderr
    os.kill(int(number), signal.SIGTERM)

    def gone():
        """the cluster ended"""
        return not processes(folder)
    wait(gone, 20 * SLACK)
    shutil.rmtree(folder)
    demo.ends_clean()
