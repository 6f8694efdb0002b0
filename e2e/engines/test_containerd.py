"""The toolkit configures a running containerd: Debian's 1.6, and 2.x where Go has built it."""
import os
import pathlib
import signal
import subprocess
import time

import pytest
from conftest import Engine, need

PROGRAM = os.environ['GPUOP_PROGRAM']
HERE = pathlib.Path(__file__).parent


def engines():
    out = [pytest.param(('containerd', 2), id='debian')]
    built = os.environ.get('GPUOP_ENGINES')
    if built:
        out.append(pytest.param((str(pathlib.Path(built) / 'containerd'), 3), id='containerd2'))
    return out


@pytest.fixture(params=engines())
def engine(request, tmp_path):
    program, version = request.param
    need(program, 'ctr', 'runc')
    one = Engine(program, version, tmp_path)
    yield one
    one.stop()


def toolkit(engine, *flags):
    path = engine.path
    return [PROGRAM, 'nvidia-ctk-installer', '--runtime=containerd', f'--toolkit-install-dir={path}/inst', f'--pid-file={path}/toolkit.pid',
            f'--config={engine.config}', f'--drop-in-config={path}/conf.d/99-nvidia.toml', f'--socket={engine.socket}', '--restart-mode=signal',
            '--set-as-default=false', f'--driver-root={path}', '--create-device-nodes=none', *flags]


def test_set_up_and_back(engine):
    before = engine.config.read_bytes()
    first = engine.starts()
    subprocess.run(toolkit(engine, '--no-daemon'), check=True, timeout=120)
    assert engine.starts() == first + 1
    drop_in = (engine.path / 'conf.d/99-nvidia.toml').read_text()
    assert 'nvidia-container-runtime.cdi' in drop_in and b'# odd' in before
    # Nothing to do: no write, no restart.
    stamp = engine.config.stat().st_mtime_ns
    subprocess.run(toolkit(engine, '--no-daemon'), check=True, timeout=120)
    assert engine.starts() == first + 1 and engine.config.stat().st_mtime_ns == stamp
    # As a daemon: entries that vanish come back; a signal gives all back.
    daemon = subprocess.Popen(toolkit(engine))
    try:
        for _ in range(100):
            if (engine.path / 'toolkit.pid').exists():
                break
            time.sleep(0.1)
        second = subprocess.run(toolkit(engine), capture_output=True, text=True, timeout=120)
        assert second.returncode == 1 and str(engine.path / 'toolkit.pid') in second.stderr, second.stderr
        time.sleep(2)
        (engine.path / 'conf.d/99-nvidia.toml').unlink()
        for _ in range(150):
            if (engine.path / 'conf.d/99-nvidia.toml').exists():
                break
            time.sleep(0.1)
        assert (engine.path / 'conf.d/99-nvidia.toml').read_text() == drop_in
        time.sleep(4)
    finally:
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(120) == 0
    assert engine.config.read_bytes() == before and not (engine.path / 'conf.d/99-nvidia.toml').exists()
    engine.wait()


@pytest.mark.parametrize('request_engine', engines())
def test_an_engine_that_ignores_the_signal_keeps_its_configuration_and_is_named(request_engine, tmp_path):
    """Started by nohup containerd does not end by SIGHUP, and so would never read what was written."""
    program, version = request_engine
    need(program, 'ctr', 'runc')
    engine = Engine(program, version, tmp_path, on_hangup=signal.SIG_IGN)
    try:
        before = engine.config.read_bytes()
        done = subprocess.run(toolkit(engine, '--no-daemon'), capture_output=True, text=True, timeout=120)
        assert done.returncode == 1 and 'ignores SIGHUP' in done.stderr and 'RUNTIME_RESTART_MODE' in done.stderr, done.stderr
        assert engine.config.read_bytes() == before and not (tmp_path / 'conf.d').exists()
        assert engine.starts() == 1
    finally:
        engine.stop()
