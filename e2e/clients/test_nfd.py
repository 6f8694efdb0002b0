"""Node feature discovery as processes: a worker on a folder that is a host, a master, and what they do to a node."""
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import BIN, wait

PROGRAM = os.environ.get('GPUOP_PROGRAM')
PREFIX = 'feature.node.kubernetes.io/'
pytestmark = pytest.mark.skipif(not BIN, reason='no kubectl: Go is missing')


class Cluster:
    """An embedded cluster with the definitions, and its first node."""

    def __init__(self, server):
        self.kubeconfig = server.kubeconfig
        crds = subprocess.run([PROGRAM, 'crds'], capture_output=True, check=True).stdout
        self.kubectl('apply', '--server-side', '-f', '-', input=crds)
        self.kubectl('wait', '--for=condition=Established', 'crd/nodefeatures.nfd.k8s-sigs.io', 'crd/nodefeaturerules.nfd.k8s-sigs.io')
        self.node = json.loads(self.kubectl('get', 'nodes', '-o', 'json'))['items'][0]['metadata']['name']

    def kubectl(self, *args, input=None):
        done = subprocess.run([BIN + '/kubectl', '--kubeconfig', self.kubeconfig, *args], capture_output=True, input=input, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def label(self, name):
        labels = json.loads(self.kubectl('get', 'node', self.node, '-o', 'json'))['metadata']['labels']
        return labels.get(name if '/' in name else PREFIX + name)

    def has(self, name, value, seconds=15):
        def seen():
            return self.label(name) == value
        seen.__doc__ = 'label %s is %s' % (name, value)
        wait(seen, seconds)


@pytest.fixture(scope='module')
def cluster(embedded):
    return Cluster(embedded)


@pytest.fixture
def host(tmp_path):
    """A machine with one GPU."""
    root = tmp_path / 'host'
    device = root / 'sys/bus/pci/devices/0000:07:00.0'
    device.mkdir(parents=True)
    for name, value in (('vendor', '0x10de'), ('device', '0x20b0'), ('class', '0x030200')):
        (device / name).write_text(value + '\n')
    for path, text in (('etc/os-release', 'ID=ubuntu\nVERSION_ID="22.04"\n'), ('proc/version', 'Linux version 5.15.0-1 (x)\n'),
                       ('proc/modules', 'nvidia 1 0 - Live 0x0\ngdrdrv 1 0 - Live 0x0\n'), ('proc/swaps', 'Filename\n')):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / 'etc/kubernetes/node-feature-discovery/features.d').mkdir(parents=True)
    (root / 'sys/module').mkdir()
    (tmp_path / 'worker.conf').write_text('sources: {pci: {deviceClassWhitelist: ["0302"], deviceLabelFields: [vendor]}}\n')
    return tmp_path


def worker_args(cluster, host, *more):
    return [PROGRAM, 'nfd-worker', '-kubeconfig', cluster.kubeconfig, '-port=0', '-config=%s' % (host / 'worker.conf'),
            '-host=%s' % (host / 'host'), *more]


def worker_env(cluster):
    return dict(os.environ, NODE_NAME=cluster.node, KUBERNETES_NAMESPACE='default')


@pytest.fixture
def running(cluster, host):
    """Both programs, ended by SIGTERM with 0."""
    programs = [subprocess.Popen([PROGRAM, 'nfd-master', '-kubeconfig', cluster.kubeconfig, '-port=0', '-config=', '-extra-label-ns=nvidia.com'],
                                 stderr=open(host / 'master.log', 'w')),
                subprocess.Popen(worker_args(cluster, host), env=worker_env(cluster), stderr=open(host / 'worker.log', 'w'))]
    yield host
    for program in programs:
        program.send_signal(signal.SIGTERM)
    for program in programs:
        assert program.wait(timeout=10) == 0, (host / 'master.log').read_text() + (host / 'worker.log').read_text()


def test_a_node_gets_labels_and_keeps_up_with_files_rules_and_settings(cluster, running):
    cluster.has('pci-10de.present', 'true')
    cluster.has('kernel-version.full', '5.15.0-1')
    features = running / 'host/etc/kubernetes/node-feature-discovery/features.d'
    (features / 'site').write_text('rack=r12\n')
    cluster.has('rack', 'r12')
    (features / 'site').unlink()
    cluster.has('rack', None)
    cluster.kubectl('apply', '-f', '-', input=json.dumps({
        'apiVersion': 'nfd.k8s-sigs.io/v1alpha1', 'kind': 'NodeFeatureRule', 'metadata': {'name': 'modules'},
        'spec': {'rules': [{'name': 'gdrcopy', 'labels': {'nvidia.com/gdrcopy.capable': 'true'}, 'matchFeatures': [
            {'feature': 'kernel.loadedmodule', 'matchExpressions': {'gdrdrv': {'op': 'Exists'}}}]}]}}).encode())
    cluster.has('nvidia.com/gdrcopy.capable', 'true')
    cluster.kubectl('delete', 'nodefeaturerule', 'modules')
    cluster.has('nvidia.com/gdrcopy.capable', None)
    (running / 'worker.conf').write_text('sources: {pci: {deviceClassWhitelist: ["0302"], deviceLabelFields: [class, vendor]}}\n')
    cluster.has('pci-0302_10de.present', 'true')
    cluster.has('pci-10de.present', None)
    (running / 'worker.conf').write_text('sources: [\n')
    (features / 'more').write_text('more\n')
    cluster.has('more', 'true')
    cluster.has('pci-0302_10de.present', 'true')
    size = len(cluster.kubectl('get', 'nodefeature', cluster.node, '-n', 'default', '-o', 'json'))
    assert size < 8192, size


def test_a_settled_pair_writes_nothing(cluster, running):
    cluster.has('pci-10de.present', 'true')

    def versions():
        node = json.loads(cluster.kubectl('get', 'nodefeature', cluster.node, '-n', 'default', '-o', 'json'))
        return node['metadata']['resourceVersion']
    time.sleep(1)
    before = versions()
    (running / 'host/sys/module/new').mkdir()  # something to look at, and nothing new
    time.sleep(1.5)
    assert versions() == before


@pytest.mark.parametrize('conf, flags, code', [
    ('', ['-oneshot'], 0),
    ('core: {bogus: 1}\n', ['-oneshot', '-feature-sources=fake', '-label-sources=fake'], 0),
    ('core: [', ['-oneshot'], 1),
    ('', ['-oneshot', '-bogus'], 1),
    ('', ['-oneshot', '-no-publish'], 0),
])
def test_one_pass(cluster, host, conf, flags, code):
    (host / 'worker.conf').write_text(conf)
    done = subprocess.run(worker_args(cluster, host, *flags), env=worker_env(cluster), capture_output=True, timeout=30)
    assert done.returncode == code, done.stderr


def test_pruning_takes_everything_away(cluster, host):
    subprocess.run(worker_args(cluster, host, '-oneshot'), env=worker_env(cluster), check=True, timeout=30)
    subprocess.run([PROGRAM, 'nfd-master', '-kubeconfig', cluster.kubeconfig, '-config=', '-prune'], check=True, timeout=30)
    node = json.loads(cluster.kubectl('get', 'node', cluster.node, '-o', 'json'))['metadata']
    assert not [k for k in node['labels'] if k.startswith(PREFIX)]
    assert not [k for k in node.get('annotations', {}) if k.startswith('nfd.node.kubernetes.io/')]
