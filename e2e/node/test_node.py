"""The whole path on a real node: installed, asked for, computed with, restarted, given back."""
import pathlib
import subprocess
import time

import pytest
import yaml

from conftest import PROGRAM, wait

LOOK = 'ls /dev | /bin/busybox grep -c "^nvidia[0-9]"; /vector_add'


def toolkit(node, *flags):
    run = node.run
    return [PROGRAM, 'nvidia-ctk-installer', '--runtime=containerd', f'--toolkit-install-dir={run}/nvidia', f'--pid-file={run}/toolkit.pid',
            f'--config={run}/containerd.toml', f'--drop-in-config={run}/conf.d/99-nvidia.toml', f'--socket={run}/containerd.sock',
            '--restart-mode=signal', '--set-as-default=false', '--enable-cdi', f'--cdi-output-dir={run}/cdi', '--nvidia-container-runtime.mode=cdi',
            f'--driver-root={node.machine}/root', f'--dev-root={node.devices}', f'--dev-root-ctr-path={node.devices}', '--create-device-nodes=none', '--host-root=/', *flags]


@pytest.fixture(scope='module')
def before(node):
    """The engine's files before anything was installed."""
    return (node.run / 'containerd.toml').read_bytes()


@pytest.fixture(scope='module')
def installed(node, before):
    """The toolkit as a daemon on the node, and the classes for it."""
    daemon = node.start('toolkit', *toolkit(node), env=node.env)

    def done():
        """the runtimes are in the engine's configuration and the specs are written"""
        assert daemon.poll() is None, (node.run / 'toolkit.log').read_text()[-3000:]
        return (node.run / 'conf.d/99-nvidia.toml').exists() and (node.run / 'cdi/nvidia.yaml').exists() \
            and not (node.run / 'nvidia/.toolkit-journal/transaction').exists() and node.engine_answers()
    wait(done)
    node.apply({'apiVersion': 'node.k8s.io/v1', 'kind': 'RuntimeClass', 'metadata': {'name': 'nvidia'}, 'handler': 'nvidia'})
    return daemon


def uuids(node):
    spec = yaml.safe_load((node.run / 'cdi/nvidia.yaml').read_text())
    return [d['name'] for d in spec['devices'] if d['name'].startswith('GPU-')]


def test_a_runtime_class_gives_the_devices_asked_for(node, installed):
    assert len(uuids(node)) == 8
    phase, log = node.once('class', LOOK, runtimeClassName='nvidia', env={'NVIDIA_VISIBLE_DEVICES': uuids(node)[0]})
    assert (phase, log) == ('Succeeded', '1\ndevices 1\n%s ok\n' % uuids(node)[0])
    phase, log = node.once('every', LOOK, runtimeClassName='nvidia', env={'NVIDIA_VISIBLE_DEVICES': 'nvidia.com/gpu=all'})
    assert phase == 'Succeeded' and log.startswith('8\ndevices 8\n') and log.count(' ok\n') == 8


def test_a_pod_that_asks_for_nothing_sees_nothing(node, installed):
    for name, more in (('plain', {}), ('classed', {'runtimeClassName': 'nvidia'}), ('void', {'runtimeClassName': 'nvidia', 'env': {'NVIDIA_VISIBLE_DEVICES': 'void'}})):
        phase, log = node.once(name, LOOK + ' 2>&1', **more)
        assert phase == 'Failed' and log.startswith('0\n') and 'no driver' in log, name


def test_an_unknown_device_stops_the_container_and_is_named(node, installed):
    node.apply({'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'unknown', 'namespace': 'default'},
                'spec': {'runtimeClassName': 'nvidia', 'restartPolicy': 'Never', 'automountServiceAccountToken': False, 'terminationGracePeriodSeconds': 0,
                         'containers': [{'name': 'main', 'image': 'bed.local/cuda:1', 'imagePullPolicy': 'Never', 'command': ['/vector_add'],
                                         'env': [{'name': 'NVIDIA_VISIBLE_DEVICES', 'value': '77'}]}]}})

    def said():
        """the Pod's events have the device's name and the engine's reason"""
        text = node.kubectl('describe', 'pod', 'unknown').stdout
        return 'unresolvable CDI devices' in text and '=77' in text
    wait(said)
    node.kubectl('delete', 'pod', 'unknown', '--force', '--grace-period=0')


def test_restarts_of_engine_and_kubelet_change_nothing(node, installed):
    node.restart_engine()
    node.restart_kubelet()
    wait(node.ready)
    phase, log = node.once('later', LOOK, runtimeClassName='nvidia', env={'NVIDIA_VISIBLE_DEVICES': '3'})
    assert phase == 'Succeeded' and log.startswith('1\ndevices 1\n')


@pytest.fixture(scope='module')
def plugin(node, installed):
    """The device plugin, registered with the kubelet."""
    names = subprocess.run([PROGRAM, '--names'], capture_output=True, text=True, check=True).stdout.split()
    if 'nvidia-device-plugin' not in names:
        pytest.skip('this program has no nvidia-device-plugin')
    one = node.start_plugin()

    def eight():
        """the node offers eight GPUs"""
        assert one.poll() is None, (node.run / 'plugin.log').read_text()[-3000:]
        return node.allocatable() == 8
    wait(eight)
    return one


def test_a_pod_that_requests_a_gpu_computes_on_one(node, plugin):
    phase, log = node.once('one', LOOK, resources={'limits': {'nvidia.com/gpu': '1'}})
    assert phase == 'Succeeded' and log.startswith('1\ndevices 1\nGPU-') and log.count(' ok\n') == 1, log
    phase, log = node.once('three', LOOK, resources={'limits': {'nvidia.com/gpu': '3'}})
    assert phase == 'Succeeded' and log.startswith('3\ndevices 3\n') and log.count(' ok\n') == 3, log
    phase, log = node.once('none', LOOK + ' 2>&1')
    assert phase == 'Failed' and log.startswith('0\n') and 'no driver' in log


def test_requests_hold_through_restarts(node, plugin):
    # In this order: nothing starts this kubelet again should it find no engine when it begins.
    node.restart_engine()
    node.restart_kubelet()
    wait(node.ready)

    def again():
        """the plugin has registered again"""
        return node.allocatable() == 8
    wait(again)
    phase, log = node.once('again', LOOK, resources={'limits': {'nvidia.com/gpu': '2'}})
    assert phase == 'Succeeded' and log.startswith('2\ndevices 2\n'), log


@pytest.mark.parametrize('delay', [0.02, 0.2, 0.6, 1.2])
def test_a_killed_toolkit_leaves_a_node_that_works(node, installed, delay):
    """Killed at any moment of its change: the guard ends the change, without another start of the toolkit."""
    if installed.poll() is None:
        installed.terminate()
        assert installed.wait(120) == 0
    drop_in, journal = node.run / 'conf.d/99-nvidia.toml', node.run / 'nvidia/.toolkit-journal'
    old = (node.run / 'containerd.toml').read_bytes()
    assert not drop_in.exists()
    starts = node.engine_starts()
    child = node.start('killed', *toolkit(node), env=node.env)

    def begun():
        """the change has begun"""
        return drop_in.exists() or child.poll() is not None
    wait(begun, 30)
    time.sleep(delay)
    child.kill()
    child.wait()

    def ended():
        """no record of an open change is left"""
        return not [p for p in journal.iterdir() if p.name not in ('lock',)]
    try:
        wait(ended, 240)  # the limits of an engine that does not come back are in it
    except AssertionError:
        raise AssertionError((node.run / 'killed.log').read_text()[-3000:])
    wait(node.engine_answers)
    new = (node.run / 'containerd.toml').read_bytes()
    assert drop_in.exists() == (new != old)
    assert node.engine_starts() - starts <= 3
    assert node.once('after', 'echo works') == ('Succeeded', 'works\n')
    # What is left, if it was committed, is taken away as ever.
    subprocess.run(toolkit(node, '--no-daemon'), env=node.env, check=True, capture_output=True)
    daemon = node.start('again', *toolkit(node), env=node.env)

    def waits():
        """the toolkit has become the one that waits"""
        return b'keep' in pathlib.Path('/proc', str(daemon.pid), 'cmdline').read_bytes().split(b'\0')
    wait(waits, 30)
    daemon.terminate()
    assert daemon.wait(120) == 0
    assert (node.run / 'containerd.toml').read_bytes() == old and not drop_in.exists()
    wait(node.engine_answers)


def test_what_was_there_is_there_again(node, before):
    assert (node.run / 'containerd.toml').read_bytes() == before
    phase, log = node.once('last', 'echo works')
    assert (phase, log) == ('Succeeded', 'works\n')


def test_devices_by_annotation_without_any_edit(node, before, installed):
    """NRI: the engine's files stay as they are; a Pod's annotation names its devices, and management devices are the operator's alone."""
    if installed.poll() is None:
        installed.terminate()
        assert installed.wait(120) == 0
    daemon = node.start('nri', *toolkit(node, '--enable-nri-plugin', f'--nri-socket={node.run}/nri.sock', '--nri-namespace=gpu-operator'), env=node.env)

    def registered():
        """the engine took the plugin"""
        assert daemon.poll() is None, (node.run / 'nri.log').read_text()[-2000:]
        return 'registered with the engine' in (node.run / 'nri.log').read_text()
    wait(registered)
    assert (node.run / 'containerd.toml').read_bytes() == before
    phase, log = node.once('annotated', LOOK, annotations={'nvidia.cdi.k8s.io/container.main': 'nvidia.com/gpu=2'})
    assert phase == 'Succeeded' and log.startswith('1\ndevices 1\n'), log
    phase, log = node.once('manager', LOOK + ' 2>&1', annotations={'nvidia.cdi.k8s.io': 'management.nvidia.com/gpu=all'})
    assert phase == 'Failed' and log.startswith('0\n'), log
    assert 'not for namespace default' in (node.run / 'nri.log').read_text()
    node.restart_engine()

    def again():
        """it registered with the engine that was started again"""
        return (node.run / 'nri.log').read_text().count('registered with the engine') >= 2
    wait(again)
    phase, log = node.once('later-annotated', LOOK, annotations={'nvidia.cdi.k8s.io/pod': 'nvidia.com/gpu=all'})
    assert phase == 'Succeeded' and log.startswith('8\ndevices 8\n'), log
    daemon.terminate()
    assert daemon.wait(60) == 0
    assert (node.run / 'containerd.toml').read_bytes() == before
