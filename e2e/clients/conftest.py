"""Servers and clients for the client tests. Environment, set by e2e/run:

GPUOP_PROGRAM   the built gpu-operator
GPUOP_BIN       kubectl 1.36, helm3, helm4 and the control plane, as e2e/cluster/build made them; absent without Go
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get('GPUOP_BIN')
NODES = 3
#: What node feature discovery says of a GPU node.
GPU_NODE = {'feature.node.kubernetes.io/pci-10de.present': 'true', 'feature.node.kubernetes.io/system-os_release.ID': 'ubuntu',
            'feature.node.kubernetes.io/system-os_release.VERSION_ID': '24.04', 'feature.node.kubernetes.io/kernel-version.full': '6.8.0-60-generic'}


class Server:
    """A running API server with three hollow nodes, and the way in."""

    def __init__(self, name, kubeconfig):
        self.name, self.kubeconfig = name, kubeconfig


def wait(what, seconds=60.0, words=lambda: ''):
    """Until what() is true. A failure says what was waited for, as its docstring has it, and then `words`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return
        time.sleep(0.05)
    raise AssertionError('not within %s s: %s\n%s' % (seconds, what.__doc__, words()))


def start_sim(folder, *arguments):
    """`gpu-operator sim` with its files in `folder`, up: the process, its kubeconfig and its log. It ends with the tests at the latest."""
    kubeconfig, log = folder / 'kubeconfig', folder / 'log'
    with open(log, 'wb') as out:
        process = subprocess.Popen(['setpriv', '--pdeathsig', 'INT', os.environ['GPUOP_PROGRAM'], 'sim', '--kubeconfig', str(kubeconfig), *arguments],
                                   stdout=out, stderr=out)

    def up():
        """the embedded cluster wrote its kubeconfig"""
        assert process.poll() is None, log.read_text()
        return kubeconfig.exists() and kubeconfig.stat().st_size > 0
    wait(up, words=log.read_text)
    return process, str(kubeconfig), log


def stop_sim(process, log):
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0, log.read_text()


def is_ready(node):
    return any(c['type'] == 'Ready' and c['status'] == 'True' for c in node.get('status', {}).get('conditions', []))


@pytest.fixture(scope='session')
def embedded(tmp_path_factory):
    process, kubeconfig, log = start_sim(tmp_path_factory.mktemp('embedded'), '--nodes', str(NODES), '--port', '0')
    yield Server('embedded', kubeconfig)
    stop_sim(process, log)


@pytest.fixture(scope='session')
def real(tmp_path_factory):
    """The real control plane; None where it cannot be built. Its nodes are the same hollow ones, over HTTP."""
    if not BIN:
        yield None
        return
    run = tmp_path_factory.mktemp('real')
    subprocess.run([ROOT / 'e2e/cluster/up', BIN, run], check=True)
    kubeconfig = str(run / 'admin.kubeconfig')
    with open(run / 'nodes.log', 'wb') as log:
        nodes = subprocess.Popen([os.environ['GPUOP_PROGRAM'], 'sim', '--join', kubeconfig, '--nodes', str(NODES)], stdout=log, stderr=log)
    yield Server('real', kubeconfig)
    nodes.send_signal(signal.SIGINT)
    nodes.wait(timeout=60)
    subprocess.run([ROOT / 'e2e/cluster/down', run], check=True)


@pytest.fixture(scope='session')
def servers(embedded, real):
    return [s for s in (embedded, real) if s]


def kubectls():
    """The pinned kubectl, and every one from 1.27 on that lies beside the one on the PATH."""
    found = {}
    if BIN:
        found['pinned'] = os.path.join(BIN, 'kubectl')
    on_path = shutil.which('kubectl')
    if on_path:
        folder = os.path.dirname(os.path.realpath(on_path))
        beside = {n: os.path.join(folder, n) for n in sorted(os.listdir(folder)) if re.fullmatch(r'kubectl\.1\.(2[7-9]|3\d)', n)}
        found.update(beside or {'path': on_path})
    return found


def helms():
    if not BIN:
        return {}
    return {n: os.path.join(BIN, n) for n in ('helm3', 'helm4')}


def normalise(text):
    """Takes out of a client's output what differs from run to run."""
    text = re.sub(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', '<uid>', text)
    text = re.sub(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z', '<time>', text)
    text = re.sub(r'(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}', '<time>', text)
    text = re.sub(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000', '<time>', text)
    text = re.sub(r'resourceVersion: "?\d+"?', 'resourceVersion: <version>', text)
    text = re.sub(r'"resourceVersion": "\d+"', '"resourceVersion": "<version>"', text)
    text = re.sub(r'\b(\d+[dhms]){1,2}\b(?= |$|\)|\n)', '<age>', text)
    text = re.sub(r'<unknown>', '<age>', text)
    text = re.sub(r'-[a-z0-9]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b', '-<hash>-<suffix>', text)
    text = re.sub(r'/[^ \n"]*/(kubeconfig|admin\.kubeconfig)', '<kubeconfig>', text)
    text = re.sub(r'/tmp/[^ \n":]*', '<file>', text)
    text = re.sub(r'127\.0\.0\.1:\d+', '<server>', text)
    return re.sub(r'[ \t]+', ' ', text)
