"""config-manager on an API server: the label of one node, the files of a mounted ConfigMap, and a program that hears."""
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from kubernetes import client, config

from conftest import wait

LABEL = 'nvidia.com/device-plugin.config'
# Writes a line for each SIGHUP, and is called as argv[0] says.
LISTENER = '''
import signal, sys
out = open(sys.argv[1], 'w', buffering=1)
signal.signal(signal.SIGHUP, lambda *_: out.write('hup\\n'))
out.write('ready\\n')
while True: signal.pause()
'''


class Bed:
    """A node, a folder as the kubelet mounts a ConfigMap, a listener, and config-manager."""

    def __init__(self, server, folder, node):
        self.folder, self.node, self.name = folder, node, 'listener-%d-%s' % (os.getpid(), node)
        self.nodes = client.CoreV1Api(config.new_client_from_config(server.kubeconfig))
        self.kubeconfig, self.processes, self.version = server.kubeconfig, [], 0
        self.link = folder / 'config' / 'config.yaml'
        (folder / 'available').mkdir()

    def mount(self, **files):
        """As the kubelet exchanges a volume: a new folder, and one link to it renamed into place."""
        self.version += 1
        data = self.folder / 'available' / ('..v%d' % self.version)
        data.mkdir()
        for name, text in files.items():
            (data / name).write_text(text)
            if not (self.folder / 'available' / name).is_symlink():
                (self.folder / 'available' / name).symlink_to('..data/' + name)
        (self.folder / 'available' / '..new').symlink_to(data.name)
        (self.folder / 'available' / '..new').rename(self.folder / 'available' / '..data')
        for link in (self.folder / 'available').iterdir():
            if not link.name.startswith('..') and link.name not in files:
                link.unlink()

    def label(self, value):
        self.nodes.patch_node(self.node, {'metadata': {'labels': {LABEL: value}}})

    def listen(self):
        heard = self.folder / 'heard'
        self.processes.append(subprocess.Popen([self.name, '-c', LISTENER, str(heard)], executable=sys.executable))

        def ready():
            """the listener listens"""
            return heard.exists() and heard.read_text().startswith('ready')
        wait(ready)

    def heard(self):
        return (self.folder / 'heard').read_text().count('hup')

    def manager(self, *flags):
        return [os.environ['GPUOP_PROGRAM'], 'config-manager', '--kubeconfig', self.kubeconfig, '--node-name', self.node,
                '--config-file-srcdir', str(self.folder / 'available'), '--config-file-dst', str(self.link),
                '--process-to-signal', self.name, *flags]

    def start(self, *flags):
        self.log = open(self.folder / 'log', 'wb')
        self.processes.append(subprocess.Popen(self.manager(*flags), stderr=self.log))
        return self.processes[-1]

    def once(self, *flags):
        return subprocess.run(self.manager('--oneshot', '--send-signal=false', *flags), capture_output=True, text=True, timeout=30)

    def reads(self, text, heard):
        def reached():
            return self.link.exists() and self.link.read_text() == text and self.heard() == heard
        reached.__doc__ = 'the link shows %r and %d signals: %s' % (text, heard, (self.folder / 'log').read_text())
        wait(reached)

    def says(self, text):
        def said():
            return text in (self.folder / 'log').read_text()
        said.__doc__ = 'the log says ' + text
        wait(said)

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def bed(embedded, tmp_path):
    made = Bed(embedded, tmp_path, 'hollow-0')
    made.label(None)
    yield made
    made.end()


def test_the_link_follows_label_and_files(bed):
    bed.mount(default='one', a100='two')
    bed.listen()
    manager = bed.start('--fallback-strategies=named')
    bed.reads('one', 1)
    bed.label('a100')
    bed.reads('two', 2)
    bed.mount(default='one', a100='three')  # the same key, other words
    bed.reads('three', 3)
    bed.mount(default='four', a100='three')  # another key's words are nobody's business
    bed.label('nothing-of-that-name')
    bed.says('there is no configuration')
    bed.mount(default='four', a100='three', unrelated='x')
    bed.reads('three', 3)
    bed.mount(default='four', a100='three', **{'nothing-of-that-name': 'five'})
    bed.reads('five', 4)
    bed.label(None)
    bed.reads('four', 5)
    manager.send_signal(signal.SIGTERM)
    assert manager.wait(timeout=10) == 0
    assert bed.link.exists()


def test_the_init_container_links_once(bed):
    bed.mount(default='one', a100='two')
    assert bed.once('--default-config=a100').returncode == 0
    assert bed.link.read_text() == 'two'
    bed.listen()
    bed.start('--default-config=a100')  # the side container finds it so
    bed.label('default')
    bed.reads('one', 1)


def test_what_cannot_be_linked_ends_the_init_container(bed):
    bed.mount(a='one', b='two')
    for flags, says in (((), 'no fallback names one'), (('--default-config=c',), 'there is no configuration "c"; '),
                        (('--node-name=nobody',), 'nobody'), (('--kubeconfig=/nowhere',), '/nowhere')):
        done = bed.once(*flags)
        assert done.returncode == 1 and says in done.stderr, done
    assert bed.once('--fallback-strategies=empty').returncode == 0
    assert os.readlink(bed.link) == '/dev/null'
    assert bed.once('--signal=x').returncode == 2
    assert not pathlib.Path('/nowhere').exists()
