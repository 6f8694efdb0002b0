"""Shares by MPS: mps-control-daemon and the device plugin together on a machine, with a program in the place of NVIDIA's daemon."""
import os

from conftest import PROGRAM, gpu_operator, on

# As NVIDIA's: -d leaves a daemon, and writes its number; other calls take commands.
CONTROL = """#!/bin/sh
pid="$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid"
if [ "$1" = -d ]; then
  : > "$CUDA_MPS_LOG_DIRECTORY/control.log"
  setsid sleep 600 > /dev/null 2>&1 < /dev/null &
  echo $! > "$pid"
  exit 0
fi
while read -r line; do
  case "$line" in
    get_default_active_thread_percentage) echo 25.0 ;;
    quit) kill "$(cat "$pid")" ;;
  esac
done
exit 0
"""

# What stands in capitals comes from the test. `until_plugin` waits for the N-th line of the plugin's with these words.
STORY = """
mkdir -p /mps /var/lib/kubelet/device-plugins
until_plugin() { until [ "$(grep -c "$1" LOG)" -ge "$2" ]; do sleep 0.05; done; echo "$1"; }
start_daemon() { PATH=BIN:$PATH PROGRAM mps-control-daemon --config-file=CONFIG 2>> LOG.mps & daemon=$!; }
nvidias() { cat /mps/nvidia.com/gpu/pipe/nvidia-cuda-mps-control.pid; }

KUBELET_SOCKET= PROGRAM nvidia-device-plugin --config-file=CONFIG --mps-root=/mps 2> LOG & plugin=$!
until_plugin 'has not started' 1
start_daemon
until_plugin 'serving resource=nvidia.com/gpu' 1

kill -9 $daemon; kill -9 "$(nvidias)"
until_plugin 'device is not fit.*has ended' 8
start_daemon
until_plugin 'device is fit again' 8

kill $daemon
until_plugin 'device is not fit.*has not started' 8
start_daemon
until_plugin 'device is fit again' 16

kill -9 "$(nvidias)"
until grep -q 'MPS daemon has ended' LOG.mps; do sleep 0.05; done
until [ "$(grep -c 'MPS daemon runs' LOG.mps)" = 4 ]; do sleep 0.05; done
kill $daemon $plugin
wait $daemon; wait $plugin
echo over
"""


def test_shares_are_offered_as_healthy_only_while_their_daemon_runs(tmp_path):
    folder = str(tmp_path / "machine")
    assert gpu_operator("machine", "create", folder, "dgx-a100").returncode == 0
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "nvidia-cuda-mps-control").write_text(CONTROL)
    (bin_folder / "nvidia-cuda-mps-control").chmod(0o755)
    config = tmp_path / "config.yaml"
    config.write_text("version: v1\nsharing:\n  mps:\n    resources:\n    - {name: nvidia.com/gpu, replicas: 4}\n")
    log = tmp_path / "log"
    story = STORY
    for word, value in (("CONFIG", config), ("PROGRAM", os.path.realpath(PROGRAM)), ("LOG", log), ("BIN", bin_folder)):
        story = story.replace(word, str(value))
    done = on(folder, "sh", "-c", story)
    said = log.read_text()
    assert done.returncode == 0 and done.stdout.endswith("over\n"), done.stdout + done.stderr + said
    assert said.count("serving resource=") == 1, "the resource stayed"
