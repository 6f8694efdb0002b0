"""Both servers take every object of the golden manifests, to the last field."""
import json
import os
import pathlib
import subprocess

import pytest
import yaml

from conftest import kubectls

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / 'testdata/manifests/golden'
# Kinds of others, which a plain cluster does not serve.
FOREIGN = {'ServiceMonitor', 'PrometheusRule', 'SecurityContextConstraints'}


def objects():
    """Each object once, however many files hold it."""
    seen = {}
    for path in sorted(GOLDEN.glob('*.yaml')):
        for document in yaml.safe_load_all(path.read_text()):
            if document and document['kind'] not in FOREIGN:
                seen.setdefault(json.dumps(document, sort_keys=True), document)
    return list(seen.values())


def test_every_object_is_valid(servers, tmp_path):
    every = objects()
    assert len(every) > 150
    kubectl = next(iter(kubectls().values()))
    for server in servers:
        env = dict(os.environ, KUBECONFIG=server.kubeconfig, HOME=str(tmp_path))

        def call(*args, **more):
            return subprocess.run([kubectl, *args], env=env, capture_output=True, text=True, timeout=300, **more)
        assert call('create', 'namespace', 'gpu-operator').returncode == 0
        text = yaml.safe_dump_all(every, sort_keys=False)
        done = call('apply', '--server-side', '--force-conflicts', '--dry-run=server', '--validate=strict', '-f', '-', input=text)
        assert done.returncode == 0, '%s: %s' % (server.name, done.stderr)
        assert done.stdout.count('serverside-applied') == len(every)
        assert call('delete', 'namespace', 'gpu-operator', '--timeout=60s').returncode == 0


if not kubectls():
    pytestmark = pytest.mark.skip(reason='no kubectl')
