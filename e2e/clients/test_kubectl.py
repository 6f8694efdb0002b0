"""kubectl, every version on the machine, must see the same on both servers."""
import concurrent.futures
import os
import shlex
import subprocess
import threading

import pytest

from conftest import kubectls, normalise
from kubectl_cases import CASES

KUBECTLS = kubectls()
pytestmark = pytest.mark.skipif(not KUBECTLS, reason='no kubectl on this machine')

#: Every kubectl runs these; the pinned one runs all, since each costs some seconds on both servers.
EVERY_VERSION = ('basics', 'apply-server-side', 'custom-resources')
PAIRS = [(name, version) for version in KUBECTLS for name in CASES if version in ('pinned', 'path') or name in EVERY_VERSION]
#: These change nodes under the feet of others: they come first, one after the other.
ALONE = ('nodes', 'drain')
#: These wait for what others do.
WAITING = ('rollout status', 'wait', 'drain')
#: These change what a server has only once: one at a time of each name.
ONE_AT_A_TIME = ('custom-resources',)


def arguments(command):
    """Splits a command; a JSON argument after -p stays whole."""
    if ' -p ' in command:
        before, patch = command.split(' -p ', 1)
        return shlex.split(before) + ['-p', patch]
    return command.split(' ')


def run_case(name, version, server, folder):
    """Runs one case and returns its transcript; a command that ends unlike the case says fails the test."""
    kubectl = KUBECTLS[version]
    namespace = 'clients-%s-%s' % (name, version.replace('kubectl.', '').replace('.', '-'))
    editor = folder / 'editor'
    editor.write_text('#!/bin/sh\nsed -i s/green/blue/ "$1"\n')
    editor.chmod(0o755)
    env = dict(os.environ, KUBECONFIG=server.kubeconfig, KUBE_EDITOR=str(editor), KUBECACHEDIR=str(folder / 'cache'), HOME=str(folder))

    def call(args, text=''):
        return subprocess.run([kubectl, *args], env=env, input=text, capture_output=True, text=True, timeout=240)
    assert call(['create', 'namespace', namespace]).returncode == 0
    transcript = []
    try:
        for _ in range(100):  # what runs in it needs its service account
            if call(['get', 'serviceaccount', 'default', '-n', namespace]).returncode == 0:
                break
        for command, text in CASES[name]:
            must_fail = command.startswith('!')
            command = command.lstrip('!').replace('NAMESPACE', namespace)
            limit = ['--timeout=120s'] if command.startswith(WAITING) else []
            done = call([*arguments(command), *limit, '-n', namespace], text or '')
            assert (done.returncode != 0) == must_fail, '%s: kubectl %s: exit %d\n%s%s' % (server.name, command, done.returncode, done.stdout, done.stderr)
            if text is None:  # the words may differ, the outcome may not
                transcript.append('$ kubectl %s\nexit %d\n' % (command, done.returncode))
            else:
                transcript.append('$ kubectl %s\nexit %d\n%s%s' % (command, done.returncode, normalise(done.stdout), normalise(done.stderr)))
    finally:
        call(['delete', 'namespace', namespace, '--wait=false'])
    return transcript


@pytest.fixture(scope='session')
def stories(request, servers, tmp_path_factory):
    """Every selected story on every server, side by side: kubectl waits more than it works."""
    selected = [(p['name'], p['version']) for i in request.session.items if i.fspath.basename == 'test_kubectl.py' for p in [i.callspec.params]]
    selected.sort(key=lambda pair: pair[0] not in ALONE)
    left = {s.name: sum(name in ALONE for name, _ in selected) for s in servers}
    changed = threading.Condition()
    locks = {(s.name, name): threading.Lock() for s in servers for name in ONE_AT_A_TIME + ('alone',)}

    def tell(name, version, server):
        alone = name in ALONE
        if not alone:
            with changed:
                changed.wait_for(lambda: left[server.name] == 0)
        folder = tmp_path_factory.mktemp('%s-%s-%s' % (server.name, name, version))
        try:
            lock = locks.get((server.name, 'alone' if alone else name))
            if not lock:
                return run_case(name, version, server, folder)
            with lock:
                return run_case(name, version, server, folder)
        finally:
            if alone:
                with changed:
                    left[server.name] -= 1
                    changed.notify_all()
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        yield {(name, version, s.name): pool.submit(tell, name, version, s) for name, version in selected for s in servers}


@pytest.mark.parametrize('name,version', PAIRS)
def test_same_on_both(stories, servers, name, version):
    transcripts = [stories[name, version, server.name].result() for server in servers]
    if len(transcripts) == 2:
        for embedded, real in zip(*transcripts):
            assert embedded == real
