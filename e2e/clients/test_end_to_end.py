"""The whole path on simulated machines: the chart's objects, the operator in its Pod, node programs in theirs, and what
kubectl gpu says of it. Time limits are those of an idle machine, times GPUOP_SLACK: 4 where
nothing else is said, since others may be at work; GPUOP_SLACK=1 holds what docs/benchmarks.md promises."""
import json
import os
import re
import subprocess
import time

import pytest

from conftest import ROOT, wait
from machines import Machines

OBJECTS = ROOT / 'testdata/helm/golden/demo.yaml'
SLACK = float(os.environ.get('GPUOP_SLACK', '4'))
GPUS = {'dgx': 8, 'b300': 8, 'spark': 1}
FEATURES = 'feature.node.kubernetes.io/pci-10de.present'


class Cluster(Machines):
    """Machines with the operator installed, as helm would: its objects, without the hooks of upgrades."""

    def __init__(self, folder, *machines):
        super().__init__(folder, *[word for m in machines for word in ('--machine', m)])
        self.nodes = [m.split('=')[0] for m in machines]
        os.symlink(os.environ['GPUOP_PROGRAM'], folder / 'kubectl-gpu')
        self.wait_ready(*self.nodes)

    def install(self):
        subprocess.run([os.environ['GPUOP_PROGRAM'], 'manage-crds', 'apply', '--kubeconfig', self.kubeconfig], check=True, capture_output=True)
        self.run('create', 'namespace', 'gpu-operator')
        documents = [d for d in OBJECTS.read_text().split('\n---\n') if 'helm.sh/hook:' not in d]
        self.run('apply', '--server-side', '-f', '-', stdin='\n---\n'.join(documents))
        return time.monotonic()

    def gpu(self, *words):
        """kubectl gpu WORDS -o json: the exit code and the answer."""
        done = subprocess.run([str(self.folder / 'kubectl-gpu'), *words, '-o', 'json', '--kubeconfig', self.kubeconfig],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 1, 4), done.stderr
        return done.returncode, json.loads(done.stdout) if done.stdout.startswith('{') else {}

    def allocatable(self, node):
        return int(self.get('node', node)['status']['allocatable'].get('nvidia.com/gpu', 0))

    def wait_until_fit(self, *nodes, seconds=60):
        done = subprocess.run([str(self.folder / 'kubectl-gpu'), 'wait', *nodes, '--timeout', '%ds' % (seconds * SLACK), '--kubeconfig', self.kubeconfig],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def cuda_pod(self, name, node, gpus=1):
        return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name, 'namespace': 'default'},
                'spec': {'restartPolicy': 'Never', 'nodeSelector': {'kubernetes.io/hostname': node},
                         'containers': [{'name': 'cuda', 'image': 'localhost/gpu-operator:0.1.0', 'command': ['vectorAdd'],
                                         'resources': {'limits': {'nvidia.com/gpu': str(gpus)}}}]}}


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp('cluster')
    # Kubernetes on a DGX Spark runs on the containerd beside its Docker.
    spark = subprocess.run([os.environ['GPUOP_PROGRAM'], 'machine', 'print', 'gb10'], check=True, capture_output=True, text=True).stdout
    (folder / 'spark.yaml').write_text(re.sub('engine: .*', 'engine: {name: containerd, version: 2.1.4}', spark))
    c = Cluster(folder, 'dgx=dgx-a100', 'b300=b300', 'spark=%s' % (folder / 'spark.yaml'), 'cpu=cpu-only')
    c.install()
    c.wait_until_fit(*GPUS)
    yield c
    c.stop()


def test_one_bare_machine_offers_its_gpus_within_five_seconds(tmp_path):
    c = Cluster(tmp_path, 'dgx=dgx-a100', 'cpu=cpu-only')
    try:
        began = c.install()

        def offered():
            """8 GPUs are allocatable"""
            return c.allocatable('dgx') == 8
        wait(offered, 30 * SLACK)
        took = time.monotonic() - began
        print('allocatable after %.2f s' % took)
        assert took <= 5 * SLACK
    finally:
        c.stop()


def test_each_node_offers_what_it_has_and_says_so(cluster):
    for node, count in GPUS.items():
        assert cluster.allocatable(node) == count
        labels = cluster.get('node', node)['metadata']['labels']
        assert labels[FEATURES] == 'true'
        assert labels['nvidia.com/gpu.count'] == str(count)
        assert labels['nvidia.com/gpu.product']
    assert FEATURES not in cluster.get('node', 'cpu')['metadata']['labels']
    code, status = cluster.gpu('status')
    assert (code, status['fitNodes']) == (0, 3)
    assert {n['driverOwner'] for n in status['nodes'] if n['name'] in GPUS} == {'host'}


def test_a_cuda_pod_computes_on_every_node(cluster):
    cluster.apply(*[cluster.cuda_pod('cuda-' + node, node) for node in GPUS])
    for node in GPUS:
        cluster.wait('cuda-' + node, lambda s: s.get('phase') in ('Succeeded', 'Failed'), 60 * SLACK)
        assert cluster.get('pod', 'cuda-' + node)['status']['phase'] == 'Succeeded', cluster.run('logs', 'cuda-' + node).stdout


def test_a_pod_that_asks_for_too_much_is_told_why(cluster):
    cluster.apply(cluster.cuda_pod('greedy', 'dgx', 9))

    def answered():
        """the scheduler refused it"""
        return any(c['type'] == 'PodScheduled' and c['status'] == 'False' for c in cluster.get('pod', 'greedy').get('status', {}).get('conditions', []))
    wait(answered)
    code, why = cluster.gpu('why', 'greedy')
    assert (code, why['symptom'], why['cause']['reason']) == (1, 'Pending', 'TooFewGPUsOnOneNode')
    cluster.run('delete', 'pod', 'greedy')


def test_an_image_for_another_architecture_is_told(cluster):
    pod = cluster.cuda_pod('wrong', 'b300')
    pod['spec']['containers'][0].update(image='registry.example.com/arm-only:1', resources={})
    del pod['spec']['containers'][0]['command']
    cluster.apply(pod)
    cluster.wait('wrong', lambda s: s.get('phase') == 'Failed')
    code, why = cluster.gpu('why', 'wrong')
    assert (code, why['cause']['reason']) == (1, 'ArchitectureMismatch')
    cluster.run('delete', 'pod', 'wrong')


def test_a_lost_gpu_is_taken_out_named_and_comes_back(cluster):
    cluster.fault('dgx', 'off-bus', 'gpu=2')

    def named():
        """the validator names it"""
        return any(c['reason'] == 'GPUOffBus' for c in cluster.get('node', 'dgx')['status']['conditions'])
    wait(named, 30 * SLACK)

    def taken_out():
        """the device plugin takes it out"""
        return cluster.allocatable('dgx') == 7
    wait(taken_out, 30 * SLACK)
    code, why = cluster.gpu('why', 'dgx')
    assert (code, why['cause']['reason'], why['cause']['link']) == (1, 'GPUOffBus', 'host driver')
    cluster.fault('dgx', 'reboot')
    cluster.wait_until_fit('dgx')
    assert cluster.allocatable('dgx') == 8


def test_a_reboot_is_proved_anew_and_nothing_is_said_to_be_broken_meanwhile(cluster):
    def proof():
        return next(c for c in cluster.get('node', 'b300')['status']['conditions'] if c['type'] == 'gpu-operator.dev/GPUReady')

    def warnings():
        events = json.loads(cluster.run('get', 'events', '-A', '-o', 'json', '--field-selector', 'involvedObject.name=b300,type=Warning').stdout)['items']
        return [(e['reason'], e['message']) for e in events if 'nvidia-validator' in (e.get('reportingComponent'), e.get('source', {}).get('component'))]
    cluster.wait_until_fit('b300')
    boot, since, told = cluster.get('node', 'b300')['status']['nodeInfo']['bootID'], proof()['lastTransitionTime'], warnings()
    cluster.fault('b300', 'reboot')

    def proved_anew():
        """the node is proved after its reboot"""
        return cluster.get('node', 'b300')['status']['nodeInfo']['bootID'] != boot and proof()['status'] == 'True' and proof()['lastTransitionTime'] != since
    wait(proved_anew, 60 * SLACK)
    cluster.wait_until_fit('b300')
    assert cluster.allocatable('b300') == 8
    assert warnings() == told
