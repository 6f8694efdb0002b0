"""The operator on both servers: objects that a real API server keeps as they are wanted, a steady state that costs nothing,
and objects of NVIDIA's operator that are taken over."""
import json
import os
import re
import socket
import subprocess
import time
import urllib.request

import pytest
import yaml

from conftest import GPU_NODE, ROOT, kubectls, wait

POLICY = ROOT / 'testdata/manifests/policies/default.yaml'
pytestmark = pytest.mark.skipif(not kubectls(), reason='no kubectl')


class Bed:
    """A cluster with the definitions, GPU nodes and, once started, the operator; clean when it ends."""

    def __init__(self, server, tmp_path):
        self.server, self.folder = server, tmp_path
        self.env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=str(tmp_path))
        self.process = None

    def __enter__(self):
        self.program('manage-crds', 'apply')
        self.kubectl('create', 'namespace', 'gpu-operator')
        for node in self.kubectl('get', 'nodes', '-o', 'name').split():
            self.kubectl('label', '--overwrite', node, *('%s=%s' % pair for pair in GPU_NODE.items()))
        return self

    def __exit__(self, *_):
        self.kubectl('delete', 'clusterpolicy', '--all', '--timeout=60s')
        if self.process:
            time.sleep(2)  # labels go
            self.process.terminate()
            assert self.process.wait(timeout=20) == 0, self.log.read_text()
        for node in self.kubectl('get', 'nodes', '-o', 'name').split():
            self.kubectl('label', node, *('%s-' % key for key in GPU_NODE))
        self.kubectl('delete', 'namespace', 'gpu-operator', '--timeout=60s')
        self.program('manage-crds', 'delete')

    def call(self, *args, text=None):
        done = subprocess.run(args, env=self.env, capture_output=True, text=True, timeout=120, input=text)
        assert done.returncode == 0, '%s: %s\n%s%s' % (self.server.name, args, done.stdout, done.stderr)
        return done.stdout

    def program(self, *args):
        return self.call(os.environ['GPUOP_PROGRAM'], *args)

    def kubectl(self, *args, text=None):
        return self.call(next(iter(kubectls().values())), *args, text=text)

    def get(self, *args):
        return json.loads(self.kubectl('-n', 'gpu-operator', 'get', *args, '-o', 'json'))

    def policy(self):
        spec = yaml.safe_load(POLICY.read_text())
        body = {'apiVersion': 'nvidia.com/v1', 'kind': 'ClusterPolicy', 'metadata': {'name': 'cluster-policy'}, 'spec': spec}
        self.kubectl('create', '-f', '-', text=json.dumps(body))

    def start(self):
        with socket.socket() as s:
            s.bind(('127.0.0.1', 0))
            self.port = s.getsockname()[1]
        self.log = self.folder / (self.server.name + '.log')
        env = dict(self.env, OPERATOR_NAMESPACE='gpu-operator', OPERATOR_IMAGE='localhost/gpu-operator:v1')
        with open(self.log, 'wb') as out:
            self.process = subprocess.Popen([os.environ['GPUOP_PROGRAM'], 'controller', '--leader-elect', '--zap-log-level=debug',
                                             '--metrics-bind-address=127.0.0.1:%d' % self.port, '--health-probe-bind-address=0'],
                                            env=env, stdout=out, stderr=out)

    def ready(self):
        def there():
            """the policy is ready"""
            assert self.process.poll() is None, self.log.read_text()
            return self.kubectl('get', 'clusterpolicy', 'cluster-policy', '-o', 'jsonpath={.status.state}') == 'ready'
        wait(there, 90)

    def calls(self):
        """Requests by verb, resource and code, but for watches and the lease."""
        text = urllib.request.urlopen('http://127.0.0.1:%d/metrics' % self.port, timeout=30).read().decode()
        out = {}
        for line in re.findall(r'^kube_requests_total\{.*$', text, re.M):
            of = dict(re.findall(r'(\w+)="([^"]*)"', line))
            if of['verb'] != 'watch' and not of['resource'].startswith('leases'):
                out[(of['verb'], of['resource'], of['code'])] = int(float(line.rsplit(' ', 1)[1]))
        return out

    def since(self, before):
        return {k: n - before.get(k, 0) for k, n in self.calls().items() if n != before.get(k, 0)}


@pytest.fixture
def beds(servers, tmp_path):
    return [Bed(server, tmp_path) for server in servers]


def test_a_steady_state_costs_nothing_and_hand_edits_are_repaired(beds):
    for bed in beds:
        with bed:
            bed.start()
            bed.policy()
            bed.ready()
            refused = {k: n for k, n in bed.calls().items() if k[2] >= '400'}
            assert not refused, (bed.server.name, refused)
            time.sleep(6)  # a status of nothing but counts may wait five seconds
            before = bed.calls()
            time.sleep(20)
            assert bed.since(before) == {}, (bed.server.name, bed.log.read_text()[-3000:])
            sets = {ds['metadata']['name']: ds['metadata']['generation'] for ds in bed.get('daemonsets')['items']}
            assert len(sets) == 8 and set(sets.values()) == {1}, sets
            node = bed.kubectl('get', 'nodes', '-o', 'name').split()[0]
            bed.kubectl('label', node, 'nvidia.com/gpu.deploy.dcgm-exporter-')
            time.sleep(2)
            # The Pod goes and comes, which the status tells; nothing else is written.
            written = {k[1]: n for k, n in bed.since(before).items() if k[1] not in ('clusterpolicies.nvidia.com/status', 'events')}
            assert written == {'nodes': 1}, (bed.server.name, written)
            assert '"nvidia.com/gpu.deploy.dcgm-exporter":"true"' in bed.kubectl('get', node, '-o', 'jsonpath={.metadata.labels}')
            bed.kubectl('-n', 'gpu-operator', 'set', 'image', 'daemonset/nvidia-dcgm-exporter', 'nvidia-dcgm-exporter=example.com/other:v1')

            def repaired():
                """the image is ours again"""
                return 'example.com' not in json.dumps(bed.get('daemonset', 'nvidia-dcgm-exporter')['spec'])
            wait(repaired, 20)
            lines = [line for line in bed.log.read_text().splitlines() if 'reconcile failed' in line or 'forbidden' in line]
            assert not lines, lines[:5]


def test_what_an_operator_of_the_same_name_updated_is_taken_over(beds):
    """The other program wrote a DaemonSet by POST: an argument, a volume and an annotation that nobody wants any more go."""
    for bed in beds:
        with bed:
            bed.policy()
            uid = bed.get('clusterpolicy', 'cluster-policy')['metadata']['uid']
            bed.kubectl('create', '-n', 'gpu-operator', '-f', '-', '--field-manager=gpu-operator', text=json.dumps({
                'apiVersion': 'apps/v1', 'kind': 'DaemonSet',
                'metadata': {'name': 'nvidia-device-plugin-daemonset', 'annotations': {'nvidia.com/last-applied-hash': '1'},
                             'ownerReferences': [{'apiVersion': 'nvidia.com/v1', 'kind': 'ClusterPolicy', 'name': 'cluster-policy', 'uid': uid, 'controller': True}]},
                'spec': {'selector': {'matchLabels': {'app': 'nvidia-device-plugin-daemonset'}},
                         'template': {'metadata': {'labels': {'app': 'nvidia-device-plugin-daemonset'}},
                                      'spec': {'nodeSelector': {'nvidia.com/gpu.deploy.device-plugin': 'true'},
                                               'containers': [{'name': 'nvidia-device-plugin', 'image': 'a', 'command': ['sh'], 'args': ['/bin/entrypoint.sh'],
                                                               'env': [{'name': 'GONE', 'value': '1'}],
                                                               'volumeMounts': [{'name': 'script', 'mountPath': '/bin/entrypoint.sh'}]}],
                                               'volumes': [{'name': 'script', 'configMap': {'name': 'nvidia-device-plugin-entrypoint'}}]}}}}))
            before = bed.get('daemonset', 'nvidia-device-plugin-daemonset')['metadata']['uid']
            bed.start()
            bed.ready()
            after = bed.get('daemonset', 'nvidia-device-plugin-daemonset')
            assert after['metadata']['uid'] == before and after['metadata']['generation'] == 2
            assert 'nvidia.com/last-applied-hash' not in after['metadata'].get('annotations', {})
            spec = after['spec']['template']['spec']
            plugin = spec['containers'][0]
            assert len(spec['containers']) == 1 and 'args' not in plugin
            assert 'GONE' not in [e['name'] for e in plugin['env']]
            assert 'script' not in [v['name'] for v in spec['volumes']]
            calls = bed.calls()
            time.sleep(10)
            assert not [k for k in bed.since(calls) if 'daemonsets' in k[1]], bed.since(calls)
