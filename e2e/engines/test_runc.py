"""Hooks and shim under the real runc."""
import json
import os
import resource
import subprocess

import pytest
from conftest import SHIM, mounts

GPU = '195:0'  # no driver stands behind it here: ENXIO where it is allowed, EPERM where it is not


@pytest.fixture
def node(tmp_path):
    path = tmp_path / 'nvidia0'
    os.mknod(path, 0o20666, os.makedev(195, 0))
    return path


@pytest.fixture
def config(tmp_path, node):
    """A runtime configuration with one device in a spec folder of its own."""
    cdi = tmp_path / 'cdi'
    cdi.mkdir()
    (cdi / 'gpu.yaml').write_text(f'''cdiVersion: 0.5.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes: [{{path: /dev/nvidia0, hostPath: {node}}}]
containerEdits:
  env: [GIVEN=yes]
''')
    path = tmp_path / 'config.toml'
    path.write_text(f'[nvidia-container-runtime]\nmode = "cdi"\n[nvidia-container-runtime.modes.cdi]\nspec-dirs = ["{cdi}"]\n')
    return dict(os.environ, NVIDIA_CTK_CONFIG_FILE_PATH=str(path))


def test_libraries_are_found_and_nothing_of_the_image_ran(bundle):
    owned = bundle.path / 'owned'
    bundle.spec['process']['env'].append('LD_PRELOAD=/proc/self/cwd/evil.so')
    bundle.hook('create-symlinks', '--link', 'libz.so.1::/usr/lib/deep/libz.so')
    bundle.hook('update-ldcache', '--folder', '/opt/nv')
    bundle.hook('disable-device-node-modification')
    bundle.hook('update-application-profile')
    bundle.hook('a-hook-of-the-future', '--flag')
    before = mounts()
    out = bundle.run('/bin/ldconfig -p; /bin/busybox readlink /usr/lib/deep/libz.so').stdout
    assert '/opt/nv/libz.so.1' in out and out.strip().endswith('libz.so.1')
    assert mounts() == before and not owned.exists()


@pytest.mark.parametrize('link,target', [
    ('etc/ld.so.conf.d', '../../../outside'), ('etc/ld.so.cache', '../../../outside/file'), ('etc/ld.so.conf', '/../../outside/file'),
    ('usr', '../../outside'), ('etc', '../../outside'), ('opt/nv/x', '/proc/1/root')])
def test_links_of_a_hostile_image_lead_nowhere(bundle, tmp_path, link, target):
    outside = tmp_path / 'outside'
    outside.mkdir()
    (outside / 'file').write_text('host')
    path = bundle.root / link
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    os.symlink(target, path)
    bundle.hook('create-symlinks', '--link', 'a::/usr/lib/b')
    bundle.hook('update-ldcache', '--folder', '/opt/nv')
    bundle.run('true', check=False)
    assert (outside / 'file').read_text() == 'host' and [p.name for p in outside.iterdir()] == ['file']


def test_the_shim_gives_a_device_and_no_other(bundle, config):
    bundle.spec['process']['env'].append('NVIDIA_VISIBLE_DEVICES=0')
    bundle.spec['process']['capabilities'] = {}
    out = bundle.run('echo $GIVEN; cat < /dev/nvidia0; mknod /dev/nvidia1 c 195 1; cat < /dev/nvidia1', runtime=SHIM, env=config).stdout
    assert out.startswith('yes\n') and 'No such device or address' in out, out
    assert 'not permitted' in out


def test_a_container_that_asks_for_nothing_is_left_alone(bundle, config):
    bundle.run('true', runtime=SHIM, env=config)
    before = json.loads((bundle.path / 'config.json').read_text())
    assert before == bundle.spec


def test_what_does_not_resolve_stops_the_container_and_says_why(bundle, config):
    bundle.spec['process']['env'].append('NVIDIA_VISIBLE_DEVICES=7')
    done = bundle.run('true', runtime=SHIM, env=config, check=False)
    assert done.returncode == 1 and 'unresolvable CDI devices nvidia.com/gpu=7' in done.stdout


def test_large_numbers_and_unknown_members_survive(bundle, config):
    bundle.spec['process']['env'].append('NVIDIA_VISIBLE_DEVICES=0')
    bundle.spec['annotations'] = {'future': 'kept'}
    bundle.spec['linux']['resources']['unknownYet'] = {'limit': 2**64 - 1}
    bundle.run('true', runtime=SHIM, env=config)
    after = json.loads((bundle.path / 'config.json').read_text())
    assert after['linux']['resources']['unknownYet'] == {'limit': 2**64 - 1} and after['annotations'] == {'future': 'kept'}


def test_the_shim_costs_little(config):
    def cost(program):  # of CPU, which other programs on the machine do not change much
        def spent():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime
        begin = spent()
        for _ in range(20):
            subprocess.run([program, 'state', 'no-such'], capture_output=True, env=config)
        return (spent() - begin) / 20 * 1000
    alone, shim = cost('runc'), cost(str(SHIM))
    print(f'runc {alone:.1f} ms, with the shim {shim:.1f} ms')
    assert shim - alone < 5  # the promise is 2 ms on a quiet machine
