"""The operator's chart: lint, rendered objects beside golden files, refusals, warnings, RBAC, and a life on both servers."""
import fnmatch
import json
import os
import pathlib
import subprocess

import pytest
import yaml

from conftest import GPU_NODE, ROOT, helms, kubectls, wait

CHART = ROOT / 'deploy/helm/gpu-operator'
VALUES = ROOT / 'testdata/helm/values'
GOLDEN = ROOT / 'testdata/helm/golden'
HELMS = helms()
NAMES = sorted(p.stem for p in VALUES.glob('*.yaml'))
needs_helm = pytest.mark.skipif(not HELMS, reason='no helm: Go is missing')
needs_kubectl = pytest.mark.skipif(not kubectls(), reason='no kubectl from 1.27 on')


def template(helm, *args):
    return subprocess.run([helm, 'template', 'gpu-operator', str(CHART), '-n', 'gpu-operator', '--kube-version', '1.36.0', *args],
                          capture_output=True, text=True, timeout=60)


def rendered(helm, name):
    done = template(helm, '-f', str(VALUES / (name + '.yaml')))
    assert done.returncode == 0, done.stderr
    documents = [d for d in yaml.safe_load_all(done.stdout) if d]
    return sorted(documents, key=lambda d: (d['kind'], d['metadata'].get('namespace', ''), d['metadata']['name']))


@pytest.mark.parametrize('version', HELMS)
def test_lint_finds_nothing(version):
    for name in NAMES:
        done = subprocess.run([HELMS[version], 'lint', '--strict', str(CHART), '-f', str(VALUES / (name + '.yaml'))], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_helm
@pytest.mark.parametrize('name', NAMES)
def test_objects_are_as_reviewed(name):
    """GPUOP_RENEW=1 writes the golden files anew."""
    all_of = {version: rendered(helm, name) for version, helm in HELMS.items()}
    first = next(iter(all_of.values()))
    text = yaml.safe_dump_all(first, sort_keys=False, width=120)
    path = GOLDEN / (name + '.yaml')
    if os.environ.get('GPUOP_RENEW'):
        path.write_text(text)
    for version, documents in all_of.items():
        assert documents == list(yaml.safe_load_all(path.read_text())), version


@needs_helm
def test_the_default_policy_is_the_one_that_manifests_are_compared_with():
    policy = next(d for d in rendered(next(iter(HELMS.values())), 'default') if d['kind'] == 'ClusterPolicy')['spec']
    known = yaml.safe_load((ROOT / 'testdata/manifests/policies/default.yaml').read_text())

    def compare(want, got, at):
        if at == 'spec.daemonsets.labels':
            return
        if isinstance(want, dict):
            for key, value in want.items():
                assert key in got, '%s.%s' % (at, key)
                compare(value, got[key], '%s.%s' % (at, key))
        else:
            assert want == got, at
    compare(known, policy, 'spec')


@pytest.mark.parametrize('sets, says', [
    (['clusterPolicy.deployCR=true', 'gpuCluster.deployCR=true'], 'either a ClusterPolicy or a GPUCluster'),
    (['clusterPolicy.deployCR=false', 'gpuCluster.deployCR=true'], 'needs driver.nvidiaDriverCRD.enabled'),
    (['cdi.nriPluginEnabled=true', 'cdi.enabled=false'], 'cdi.nriPluginEnabled needs cdi.enabled'),
    (['cdi.nriPluginEnabled=true', 'toolkit.enabled=false'], 'needs toolkit.enabled=true'),
    (['devicePlugin.config.create=true', 'devicePlugin.config.data.a=b'], 'needs devicePlugin.config.name'),
    (['devicePlugin.config.create=true', 'devicePlugin.config.name=x'], 'needs devicePlugin.config.data'),
    (['migManager.config.create=true', 'migManager.config.name=x'], 'needs migManager.config.data'),
    (['driver.usePrecompiled=true', 'gds.enabled=true'], 'driver.usePrecompiled excludes'),
    (['vgpuManager.enabled=true'], 'needs vgpuManager.repository and vgpuManager.version'),
    (['ownImages={driver}'], 'ownImages: driver is none of'),
    (['mig.strategy=double'], 'mig'),
    (['daemonsets.updateStrategy=Recreate'], 'updateStrategy'),
    (['driver.env.A=b'], 'env'),
    (['toolkit.enabled=maybe'], 'toolkit'),
    (['driver.upgradePolicy.maxParallelUpgrades=-1'], 'maxParallelUpgrades'),
    (['devicePlugin.imagePullPolicy=Sometimes'], 'imagePullPolicy'),
    (['validator.imagePullSecrets[0].name=x'], 'imagePullSecrets'),
])
@pytest.mark.parametrize('version', HELMS)
def test_refuses(version, sets, says):
    done = template(HELMS[version], *[word for s in sets for word in ('--set', s)])
    assert done.returncode != 0
    assert says in done.stderr, done.stderr


@pytest.mark.parametrize('version', HELMS)
def test_warns_of_values_that_change_nothing(version, servers, tmp_path):
    env = dict(os.environ, KUBECONFIG=servers[0].kubeconfig, HOME=str(tmp_path), HELM_CACHE_HOME=str(tmp_path))

    def definitions(verb, *names):
        subprocess.run([os.environ['GPUOP_PROGRAM'], 'manage-crds', verb, *names], env=env, capture_output=True, check=True, timeout=60)
    definitions('apply')

    def notes(name):
        done = subprocess.run([HELMS[version], 'install', 'gpu-operator', str(CHART), '-n', 'x', '--dry-run=client', '-f', str(VALUES / (name + '.yaml'))],
                              env=env, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout[done.stdout.index('NOTES:'):]
    assert 'WARNINGS' not in notes('default')
    sandbox = notes('sandbox')
    for line in ('devicePlugn: there is no such value', 'toolkit.envs: there is no such value', 'kataManager.enabled: deprecated', 'operator.defaultGPUMode: without effect'):
        assert line in sandbox
    assert 'driver.useOpenKernelModules: without effect' in notes('driver-crd')
    assert 'operator.defaultRuntime: without effect' in notes('rke2')
    assert 'dcgm.hostPort: without effect' in notes('everything')
    definitions('delete', *(p.stem for p in (CHART / 'crds').glob('*.nfd.k8s-sigs.io.yaml')))
    assert 'without its labels no node counts as a GPU node' in notes('talos')
    definitions('delete')


def covers(granted, rule):
    """Whether one rule gives all that another one asks for."""
    def within(field):
        return set(rule.get(field, [])) <= set(granted.get(field, []))
    names = granted.get('resourceNames')
    return within('apiGroups') and within('resources') and within('verbs') and (not names or set(rule.get('resourceNames', [])) <= set(names))


def split(rules):
    """One rule for each group, resource and verb."""
    for rule in rules:
        for group in rule['apiGroups']:
            for resource in rule['resources']:
                for verb in rule['verbs']:
                    yield {'apiGroups': [group], 'resources': [resource], 'verbs': [verb], 'resourceNames': rule.get('resourceNames', [])}


@needs_helm
def test_the_operator_has_every_permission_that_it_hands_on():
    helm = next(iter(HELMS.values()))

    def rules_of(name):
        return {d['kind']: d['rules'] for d in rendered(helm, name) if d['kind'] in ('Role', 'ClusterRole') and d['metadata']['name'] == 'gpu-operator'}
    plain, openshift = rules_of('default'), rules_of('openshift')
    asked = 0
    for path in sorted((ROOT / 'testdata/manifests/golden').glob('*.yaml')):
        operator = openshift if 'openshift' in path.stem else plain
        for role in (d for d in yaml.safe_load_all(path.read_text()) if d and d['kind'] in ('Role', 'ClusterRole')):
            granted = operator['ClusterRole'] + (operator['Role'] if role['kind'] == 'Role' else [])
            for rule in split(role['rules']):
                asked += 1
                assert any(covers(g, rule) for g in granted), '%s %s of %s: %s' % (role['kind'], role['metadata']['name'], path.name, rule)
    assert asked > 150


def test_crds_are_those_that_the_program_prints():
    ours = {p.name: p.read_text() for p in (CHART / 'crds').glob('*.yaml')}
    assert ours == {p.name: p.read_text() for p in (ROOT / 'deploy/crds').glob('*.yaml')}


def test_no_template_names_a_shell():
    for path in CHART.rglob('*.yaml'):
        assert not fnmatch.filter(path.read_text().splitlines(), '*bin/sh*'), path


@needs_kubectl
def test_the_hooks_program_applies_and_deletes_the_definitions(servers, tmp_path):
    kubectl = next(iter(kubectls().values()))
    for server in servers:
        env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=str(tmp_path))

        def call(*args):
            done = subprocess.run(args, env=env, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, '%s: %s\n%s' % (server.name, args, done.stderr)
            return done.stdout
        program = os.environ['GPUOP_PROGRAM']
        for _ in range(2):  # the second changes nothing
            assert call(program, 'manage-crds', 'apply').count(' applied') == 6
        call(kubectl, 'wait', '--for=condition=Established', 'crd/clusterpolicies.nvidia.com', '--timeout=30s')

        def explained():
            """the definition is in what the server publishes, which lags behind"""
            done = subprocess.run([kubectl, 'explain', 'clusterpolicy.spec.devicePlugin'], env=env, capture_output=True, text=True, timeout=60)
            return done.returncode == 0 and 'GPU' in done.stdout
        wait(explained)
        assert call(program, 'manage-crds', 'delete', 'gpuclusters.nvidia.com') == 'gpuclusters.nvidia.com deleted\n'
        call(kubectl, 'wait', '--for=delete', 'crd/gpuclusters.nvidia.com', '--timeout=30s')
        assert call(program, 'manage-crds', 'delete').count(' deleted') == 5
        call(kubectl, 'wait', '--for=delete', 'crd/clusterpolicies.nvidia.com', '--timeout=30s')


def life(helm, server, tmp_path):
    """Install, upgrade with another value, uninstall: what is there after each."""
    env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=str(tmp_path / server.name), HELM_CACHE_HOME=str(tmp_path / 'cache'))
    kubectl = next(iter(kubectls().values()))

    def call(*args, program=helm):
        done = subprocess.run([program, *args, '-n', 'gpu-operator'], env=env, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, '%s: %s %s\n%s%s' % (server.name, os.path.basename(program), ' '.join(args), done.stdout, done.stderr)
        return done.stdout
    kinds = 'deploy,ds,sa,role,rolebinding,clusterrole,clusterrolebinding,cm,job,clusterpolicy,nvidiadriver'

    def state():
        return sorted(n for n in call('get', kinds, '-o', 'name', '-l', 'app.kubernetes.io/instance=gpu-operator', program=kubectl).split())
    seen = []
    call('install', 'gpu-operator', str(CHART), '--create-namespace', '--wait', '--timeout', '120s', '-f', str(VALUES / 'time-slicing.yaml'))
    seen.append(state())
    policy = json.loads(call('get', 'clusterpolicy', 'cluster-policy', '-o', 'json', program=kubectl))
    seen.append(policy['spec']['devicePlugin'])
    call('upgrade', 'gpu-operator', str(CHART), '--wait', '--timeout', '120s', '-f', str(VALUES / 'driver-crd.yaml'))
    seen.append(state())
    seen.append(call('get', 'nvidiadriver', 'default', '-o', 'jsonpath={.spec.gdrcopy.image} {.spec.default}', program=kubectl))
    call('uninstall', 'gpu-operator', '--wait', '--timeout', '120s')
    seen.append(state())
    seen.append(call('get', 'crd', '-o', 'name', program=kubectl).split())
    subprocess.run([kubectl, 'delete', 'namespace', 'gpu-operator', '--timeout=60s'], env=env, capture_output=True, check=True)
    crds = [p.stem for p in (CHART / 'crds').glob('*.yaml')]
    subprocess.run([kubectl, 'delete', 'crd', *crds], env=env, capture_output=True, check=True)
    return seen


@pytest.mark.parametrize('version', HELMS)
def test_install_upgrade_uninstall(servers, version, tmp_path):
    outcomes = [life(HELMS[version], server, tmp_path) for server in servers]
    installed, plugin, upgraded, driver, removed, crds = outcomes[0]
    assert {'deployment.apps/gpu-operator', 'daemonset.apps/gpu-operator-node-feature-discovery-worker', 'configmap/time-slicing',
            'clusterpolicy.nvidia.com/cluster-policy'} <= set(installed)
    assert plugin['config'] == {'name': 'time-slicing', 'default': 'any'}
    assert 'nvidiadriver.nvidia.com/default' in upgraded and 'configmap/time-slicing' not in upgraded
    assert not [name for name in upgraded if name.startswith('job')], 'the hook is gone when it has succeeded'
    assert driver == 'gdrdrv true'
    assert removed == [] and 'customresourcedefinition.apiextensions.k8s.io/clusterpolicies.nvidia.com' in crds
    for other in outcomes[1:]:
        assert outcomes[0][:5] == other[:5]


ALL_ON = {'dcgm': {'enabled': True}, 'nodeStatusExporter': {'enabled': True}, 'psa': {'enabled': True}, 'sandboxWorkloads': {'enabled': True},
          'dcgmExporter': {'enablePodLabels': True}}
SOME_OFF = {'gfd': {'enabled': False}, 'sandboxWorkloads': {'enabled': False}, 'dcgm': {'enabled': False}}


def controller(server, tmp_path):
    """The operator outside of the cluster, with the rights of its service account and no other."""
    kubeconfig = yaml.safe_load(pathlib.Path(server.kubeconfig).read_text())
    for user in kubeconfig['users']:
        user['user']['as'] = 'system:serviceaccount:gpu-operator:gpu-operator'
    path = tmp_path / (server.name + '.kubeconfig')
    path.write_text(yaml.safe_dump(kubeconfig))
    env = dict(os.environ, KUBECONFIG=str(path), OPERATOR_NAMESPACE='gpu-operator', OPERATOR_IMAGE='localhost/gpu-operator:0.1.0')
    log = tmp_path / (server.name + '.log')
    with open(log, 'wb') as out:
        process = subprocess.Popen([os.environ['GPUOP_PROGRAM'], 'controller', '--leader-elect', '--metrics-bind-address=:0',
                                    '--health-probe-bind-address=:0'], env=env, stdout=out, stderr=out)
    return process, log


@needs_helm
@needs_kubectl
def test_the_operator_does_its_work_within_its_roles(servers, tmp_path):
    helm, kubectl = next(iter(HELMS.values())), next(iter(kubectls().values()))
    for server in servers:
        env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=str(tmp_path / server.name), HELM_CACHE_HOME=str(tmp_path / 'cache'))

        def call(*args, program=kubectl):
            done = subprocess.run([program, *args], env=env, capture_output=True, text=True, timeout=240)
            assert done.returncode == 0, '%s: %s\n%s%s' % (server.name, args, done.stdout, done.stderr)
            return done.stdout

        def wait_for_daemonsets(*wanted, gone=()):
            def there():
                """the DaemonSets are as wanted and the policy is ready"""
                names = call('-n', 'gpu-operator', 'get', 'ds', '-o', 'name')
                state = call('get', 'clusterpolicy', 'cluster-policy', '-o', 'jsonpath={.status.state}')
                return state == 'ready' and all(w in names for w in wanted) and not any(g in names for g in gone)
            wait(there, 180)
        call('install', 'gpu-operator', str(CHART), '-n', 'gpu-operator', '--create-namespace', '-f', str(VALUES / 'default.yaml'), program=helm)
        for node in call('get', 'nodes', '-o', 'name').split():
            call('label', '--overwrite', node, *('%s=%s' % pair for pair in GPU_NODE.items()))
        process, log = controller(server, tmp_path)
        try:
            wait_for_daemonsets('nvidia-driver-daemonset', 'nvidia-device-plugin-daemonset', 'gpu-feature-discovery')
            call('patch', 'clusterpolicy', 'cluster-policy', '--type=merge', '-p', json.dumps({'spec': ALL_ON}))
            wait_for_daemonsets('nvidia-dcgm', 'nvidia-node-status-exporter', 'nvidia-sandbox-validator', 'nvidia-vfio-manager')
            call('patch', 'clusterpolicy', 'cluster-policy', '--type=merge', '-p', json.dumps({'spec': SOME_OFF}))
            wait_for_daemonsets('nvidia-driver-daemonset', gone=('gpu-feature-discovery', 'nvidia-sandbox-validator', 'nvidia-vfio-manager'))
            cleaned = call('cleanup', '--namespace', 'gpu-operator', '--selector', 'app.kubernetes.io/instance=gpu-operator', program=os.environ['GPUOP_PROGRAM'])
            assert cleaned.endswith('operands and labels are gone\n'), cleaned
            labels = call('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.labels}')
            assert 'nvidia.com' not in labels, labels
        finally:
            process.terminate()
            assert process.wait(timeout=60) == 0, log.read_text()
        denied = [line for line in log.read_text().splitlines() if 'forbidden' in line]
        assert not denied, '\n'.join(denied[:20])
        call('uninstall', 'gpu-operator', '-n', 'gpu-operator', '--wait', '--timeout', '180s', program=helm)

        def gone():
            """nothing of the operands is left"""
            return not call('-n', 'gpu-operator', 'get', 'ds,svc,cm,role,rolebinding', '-o', 'name', '-l', 'nvidia.com/gpu-operator.state')
        wait(gone, 180)
        for node in call('get', 'nodes', '-o', 'name').split():
            call('label', node, *('%s-' % key for key in GPU_NODE))
        call('delete', 'namespace', 'gpu-operator', '--timeout=60s')
        call('delete', 'crd', *(p.stem for p in (CHART / 'crds').glob('*.yaml')))
