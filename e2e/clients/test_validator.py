"""The validator on a simulated DGX A100 under the operator: what each fault of the machine is called, and that mending is heard."""
import json
import os
import signal
import subprocess

import pytest

from conftest import wait
from machines import Machines

POLICY = '''
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: cluster-policy}
spec:
  operator: {defaultRuntime: containerd}
  daemonsets: {}
  driver: {enabled: false}
  toolkit: {enabled: true, image: gpu-operator}
  devicePlugin: {enabled: true, image: gpu-operator}
  dcgm: {enabled: false}
  dcgmExporter: {enabled: false, image: gpu-operator}
  gfd: {enabled: false, image: gpu-operator}
  migManager: {enabled: false}
  nodeStatusExporter: {enabled: false, image: gpu-operator}
  validator:
    image: gpu-operator
    env: [{name: DRIVER_LIMIT_SECONDS, value: "4"}, {name: DEVICE_LIMIT_SECONDS, value: "4"}]
'''

# Each fault of the simulated machine (docs/simulated-machines.md): its words, and the reason that names the first broken
# link; a fault that breaks nothing for GPU Pods leaves the node proved.
FAULTS = [
    ('contexts-dead gpu=3', 'GPUNeedsReset'),
    ('device-node-missing gpu=3', 'DeviceNodeMissing'),
    ('driver-missing', 'DriverMissing'),
    ('ecc-corrected gpu=3 value=5', 'Proved'),
    ('ecc-uncorrected gpu=3 value=2', 'ECCUncorrected'),
    ('engine-restart', 'Proved'),
    ('fabric-not-ready', 'FabricNotReady'),
    ('gpu-lost gpu=3', 'GPULost'),
    ('hang', 'DriverHung'),
    ('kernel-hang gpu=3', 'CUDAHung'),
    ('mig-busy gpu=3', 'Proved'),
    ('module-missing', 'DriverNotLoaded'),
    ('module-vermagic', 'DriverKernelMismatch'),
    ('needs-reset gpu=3', 'GPUNeedsReset'),
    ('no-permission', 'Proved'),
    ('nvlink-down gpu=3 value=4', 'NVLinkDown'),
    ('off-bus gpu=3', 'GPUOffBus'),
    ('pcie-degraded gpu=3 value=8', 'PCIeDegraded'),
    ('power-brake gpu=3', 'PowerBrake'),
    ('power-cable gpu=3', 'GPUPower'),
    ('power-loss', 'Proved'),
    ('reboot', 'Proved'),
    ('row-remap-failed gpu=3', 'RowRemapFailed'),
    ('row-remap-pending gpu=3', 'RowRemapPending'),
    ('thermal gpu=3', 'ThermalSlowdown'),
    ('uvm-missing', 'UVMMissing'),
    ('version-mismatch', 'DriverVersionMismatch'),
    ('wrong-result gpu=3', 'CUDAWrongResult'),
    ('xid gpu=3 value=79', 'XidFatal'),
]


class Operated(Machines):
    """A machine under the operator, whose driver is the host's."""

    def __init__(self, folder):
        super().__init__(folder, '--machine', 'n1=dgx-a100')
        program = os.environ['GPUOP_PROGRAM']
        self.wait_ready('n1')
        self.run('create', 'namespace', 'gpu-operator')
        crds = subprocess.run([program, 'crds'], check=True, capture_output=True, text=True).stdout
        self.run('apply', '-f', '-', stdin=crds)
        self.run('label', 'node', 'n1', *('feature.node.kubernetes.io/' + label for label in (
            'pci-10de.present=true', 'kernel-version.full=5.15.0-1', 'system-os_release.ID=ubuntu', 'system-os_release.VERSION_ID=22.04')))
        self.run('apply', '-f', '-', stdin=POLICY)
        environment = {**os.environ, 'KUBECONFIG': self.kubeconfig, 'OPERATOR_NAMESPACE': 'gpu-operator',
                       'OPERATOR_IMAGE': 'gpu-operator', 'VALIDATOR_IMAGE': 'gpu-operator'}
        with open(folder / 'operator.log', 'wb') as log:
            self.operator = subprocess.Popen([program, 'controller'], env=environment, stdout=log, stderr=log)
        self.asked = 0
        os.symlink(program, folder / 'kubectl-gpu')

    def why(self):
        """The reason that `kubectl gpu why` gives for the node; Proved when it finds nothing."""
        done = subprocess.run([str(self.folder / 'kubectl-gpu'), 'why', 'n1', '-o', 'json', '--kubeconfig', self.kubeconfig],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1, 4), done.stderr
        return json.loads(done.stdout).get('cause', {}).get('reason', 'Proved')

    def condition(self):
        conditions = self.get('node', 'n1').get('status', {}).get('conditions', [])
        return next((c for c in conditions if c['type'] == 'gpu-operator.dev/GPUReady'), {})

    def reason(self):
        return self.condition().get('reason', '')

    def wait_for(self, *reasons, seconds=90):
        def reached():
            return self.reason() in reasons
        try:
            wait(reached, seconds)
        except AssertionError:
            pass
        return self.reason()

    def prove(self):
        self.asked += 1
        self.run('annotate', 'node', 'n1', 'gpu-operator.dev/prove=%d' % self.asked, '--overwrite')

    def stop(self):
        self.operator.send_signal(signal.SIGTERM)
        self.operator.wait(timeout=30)
        super().stop()


@pytest.fixture(scope='module')
def operated(tmp_path_factory):
    m = Operated(tmp_path_factory.mktemp('operated'))
    yield m
    m.stop()


def test_a_healthy_machine_is_proved(operated):
    assert operated.wait_for('Proved') == 'Proved', operated.condition()
    assert operated.condition()['status'] == 'True'
    message = operated.condition()['message']
    assert '8 x NVIDIA A100' in message and 'nvidia.com/gpu: 8' in message and 'of the host (DGX' in message, message
    pods = operated.run('get', 'pods', '-n', 'gpu-operator', '-l', 'app=nvidia-cuda-validator', '-o', 'name').stdout.split()
    assert len(pods) == 1, pods


def test_each_fault_is_named_and_its_mending_heard(operated):
    rows, missed = [], 0
    for words, want in FAULTS:
        assert operated.wait_for('Proved') == 'Proved', (words, operated.condition())
        operated.fault('n1', *words.split())
        operated.prove()
        got = operated.wait_for(want, seconds=60)
        why = operated.why()
        message = operated.condition().get('message', '')
        right = got == want == why
        missed += not right
        rows.append('%-28s %-24s %-24s %-24s %s' % (words, want, got, why, '' if right else message))
        event = words.split()[0] in ('reboot', 'power-loss', 'engine-restart', 'xid', 'ecc-corrected', 'ecc-uncorrected')
        if not event:
            operated.fault('n1', 'clear', *words.split())
        # What only a reset or a reboot takes away: counters, pending remaps, the kernel's log.
        operated.fault('n1', 'reboot')
        operated.wait_for('Validating', 'Unknown', seconds=5)
    print('\n' + '\n'.join(rows) + '\n%d of %d right' % (len(rows) - missed, len(rows)))
    assert missed == 0, '\n'.join(rows)
