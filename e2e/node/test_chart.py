"""The chart on a real node: installed by helm, every operand from our one image, proved by Pods that compute; through restarts of
everything and a reboot; and taken away without a trace.

GPUOP_PODS: how many Pods each wave of them has (60; the figures in docs/device-plugin.md are of 200)."""
import json
import os
import pathlib
import stat
import subprocess
import time

import pytest

import waves
from conftest import PROGRAM, ROOT, make_nodes, wait

LOOK = 'ls /dev | /bin/busybox grep -c "^nvidia[0-9]"; /vector_add'
VALUES = ROOT / 'testdata/helm/values/demo.yaml'
NAMESPACE = 'gpu-operator'
# What stays (docs/helm.md): programs and specs that containers which still run may need.
STAYS = ('disk/usr/local/nvidia/', 'run/cdi/', 'dev/char/')
PODS = int(os.environ.get('GPUOP_PODS', '60'))
# What kernel, driver, engine, kubelet and network write as they run.
THEIRS = ('dev/kmsg', 'run/nvidia-persistenced', 'var/lib/containerd', 'var/lib/kubelet', 'var/lib/cni', 'var/log', 'run/containerd', 'run/netns', 'run/nri',
          'run/runc', 'run/lock', 'disk/etc/cni')


def files(host):
    """Every file that was written to the machine since it was made: kind, mode, owner and content. Folders count only by what
    is in them."""
    out = {}
    for base, top in ((host.run, 'disk/etc'), (host.run, 'disk/usr'), (host.machine / 'root', 'run'), (host.machine / 'root', 'var'),
                      (host.machine / 'root', 'dev')):
        for folder, names, leaves in os.walk(base / top):
            here = pathlib.Path(folder)
            names[:] = [n for n in names if str((here / n).relative_to(base)) not in THEIRS]
            for path in (here / leaf for leaf in leaves):
                if str(path.relative_to(base)) in THEIRS:
                    continue
                info = path.lstat()
                content = os.readlink(path) if stat.S_ISLNK(info.st_mode) else path.read_bytes() if stat.S_ISREG(info.st_mode) else info.st_rdev
                out[str(path.relative_to(base))] = (stat.filemode(info.st_mode), info.st_uid, info.st_gid, content)
    plugins = host.machine / 'root/var/lib/kubelet/device-plugins'
    out['sockets'] = sorted(p.name for p in plugins.iterdir() if p.is_socket())
    return out


@pytest.fixture(scope='module')
def image(host):
    """Our image, on the node."""
    build = pathlib.Path(PROGRAM).resolve().parent
    made = subprocess.run([ROOT / 'tools/image', '--from', build], capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    subprocess.run([host.bin / 'ctr', '-a', host.run / 'containerd.sock', '-n', 'k8s.io', 'images', 'import', ROOT / 'build/image/gpu-operator.tar'],
                   check=True, capture_output=True)


@pytest.fixture(scope='module')
def before(host):
    return files(host)


def operands(host):
    """The DaemonSets that have something to do here, and how many of each one's Pods are Ready."""
    sets = json.loads(host.kubectl('-n', NAMESPACE, 'get', 'daemonsets', '-o', 'json').stdout)['items']
    return {s['metadata']['name']: s['status'].get('numberReady', 0) for s in sets if s['status'].get('desiredNumberScheduled')}


def wait_until_fit(host, seconds=60):
    def fit():
        """eight GPUs can be had, every operand is Ready, and the policy says so"""
        ready = operands(host)
        policy = host.get('clusterpolicy', 'cluster-policy').get('status', {}).get('state')
        return policy == 'ready' and host.allocatable() == 8 and len(ready) == 6 and all(ready.values())
    wait(fit, seconds)


@pytest.fixture(scope='module')
def chart(host, image, before):
    began = time.monotonic()
    helm = [host.bin / 'helm3', '--kubeconfig', host.run / 'admin.kubeconfig', '-n', NAMESPACE]
    done = subprocess.run([*helm, 'install', 'gpu-operator', ROOT / 'deploy/helm/gpu-operator', '--create-namespace', '-f', VALUES,
                           '--set', 'devicePlugin.env[0].name=READINESS_TAINT', '--set-string', 'devicePlugin.env[0].value=true'], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    def offered():
        """eight GPUs can be had"""
        return host.allocatable() == 8
    wait(offered, 60)
    print('allocatable after %.1f s' % (time.monotonic() - began))
    wait_until_fit(host, 120)
    print('every operand Ready after %.1f s' % (time.monotonic() - began))
    return helm


def computes(host, name, gpus):
    phase, log = host.once(name, LOOK, resources={'limits': {'nvidia.com/gpu': str(gpus)}})
    assert phase == 'Succeeded' and log.startswith('%d\ndevices %d\n' % (gpus, gpus)) and log.count(' ok\n') == gpus, log


def test_every_operand_is_ready_from_one_image(host, chart):
    pods = json.loads(host.kubectl('-n', NAMESPACE, 'get', 'pods', '-o', 'json').stdout)['items']
    images = {c['image'] for p in pods for c in p['spec'].get('initContainers', []) + p['spec']['containers']}
    assert len(images) == 1, images


def test_the_nodes_labels_say_what_it_has(host, chart):
    labels = host.get('node', 'bed-node')['metadata']['labels']
    assert {k: labels.get(k) for k in ('nvidia.com/gpu.present', 'nvidia.com/gpu.count', 'nvidia.com/gpu.product', 'nvidia.com/mig.strategy', 'kubernetes.io/arch',
                                       'feature.node.kubernetes.io/pci-10de.present')} == {
        'nvidia.com/gpu.present': 'true', 'nvidia.com/gpu.count': '8', 'nvidia.com/gpu.product': 'NVIDIA-A100-SXM4-40GB', 'nvidia.com/mig.strategy': 'single',
        'kubernetes.io/arch': 'amd64', 'feature.node.kubernetes.io/pci-10de.present': 'true'}
    assert host.get('runtimeclass', 'nvidia')['handler'] == 'nvidia'


def test_a_pod_gets_what_it_asks_for_and_no_more(host, chart):
    computes(host, 'one', 1)
    phase, log = host.once('none', LOOK + ' 2>&1')
    assert phase == 'Failed' and log.startswith('0\n') and 'no driver' in log, log


def test_a_restarted_kubelet_gives_gpus_again(host, chart):
    host.restart_kubelet()
    wait_until_fit(host, 60)
    computes(host, 'after-kubelet', 1)


def test_a_restarted_engine_gives_gpus_again(host, chart):
    host.restart_engine()
    wait_until_fit(host, 60)
    computes(host, 'after-engine', 2)


def test_a_killed_operator_comes_back_and_changes_nothing(host, chart):
    def generations():
        sets = json.loads(host.kubectl('-n', NAMESPACE, 'get', 'daemonsets', '-o', 'json').stdout)['items']
        return {s['metadata']['name']: s['metadata']['generation'] for s in sets}
    was = generations()
    old = host.kubectl('-n', NAMESPACE, 'get', 'pods', '-l', 'app=gpu-operator', '-o', 'name').stdout
    host.kubectl('-n', NAMESPACE, 'delete', 'pods', '-l', 'app=gpu-operator', '--force', '--grace-period=0')

    def back():
        """another operator is Ready"""
        pods = json.loads(host.kubectl('-n', NAMESPACE, 'get', 'pods', '-l', 'app=gpu-operator', '-o', 'json').stdout)['items']
        return any('pod/' + p['metadata']['name'] not in old and all(c['ready'] for c in p['status'].get('containerStatuses', [{'ready': False}])) for p in pods)
    wait(back, 60)
    wait_until_fit(host, 60)
    assert generations() == was
    computes(host, 'after-operator', 1)


def test_a_reboot_is_followed_by_a_fit_node(host, chart):
    was = host.boot_id()
    host.reboot()

    def rebooted():
        """the node tells of another boot"""
        return host.boot_id() != was and host.ready()
    wait(rebooted, 60)
    wait_until_fit(host, 120)
    computes(host, 'after-reboot', 8)


def switch_mig(host, mode):
    """Once nothing computes on a GPU it can be switched."""
    def switched():
        """every GPU has the other MIG mode"""
        host.nvidia_smi('-mig', '1' if mode == 'Enabled' else '0')
        modes = host.nvidia_smi('--query-gpu=mig.mode.current', '--format=csv,noheader').split()
        return modes == [mode] * 8
    wait(switched, 30)


def test_a_mig_mode_switched_from_outside_is_followed(host, chart):
    """By somebody on the host, with nvidia-smi: NVML tells programs of instances that are made, and of no mode."""
    def shows(product, devices):
        def shown():
            """the node's label and its Allocatable follow the MIG mode"""
            labels = host.get('node', 'bed-node')['metadata']['labels']
            return labels['nvidia.com/gpu.product'] == product and host.allocatable() == devices
        wait(shown, 60)
    switch_mig(host, 'Enabled')
    shows('NVIDIA-A100-SXM4-40GB-MIG-INVALID', 0)
    switch_mig(host, 'Disabled')
    shows('NVIDIA-A100-SXM4-40GB', 8)
    wait_until_fit(host, 120)
    computes(host, 'after-mig', 1)


def set_plugins_config(host, config, devices):
    """Gives the plugin another configuration, or none, and waits until the node offers so many devices by it."""
    host.kubectl('patch', 'clusterpolicy', 'cluster-policy', '--type=merge', '-p', json.dumps({'spec': {'devicePlugin': {'config': config}}}))

    def follows():
        """the plugin runs as the policy says"""
        pods = json.loads(host.kubectl('-n', NAMESPACE, 'get', 'pods', '-l', 'app=nvidia-device-plugin-daemonset', '-o', 'json').stdout)['items']
        if len(pods) != 1 or not all(c['ready'] for c in pods[0]['status'].get('containerStatuses', [{'ready': False}])):
            return False
        configured = any(e['name'] == 'CONFIG_FILE' for c in pods[0]['spec']['containers'] for e in c.get('env', []))
        return configured == bool(config) and host.allocatable() == devices
    wait(follows, 90)


def gpus(host):
    return {line.rsplit('UUID: ', 1)[1].rstrip(')') for line in host.nvidia_smi('-L').splitlines() if 'UUID: ' in line}


def test_many_pods_share_out_the_gpus_while_the_kubelet_restarts(host, chart):
    restarts = []

    def restart(over):
        if over >= PODS * (len(restarts) + 1) // 4 and len(restarts) < 3:
            restarts.append(time.time())
            host.restart_kubelet()
    had = waves.run(host, 'whole', PODS, gpus(host), seconds=60 + 5 * PODS, meanwhile=restart, ended=restarts)
    assert restarts
    print('%d of %d Pods on %d GPUs through %d restarts of the kubelet' % (len(had), PODS, len(set(map(tuple, had.values()))), len(restarts)))


def test_many_pods_take_turns_at_shared_slots(host, chart):
    config = 'version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - {name: nvidia.com/gpu, replicas: 2}\n'
    host.apply({'apiVersion': 'v1', 'kind': 'ConfigMap', 'metadata': {'name': 'shared', 'namespace': NAMESPACE}, 'data': {'twice': config, 'plain': 'version: v1\n'}})
    set_plugins_config(host, {'name': 'shared', 'default': 'twice'}, 16)
    slots = {'%s::%d' % (gpu, i) for gpu in gpus(host) for i in range(2)}
    waves.run(host, 'shared', PODS, slots, seconds=60 + 5 * PODS)


def test_a_nodes_label_chooses_its_configuration(host, chart):
    """With the ConfigMap of the test before."""
    set_plugins_config(host, {'name': 'shared', 'default': 'twice'}, 16)
    for name, devices, replicas in (('plain', 8, '1'), (None, 16, '2')):
        host.kubectl('label', 'node', 'bed-node', 'nvidia.com/device-plugin.config' + ('=' + name if name else '-'))

        def follows():
            """devices and labels are those of the configuration that the node's label names"""
            labels = host.get('node', 'bed-node')['metadata']['labels']
            return host.allocatable() == devices and labels['nvidia.com/gpu.replicas'] == replicas
        wait(follows, 60)
    set_plugins_config(host, None, 8)


def enable(host, plugin):
    host.kubectl('patch', 'clusterpolicy', 'cluster-policy', '--type=merge', '-p', json.dumps({'spec': {'devicePlugin': {'enabled': plugin}}}))


def test_many_pods_share_out_the_slices_of_mig(host, chart):
    """The plugin as a process of the machine: a container's /proc is the real kernel's, which knows no MIG capabilities."""
    enable(host, False)

    def withdrawn():
        """the plugin's Pod has ended"""
        return not json.loads(host.kubectl('-n', NAMESPACE, 'get', 'pods', '-l', 'app=nvidia-device-plugin-daemonset', '-o', 'json').stdout)['items']
    wait(withdrawn, 60)
    for words in (['-mig', '1'], ['mig', '-cgi', ','.join(['19'] * 7), '-C']):
        host.nvidia_smi(*words)
    subprocess.run([PROGRAM, 'machine', 'show', host.machine], check=True, capture_output=True)
    make_nodes(host.machine, host.machine / 'root/dev')
    plugin = host.start('plugin', 'nsenter', '-t', host.pid('containerd'), '-m', '--', PROGRAM, 'nvidia-device-plugin', '--mig-strategy=single',
                        '--device-list-strategy=cdi-cri', '--nvidia-cdi-hook-path=/usr/local/nvidia/toolkit/nvidia-cdi-hook')
    slices = {u for u in gpus(host) if u.startswith('MIG-')}
    assert len(slices) == 56

    def offered():
        """each slice can be had"""
        assert plugin.poll() is None
        return host.allocatable() == len(slices)
    wait(offered, 60)
    waves.run(host, 'slices', PODS, slices, seconds=60 + 5 * PODS)
    plugin.terminate()
    assert plugin.wait(60) == 0
    for words in (['mig', '-dci'], ['mig', '-dgi']):
        host.nvidia_smi(*words)
    switch_mig(host, 'Disabled')
    enable(host, True)
    wait_until_fit(host, 90)


def test_nothing_is_left_on_the_node(host, chart, before):
    done = subprocess.run([*chart, 'uninstall', 'gpu-operator', '--wait'], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    def gone():
        """every Pod of ours has ended"""
        return not json.loads(host.kubectl('-n', NAMESPACE, 'get', 'pods', '-o', 'json').stdout)['items']
    wait(gone, 60)
    wait(host.engine_answers)
    now = files(host)
    assert [path for path, file in before.items() if now.get(path) != file] == [], 'what was there is there, byte for byte'
    added = sorted(path for path in now.keys() - before.keys() if not path.startswith(STAYS))
    assert not added, added
    # The readiness gate closes when its plugin ends, and nobody is left to open it (docs/readiness-gate.md).
    host.kubectl('taint', 'node', 'bed-node', 'gpu-operator.dev/not-ready:NoSchedule-', check=False)
    phase, log = host.once('last', 'echo works')
    assert (phase, log) == ('Succeeded', 'works\n')
