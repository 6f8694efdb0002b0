"""Simulated machines through kubectl: Pods are processes, with logs, exec, exit codes, and nothing left behind."""
import os
import pathlib
import re
import signal
import subprocess

import pytest

from conftest import wait
from machines import Machines, pod, running


@pytest.fixture(scope='module')
def machines(tmp_path_factory):
    m = Machines(tmp_path_factory.mktemp('machines'), '--machine', 'dgx=dgx-a100', '--machine', 'spark=gb10')
    m.wait_ready('dgx', 'spark')
    yield m
    m.stop()


def test_nodes_are_what_the_machine_files_say(machines):
    info = {n: machines.get('node', n)['status']['nodeInfo'] for n in ('dgx', 'spark')}
    assert (info['dgx']['architecture'], info['spark']['architecture']) == ('amd64', 'arm64')
    assert info['dgx']['containerRuntimeVersion'].startswith('containerd://')


def test_logs_exec_and_delete(machines):
    machines.apply(pod('talker', 'echo hello from $(hostname); echo oops >&2; sleep 600'))
    machines.wait('talker', running)
    wait(lambda: machines.run('logs', 'talker').stdout == 'hello from talker\noops\n')
    assert machines.run('logs', 'talker', '--tail=1').stdout == 'oops\n'
    assert machines.run('exec', 'talker', '--', 'sh', '-c', 'echo out; echo $$').stdout.startswith('out\n')
    failed = machines.run('exec', 'talker', '--', 'sh', '-c', 'exit 7', ok=False)
    assert failed.returncode == 7, failed.stderr
    absent = machines.run('exec', 'talker', '--', 'no-such-program', ok=False).stderr
    assert re.fullmatch(r'error: Internal error occurred: error executing command in container: failed to exec in container: failed to start exec '
                        r'"[0-9a-f]{64}": OCI runtime exec failed: exec failed: unable to start container process: exec: "no-such-program": '
                        r'executable file not found in \$PATH: unknown\n', absent), absent
    assert machines.get('pod', 'talker')['status']['containerStatuses'][0]['imageID'].startswith('docker.io/library/shell@sha256:')
    assert machines.run('exec', '-i', 'talker', '--', 'tr', 'a-z', 'A-Z', stdin='through\n').stdout == 'THROUGH\n'
    machines.run('delete', 'pod', 'talker')
    assert machines.get('pod', 'talker') == {}


def test_a_log_is_followed_to_its_end(machines):
    machines.apply(pod('counter', 'for i in 1 2 3; do echo $i; sleep 0.3; done', restartPolicy='Never'))
    machines.wait('counter', lambda s: s.get('phase') in ('Running', 'Succeeded'))
    assert machines.run('logs', '-f', 'counter').stdout == '1\n2\n3\n'


def test_an_image_of_another_architecture(machines):
    machines.apply(pod('wrong', None, image='registry.example.com/arm-only:1'),
                   pod('right', None, image='registry.example.com/arm-only:1', node='spark'),
                   pod('index', None, image='registry.example.com/two:1'))
    machines.wait('right', running)

    def ended(status):
        last = status.get('containerStatuses', [{}])[0]
        return any(last.get(s, {}).get('terminated', {}).get('exitCode') == 255 for s in ('state', 'lastState'))
    machines.wait('wrong', ended)
    assert machines.run('logs', 'wrong').stdout == 'exec /bin/sh: exec format error\n'
    machines.wait('index', lambda s: s.get('containerStatuses', [{}])[0].get('state', {}).get('waiting', {}).get('reason') == 'ImagePullBackOff')
    assert 'no match for platform in manifest: not found' in machines.run('describe', 'pod', 'index').stdout


def test_a_pod_reaches_the_api_server_by_its_token(machines):
    script = 'd=/var/run/secrets/kubernetes.io/serviceaccount; python3 -c "import ssl,urllib.request as u;' \
             'r=u.Request(\\"https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/version\\",headers={\\"Authorization\\":\\"Bearer \\"+open(\\"$d/token\\").read()});' \
             'print(u.urlopen(r,context=ssl.create_default_context(cafile=\\"$d/ca.crt\\")).status)"'
    machines.apply(pod('client', script, restartPolicy='Never'))
    machines.wait('client', lambda s: s.get('phase') in ('Succeeded', 'Failed'))
    assert machines.run('logs', 'client').stdout.strip() == '200'


def test_a_privileged_pod_sees_the_machine_as_its_host(machines):
    script = 'chroot /host nvidia-smi -L | wc -l; . /host/etc/os-release; echo $ID; ls /dev/nvidia[0-9] | wc -l'
    job = pod('looker', script, restartPolicy='Never', volumes=[{'name': 'host', 'hostPath': {'path': '/', 'type': 'Directory'}}])
    job['spec']['containers'][0].update(securityContext={'privileged': True}, volumeMounts=[{'name': 'host', 'mountPath': '/host'}])
    plain = pod('outsider', 'ls /dev/nvidia* 2>/dev/null | wc -l; cut -d" " -f3 /proc/version', restartPolicy='Never')
    machines.apply(job, plain)
    for name in ('looker', 'outsider'):
        machines.wait(name, lambda s: s.get('phase') in ('Succeeded', 'Failed'))
    assert machines.run('logs', 'looker').stdout == '8\nubuntu\n8\n'
    assert machines.run('logs', 'outsider').stdout == '0\n' + machines.get('node', 'dgx')['status']['nodeInfo']['kernelVersion'] + '\n'


def test_a_reboot_starts_everything_anew(machines):
    machines.apply(pod('phoenix', 'sleep 600'))
    machines.wait('phoenix', running)
    before = machines.get('node', 'dgx')['status']['nodeInfo']['bootID']
    machines.fault('dgx', 'reboot')
    machines.wait('phoenix', lambda s: s.get('containerStatuses', [{}])[0].get('restartCount') == 1 and 'running' in s['containerStatuses'][0]['state'])
    assert machines.get('node', 'dgx')['status']['nodeInfo']['bootID'] != before
    refused = subprocess.run([os.environ['GPUOP_PROGRAM'], 'sim', 'fault', 'dgx', 'nonsense', '--kubeconfig', machines.kubeconfig], capture_output=True, text=True)
    assert refused.returncode == 1 and 'nonsense' in refused.stderr


def test_a_killed_container_starts_again_and_a_killed_machine_when_it_is_switched_on(machines):
    mark = '97%d' % os.getpid()
    machines.apply(pod('mortal', 'exec sleep ' + mark, node='spark'))

    def runs_again(count):
        machines.wait('mortal', lambda s: s.get('containerStatuses', [{}])[0].get('restartCount') == count and 'running' in s['containerStatuses'][0]['state'])
        process, = processes_with(mark)
        return process
    os.kill(int(runs_again(0)), signal.SIGKILL)
    container = runs_again(1)
    last = machines.get('pod', 'mortal')['status']['containerStatuses'][0]['lastState']['terminated']
    assert (last['exitCode'], last['reason']) == (137, 'Error')
    # The container's parent is the machine.
    machine = re.search(r'PPid:\s+(\d+)', pathlib.Path('/proc/%s/status' % container).read_text()).group(1)
    assert pathlib.Path('/proc/%s/comm' % machine).read_text() == 'machine\n'
    os.kill(int(machine), signal.SIGKILL)
    wait(lambda: not processes_with(mark))
    machines.fault('spark', 'reboot')
    runs_again(2)
    machines.run('delete', 'pod', 'mortal')


def processes_with(mark):
    found = []
    for entry in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            if mark.encode() in (entry / 'cmdline').read_bytes():
                found.append(entry.name)
        except OSError:
            pass
    return found


def control_groups():
    return {str(p) for p in pathlib.Path('/sys/fs/cgroup').rglob('*') if p.is_dir()}


@pytest.mark.parametrize('victim', ['launcher', 'program'])
def test_a_killed_run_on_a_machine_leaves_nothing(tmp_path, victim):
    mark = '96%d' % os.getpid()
    groups, mounts = control_groups(), pathlib.Path('/proc/self/mountinfo').read_text()
    launcher = subprocess.Popen([os.environ['GPUOP_PROGRAM'], 'machine', 'run', 't4', '--', 'sleep', mark])
    program = 'sleep\0' + mark
    wait(lambda: [p for p in processes_with(program) if int(p) != launcher.pid])
    os.kill(launcher.pid if victim == 'launcher' else int([p for p in processes_with(program) if int(p) != launcher.pid][0]), signal.SIGKILL)
    assert launcher.wait(timeout=30) == (-signal.SIGKILL if victim == 'launcher' else 137)
    wait(lambda: not processes_with(program))
    assert pathlib.Path('/proc/self/mountinfo').read_text() == mounts
    assert not any(str(launcher.pid) in g for g in control_groups() - groups)


def test_a_killed_cluster_leaves_nothing(tmp_path):
    before = control_groups()
    m = Machines(tmp_path, '--machine', 't4', '--machines-folder', str(tmp_path / 'machines'))
    m.wait_ready('t4')
    mark = 'sleep 98%d' % os.getpid()
    m.apply(*[pod('p%d' % i, 'true; %s' % mark, node='t4') for i in range(3)])
    for i in range(3):
        m.wait('p%d' % i, running)
    assert len(processes_with(mark)) >= 3
    groups = control_groups()
    m.process.kill()
    m.process.wait()

    def gone():
        """no process and no mount is left"""
        return not processes_with(mark) and not processes_with(str(tmp_path)) and str(tmp_path) not in pathlib.Path('/proc/self/mountinfo').read_text()
    wait(gone)
    assert not any('t4' in g or str(m.process.pid) in g for g in (groups | control_groups()) - before)


def test_sixty_pods_on_eight_machines(tmp_path):
    """bench/machines measures this by the clock; here it is the CPU seconds that count, which do not depend on who else runs."""
    m = Machines(tmp_path, *[a for i in range(8) for a in ('--machine', 'n%d=dgx-a100' % i)])
    try:
        wait(lambda: m.get('serviceaccount', 'default'))
        m.apply(*[pod('p%d' % i, 'sleep 600', node='n%d' % (i % 8)) for i in range(60)])

        def all_running():
            """60 Pods run"""
            return m.run('get', 'pods', '--no-headers').stdout.count('Running') == 60
        wait(all_running, 120)
        ticks = pathlib.Path('/proc/%d/stat' % m.process.pid).read_text().rsplit(')', 1)[1].split()
        m.stop()
        assert (int(ticks[11]) + int(ticks[12])) / os.sysconf('SC_CLK_TCK') < 10
    finally:
        m.process.kill()
