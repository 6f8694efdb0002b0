"""The toolkit's own DaemonSet on simulated machines: what it installs works there, survives trouble, and is given back."""
import hashlib
import json
import pathlib
import time

import pytest
import yaml

from conftest import ROOT, wait
from machines import Machines, pod, running

NODES = {'dgx': 'dgx-a100', 'spark': 'gb10'}
ACCOUNT = 'nvidia-container-toolkit'
READY = 'IS_HOST_DRIVER=true\\nNVIDIA_DRIVER_ROOT=/\\nDRIVER_ROOT_CTR_PATH=/host\\nNVIDIA_DEV_ROOT=/\\nDEV_ROOT_CTR_PATH=/host\\n'


def golden(kind, name):
    """An object as the operator makes it."""
    documents = yaml.safe_load_all((ROOT / 'testdata/manifests/golden/default.yaml').read_text())
    return next(d for d in documents if d and d['kind'] == kind and d['metadata']['name'] == name)


def daemon_set():
    """The operator's, with our image everywhere; that the driver is ready is said by the test."""
    out = golden('DaemonSet', 'nvidia-container-toolkit-daemonset')
    del out['metadata']['ownerReferences']
    out['metadata']['namespace'] = 'default'
    spec = out['spec']['template']['spec']
    spec['initContainers'] = [c for c in spec['initContainers'] if c['name'] == 'launcher']
    spec['serviceAccountName'] = ACCOUNT
    spec['nodeSelector'] = {}
    for container in spec['initContainers'] + spec['containers']:
        container['image'] = 'gpu-operator:test'
        container['securityContext']['runAsUser'] = 0  # as the operator has it for an image of ours
    return out


def rights():
    """The toolkit's service account, which may do what the operator lets it do and no more."""
    role, binding = golden('ClusterRole', ACCOUNT), golden('ClusterRoleBinding', ACCOUNT)
    for thing in role, binding:
        thing['metadata'].pop('ownerReferences', None)
    for subject in binding['subjects']:
        subject['namespace'] = 'default'
    return [{'apiVersion': 'v1', 'kind': 'ServiceAccount', 'metadata': {'name': ACCOUNT, 'namespace': 'default'}}, role, binding]


def privileged(name, script, node, **spec):
    out = pod(name, script, node=node, volumes=[{'name': 'host', 'hostPath': {'path': '/'}}], **spec)
    out['spec']['containers'][0].update(securityContext={'privileged': True}, volumeMounts=[{'name': 'host', 'mountPath': '/host'}])
    return out


class Bed(Machines):
    def once(self, thing, seconds=60):
        """Runs a Pod to its end and returns its log."""
        name = thing['metadata']['name']
        thing['spec']['restartPolicy'] = 'Never'
        self.apply(thing)
        self.wait(name, lambda s: s.get('phase') in ('Succeeded', 'Failed'), seconds)
        log = self.run('logs', name).stdout
        phase = self.get('pod', name)['status']['phase']
        self.run('delete', 'pod', name)
        return phase, log

    def file(self, node, path):
        """A file of the machine; None where there is none."""
        at = pathlib.Path(self.machines) / node / 'root' / path.lstrip('/')
        return at.read_text() if at.exists() else None

    def toolkits(self):
        pods = json.loads(self.run('get', 'pods', '-l', 'app=nvidia-container-toolkit-daemonset', '-o', 'json').stdout)['items']
        return {p['spec']['nodeName']: p for p in pods}

    def events(self, reason, node='dgx'):
        """The messages of the Node's Events, with how serious they are."""
        fields = 'involvedObject.kind=Node,involvedObject.name=%s,reason=%s' % (node, reason)
        found = json.loads(self.run('get', 'events', '--field-selector', fields, '-o', 'json').stdout)['items']
        return [(e['type'], e['message']) for e in found]

    def toolkit_log(self, node='dgx'):
        return self.run('logs', self.toolkits()[node]['metadata']['name']).stdout


def configured(bed, node):
    return 'nvidia-container-runtime.cdi' in (bed.file(node, '/etc/containerd/conf.d/99-nvidia.toml') or '')


@pytest.fixture(scope='module')
def bed(tmp_path_factory):
    folder = tmp_path_factory.mktemp('toolkit')
    machines = str(folder / 'machines')
    b = Bed(folder, '--machines-folder', machines, *[a for n, k in NODES.items() for a in ('--machine', '%s=%s' % (n, k))])
    b.machines = machines
    b.wait_ready(*NODES)
    b.before = {n: b.file(n, '/etc/containerd/config.toml') for n in NODES}
    b.run('apply', '-f', '-', stdin=json.dumps({'apiVersion': 'node.k8s.io/v1', 'kind': 'RuntimeClass', 'metadata': {'name': 'nvidia'}, 'handler': 'nvidia'}))
    b.apply(*rights(), daemon_set())
    for node in NODES:
        b.once(privileged('ready-' + node, "mkdir -p /host/run/nvidia/validations; printf '%s' > /host/run/nvidia/validations/driver-ready" % READY, node))
    yield b
    b.stop()


@pytest.mark.parametrize('node,gpus', [('dgx', 8), ('spark', 1)])
def test_it_installs_configures_and_goes_on_running(bed, node, gpus):
    def done():
        """the engine's configuration has our runtimes"""
        return configured(bed, node)
    wait(done, 60)
    bed.wait(bed.toolkits()[node]['metadata']['name'], running)
    spec = yaml.safe_load(bed.file(node, '/run/cdi/nvidia.yaml'))
    assert spec['kind'] == 'nvidia.com/gpu'
    names = {d['name'] for d in spec['devices']}
    assert {str(i) for i in range(gpus)} | {'all'} <= names and sum(n.startswith('GPU-') for n in names) == gpus
    paths = json.dumps(spec)
    assert '/host' not in paths and '/usr/local/nvidia/toolkit/nvidia-cdi-hook' in paths
    management = yaml.safe_load(bed.file(node, '/run/cdi/management.nvidia.com-gpu.yaml'))
    assert management['kind'] == 'management.nvidia.com/gpu' and [d['name'] for d in management['devices']] == ['all']
    log = bed.toolkit_log(node)
    assert 'engine gets a signal' in log and 'toolkit failed' not in log


@pytest.mark.parametrize('node', NODES)
def test_a_container_gets_the_devices_that_it_asks_for(bed, node):
    for name, more, wanted in (('index', {'NVIDIA_VISIBLE_DEVICES': '0'}, '1\n/dev/nvidia0\n'), ('name', {'NVIDIA_VISIBLE_DEVICES': 'nvidia.com/gpu=0'}, '1\n/dev/nvidia0\n'),
                               ('nothing', {}, '0\n')):
        thing = pod(name + '-' + node, 'nvidia-smi -L 2>/dev/null | grep -c ^GPU; ls /dev/nvidia[0-9]* 2>/dev/null; true', node=node, runtimeClassName='nvidia')
        thing['spec']['containers'][0]['env'] = [{'name': k, 'value': v} for k, v in more.items()]
        assert bed.once(thing) == ('Succeeded', wanted), name
    unknown = pod('unknown-' + node, 'true', node=node, runtimeClassName='nvidia')
    unknown['spec']['containers'][0]['env'] = [{'name': 'NVIDIA_VISIBLE_DEVICES', 'value': '77'}]
    bed.apply(unknown)

    def refused():
        """the container is not made, and the message names the device"""
        text = json.dumps(bed.get('pod', 'unknown-' + node).get('status', {}))
        return 'unresolvable CDI devices' in text and '77' in text
    wait(refused)
    bed.run('delete', 'pod', 'unknown-' + node)


def test_a_second_start_changes_nothing(bed):
    before = {p: hashlib.sha256(bed.file('dgx', p).encode()).hexdigest() for p in ('/etc/containerd/config.toml', '/etc/containerd/conf.d/99-nvidia.toml')}
    script = 'pkill -9 -f "[n]vidia-ctk-installer keep" ; true'
    toolkit = bed.toolkits()['dgx']
    bed.once(privileged('killer', script, 'dgx', hostPID=True))

    def again():
        """the container was started again"""
        status = bed.get('pod', toolkit['metadata']['name'])['status'].get('containerStatuses', [{}])[0]
        return status.get('restartCount', 0) >= 1 and 'running' in status['state']
    wait(again, 60)

    def settled():
        """it found all as it should be"""
        return 'engine knows the runtimes already' in bed.toolkit_log('dgx')
    wait(settled, 30)
    log = bed.toolkit_log('dgx')
    assert 'engine gets a signal' not in log and 'programs are as they should be' in log
    assert {p: hashlib.sha256(bed.file('dgx', p).encode()).hexdigest() for p in before} == before


def test_specs_follow_the_node(bed):
    before = bed.file('dgx', '/run/cdi/nvidia.yaml')
    assert bed.once(privileged('mig', 'chroot /host nvidia-smi -i 0 -mig 1 && chroot /host nvidia-smi mig -i 0 -cgi 19 -C', 'dgx'))[0] == 'Succeeded'

    def has_mig():
        """the MIG device is in the spec"""
        return any(d['name'].startswith('MIG-') for d in yaml.safe_load(bed.file('dgx', '/run/cdi/nvidia.yaml'))['devices'])
    wait(has_mig, 30, bed.toolkit_log)
    assert bed.once(privileged('unmig', 'chroot /host nvidia-smi mig -i 0 -dci && chroot /host nvidia-smi mig -i 0 -dgi && chroot /host nvidia-smi -i 0 -mig 0', 'dgx'))[0] == 'Succeeded'

    def as_before():
        """the spec is what it was"""
        return bed.file('dgx', '/run/cdi/nvidia.yaml') == before
    wait(as_before, 30, bed.toolkit_log)
    bed.once(privileged('remover', 'rm /host/run/cdi/nvidia.yaml', 'dgx'))
    wait(as_before, 30, bed.toolkit_log)


DROP_IN = '/etc/containerd/conf.d/99-nvidia.toml'
RESTORED = ('Normal', "the runtimes nvidia, nvidia-cdi, nvidia-legacy and CDI were lost from containerd's configuration and put back in " + DROP_IN)


def lose_entries(bed, turn):
    bed.once(privileged('eraser-%d' % turn, 'rm /host' + DROP_IN, 'dgx'))


def test_lost_entries_come_back_and_the_node_says_so(bed):
    text = bed.file('dgx', DROP_IN)
    for turn in range(1, 6):
        lose_entries(bed, turn)

        def told():
            """the drop-in is there again, and there is an Event for each time"""
            return bed.file('dgx', DROP_IN) == text and len(bed.events('RuntimeEntriesRestored')) == turn
        wait(told, 120, bed.toolkit_log)
    assert set(bed.events('RuntimeEntriesRestored')) == {RESTORED}
    assert bed.events('RuntimeEntriesLost') == [] and bed.events('RuntimeEntriesRestored', 'spark') == []


def test_who_takes_them_away_again_and_again_has_them_left_away(bed):
    lose_entries(bed, 6)

    def warned():
        """an Event says that it is given up"""
        return bed.events('RuntimeEntriesLost')
    wait(warned, 120, bed.toolkit_log)
    (kind, message), = bed.events('RuntimeEntriesLost')
    assert kind == 'Warning' and 'after 5 repairs within 10 minutes %s is left as it is' % DROP_IN in message
    assert bed.file('dgx', DROP_IN) is None and len(bed.events('RuntimeEntriesRestored')) == 5


def test_what_it_changed_is_given_back(bed):
    bed.run('delete', 'daemonset', 'nvidia-container-toolkit-daemonset')

    def restored():
        """every engine has its own configuration"""
        return all(bed.file(n, '/etc/containerd/config.toml') == bed.before[n] and bed.file(n, '/etc/containerd/conf.d/99-nvidia.toml') is None for n in NODES)
    wait(restored, 60)
    refused = pod('classless', 'true', runtimeClassName='nvidia')

    def no_handler():
        """the handler is gone"""
        bed.run('delete', 'pod', 'classless', '--ignore-not-found')
        bed.apply(refused)
        bed.wait('classless', lambda s: bool(s.get('containerStatuses')), 10)
        time.sleep(0.5)
        return 'no runtime for "nvidia" is configured' in bed.run('describe', 'pod', 'classless').stdout
    wait(no_handler, 60)
