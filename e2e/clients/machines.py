"""Simulated machines for tests: an embedded cluster whose nodes they are, through kubectl."""
import json
import os
import subprocess

import pytest

from conftest import is_ready, kubectls, start_sim, stop_sim, wait

IMAGES = '''
images:
- name: registry.example.com/arm-only:*
  architectures: [arm64]
  command: [/bin/sh, -c, "echo runs on $(hostname); sleep 600"]
- name: registry.example.com/two:*
  architectures: [arm64, s390x]
'''


class Machines:
    """`gpu-operator sim` with these arguments; `folder` gets its files. Without a kubectl the test is left out."""

    def __init__(self, folder, *arguments):
        if not kubectls():
            pytest.skip('no kubectl from 1.27 on')
        self.kubectl = kubectls().get('pinned') or list(kubectls().values())[-1]  # exec needs 1.31
        self.folder = folder
        (folder / 'images.yaml').write_text(IMAGES)
        self.process, self.kubeconfig, self.log = start_sim(folder, '--images', str(folder / 'images.yaml'), *arguments)

    def wait_ready(self, *nodes):
        def ready():
            """the machines are Ready, and Pods may be made"""
            return all(is_ready(self.get('node', n)) for n in nodes) and self.get('serviceaccount', 'default')
        wait(ready)

    def run(self, *arguments, ok=True, stdin=None):
        done = subprocess.run([self.kubectl, '--kubeconfig', self.kubeconfig, *arguments], input=stdin, capture_output=True, text=True, timeout=60)
        assert not ok or done.returncode == 0, done.stderr
        return done

    def get(self, kind, name):
        done = self.run('get', kind, name, '-o', 'json', ok=False)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def apply(self, *things):
        self.run('apply', '-f', '-', stdin=json.dumps({'apiVersion': 'v1', 'kind': 'List', 'items': list(things)}))

    def wait(self, pod, what, seconds=120):
        def reached():
            return what(self.get('pod', pod).get('status', {}))
        reached.__doc__ = 'pod %s: %s' % (pod, json.dumps(self.get('pod', pod).get('status', {})))
        wait(reached, seconds)

    def fault(self, *words):
        subprocess.run([os.environ['GPUOP_PROGRAM'], 'sim', 'fault', *words, '--kubeconfig', self.kubeconfig], check=True, timeout=30)

    def stop(self):
        stop_sim(self.process, self.log)


def pod(name, script, node='dgx', **spec):
    container = {'name': 'main', 'image': spec.pop('image', 'shell')}
    if script is not None:
        container['command'] = ['/bin/sh', '-c', script]
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': name, 'namespace': 'default'},
            'spec': {'nodeSelector': {'kubernetes.io/hostname': node}, 'terminationGracePeriodSeconds': 1, 'containers': [container], **spec}}


def running(status):
    return status.get('phase') == 'Running'
