"""helm 3 and helm 4 install, upgrade, roll back and remove a chart on both servers with the same outcome."""
import concurrent.futures
import json
import os
import pathlib
import subprocess

import pytest

from conftest import helms, kubectls

CHART = pathlib.Path(__file__).resolve().parents[1] / 'charts' / 'hello'
HELMS = helms()
pytestmark = pytest.mark.skipif(not HELMS, reason='no helm: Go is missing')


def story(helm, server, tmp_path):
    env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=str(tmp_path / server.name), HELM_CACHE_HOME=str(tmp_path / 'cache'))
    kubectl = next(iter(kubectls().values()))
    namespace = 'story-' + os.path.basename(helm)

    def call(*args, program=helm):
        done = subprocess.run([program, *args, '-n', namespace], env=env, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, '%s: %s %s\n%s%s' % (server.name, os.path.basename(program), ' '.join(args), done.stdout, done.stderr)
        return done.stdout

    def state():
        names = call('get', 'deploy,cm,sa,role,rolebinding,greeting', '-o', 'name', '-l', '!absent', program=kubectl).split()
        image = call('get', 'deploy', 'hi', '-o', 'jsonpath={.spec.template.spec.containers[0].image}', program=kubectl)
        return sorted(names), image
    seen = []
    call('install', 'hi', str(CHART), '--create-namespace', '--wait', '--timeout', '180s')
    seen.append(state())
    call('upgrade', 'hi', str(CHART), '--set', 'image=registry.test/hello:2', '--set', 'replicas=2', '--wait', '--timeout', '180s')
    seen.append(state())
    call('rollback', 'hi', '1', '--wait', '--timeout', '180s')
    seen.append(state())
    seen.append([r['revision'] for r in json.loads(call('history', 'hi', '-o', 'json'))])
    seen.append(call('status', 'hi', '-o', 'json').count('"deployed"'))
    call('uninstall', 'hi', '--wait', '--timeout', '180s')
    seen.append(call('get', 'deploy,role,greeting', '-o', 'name', program=kubectl))
    subprocess.run([kubectl, 'delete', 'namespace', namespace, '--wait=false'], env=env, capture_output=True, check=True)
    subprocess.run([kubectl, 'delete', 'crd', 'greetings.hello.example'], env=env, capture_output=True, check=True)
    return seen


@pytest.mark.parametrize('version', HELMS)
def test_install_upgrade_rollback_uninstall(servers, version, tmp_path):
    with concurrent.futures.ThreadPoolExecutor(len(servers)) as pool:
        outcomes = list(pool.map(lambda server: story(HELMS[version], server, tmp_path), servers))
    assert outcomes[0][0][1] == 'registry.test/hello:1'
    assert outcomes[0][1][1] == 'registry.test/hello:2'
    for other in outcomes[1:]:
        assert outcomes[0] == other
