"""Many Pods that want devices, and what the kubelet says of who has which, at every change."""
import datetime
import itertools
import json
import subprocess
import time

from conftest import SLACK


class Ledger:
    """The kubelet's answers (the pod resources API), as pod-resources wrote them down."""

    def __init__(self, host):
        self.host, self.path = host, host.run / 'pod-resources.log'
        self.begin = self.path.stat().st_size if self.path.exists() else 0
        socket = host.machine / 'root/var/lib/kubelet/pod-resources/kubelet.sock'
        self.reader = host.start('pod-resources', host.bin / 'pod-resources', socket, '0.05')

    def close(self):
        self.reader.terminate()
        self.reader.wait()

    def entries(self):
        with open(self.path) as file:
            file.seek(self.begin)
            return [json.loads(line) for line in file if line.startswith('{')]

    def check(self, resource, known, over):
        """No device was two containers', none unknown. Which devices each Pod had last: a kubelet that ends in the middle of an
        admission leaves the next one to decide anew.

        The kubelet reads its Pods one after another while devices change hands: an answer may have one still at the Pod that it was
        taken from and already at the next. The answer after it does not; when the containers ran, `overlaps` knows."""
        had, twice = {}, {}
        for entry in self.entries():
            holders = {}
            for key, ids in entry.items():
                container, of = key.split(' ')
                if of == resource:
                    had[container.split('/')[1]] = ids
                    for one in ids:
                        holders.setdefault(one, []).append(container)
            assert set(holders) <= known, f'nobody offers {set(holders) - known}'
            still = {one: pods for one, pods in holders.items() if len(pods) > 1 and sorted(pods) == sorted(twice.get(one, []))}
            assert not still, f'devices were given twice: {still}; when these Pods ran: {when(over, still)}'
            twice = {one: pods for one, pods in holders.items() if len(pods) > 1}
        return had


def when(over, twice):
    """Of Pods that are said to have had the same device: when each one's container began and ended."""
    names = {container.split('/')[1] for containers in twice.values() for container in containers}
    return {pod['metadata']['name']: [(s['state'].get('terminated', {}).get('startedAt'), s['state'].get('terminated', {}).get('finishedAt'))
                                      for s in pod['status'].get('containerStatuses', [])] for pod in over if pod['metadata']['name'] in names}


def overlaps(over, had):
    """Devices of which one container had not ended when the next one began."""
    runs = {}
    for pod in over:
        for status in pod['status'].get('containerStatuses', []):
            ended = status['state'].get('terminated', {})
            for one in had.get(pod['metadata']['name'], []) if ended.get('startedAt') else []:
                runs.setdefault(one, []).append((ended['startedAt'], ended['finishedAt'], pod['metadata']['name']))
    return [(one, a, b) for one, all_of_it in runs.items() for a, b in itertools.pairwise(sorted(all_of_it)) if a[1] > b[0]]


def pods_of(host, wave):
    return json.loads(host.kubectl('get', 'pods', '-l', 'wave=' + wave, '-o', 'json').stdout)['items']


def bound_at(host, pod):
    events = json.loads(host.kubectl('get', 'events', '--field-selector', 'involvedObject.name=%s,reason=Scheduled' % pod, '-o', 'json').stdout)['items']
    return datetime.datetime.fromisoformat(events[-1]['eventTime']).timestamp()


def refused(host, over, ended):
    """The Pods that a new kubelet refused although nobody could have kept them away: they were bound when the kubelet before it
    had been told to end, at a time of `ended`, and before anybody could know. Any other that fails is an error."""
    failed = {p['metadata']['name']: p['status'] for p in over if p['status']['phase'] == 'Failed'}
    late = {name for name, status in failed.items() if status.get('reason') == 'UnexpectedAdmissionError'
            and any(-1 < bound_at(host, name) - at < 0.5 * SLACK for at in ended)}
    other = {name: (status.get('reason'), status.get('message')) for name, status in failed.items() if name not in late}
    assert not other, other
    return late


def run(host, wave, count, known, resource='nvidia.com/gpu', seconds=300.0, meanwhile=None, ended=()):
    """`count` Pods that each want one device, all at once: as many run as there are devices, the others wait for their turn.
    Each looks at its device and computes on it; a start that a kubelet gave up when it ended is made again, and a Pod that fails
    for good was not admitted. `meanwhile` is called between looks at them, with how many have ended;
    `ended` has the times at which a kubelet was told to end."""
    ledger = Ledger(host)
    try:
        host.apply(*[{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': f'{wave}-{i}', 'namespace': 'default', 'labels': {'wave': wave}},
                      'spec': {'restartPolicy': 'OnFailure', 'terminationGracePeriodSeconds': 0, 'automountServiceAccountToken': False,
                               'containers': [{'name': 'main', 'image': 'bed.local/cuda:1', 'imagePullPolicy': 'Never', 'resources': {'limits': {resource: '1'}},
                                               'command': ['/bin/busybox', 'sh', '-c', '/vector_add && sleep 1']}]}} for i in range(count)])
        end = time.monotonic() + seconds * SLACK
        while True:
            pods = pods_of(host, wave)
            over = [p for p in pods if p['status'].get('phase') in ('Succeeded', 'Failed')]
            if len(over) == count:
                break
            assert time.monotonic() < end, f'{len(over)} of {count} Pods ended in {seconds * SLACK} s'
            if meanwhile:
                meanwhile(len(over))
            time.sleep(0.5)
        late = refused(host, over, ended)
        logs = host.kubectl('logs', '-l', 'wave=' + wave, '--prefix', '--tail=-1', check=False).stdout
    finally:
        ledger.close()
        subprocess.run([str(host.bin / 'kubectl'), '--kubeconfig', str(host.run / 'admin.kubeconfig'), 'delete', 'pods', '-l', 'wave=' + wave, '--force',
                        '--grace-period=0'], capture_output=True)
    had = ledger.check(resource, known, over)
    assert not overlaps(over, had)
    saw = {}
    for line in logs.splitlines():
        place, _, text = line.partition('] ')
        if text.endswith(' ok'):
            saw.setdefault(place.split('/')[1], []).append(text.removesuffix(' ok').split('-', 1)[1])
    assert len(saw) == count - len(late) and all(len(devices) == 1 for devices in saw.values()), saw
    # What the kubelet says and what the container found are one; a short life may have gone by between two looks.
    for pod, ids in had.items():
        if pod in saw:
            assert [i.split('::')[0].split('-', 1)[1] for i in ids] == saw[pod], (pod, ids, saw[pod])
    assert len(set(had) & set(saw)) >= count * 3 // 4, (sorted(had), sorted(saw))
    return had
