"""Our verdict on CDI specs, and that of the library by which containerd reads them."""
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ['GPUOP_PROGRAM']


@pytest.fixture(scope='module')
def reader():
    path = pathlib.Path(os.environ.get('GPUOP_ENGINES') or '/nowhere') / 'cdi-reader'
    if not path.exists():
        pytest.skip('Go has built no cdi-reader')
    return path


def verdict(reader, path):
    done = subprocess.run([reader, path], capture_output=True, text=True, check=True)
    return json.loads(done.stdout).get('error')


def test_the_corpus_says_what_the_library_says(reader, tmp_path):
    corpus = json.loads((ROOT / 'testdata/cdi/specs.json').read_text())
    assert len(corpus) >= 80
    wrong = []
    for i, entry in enumerate(corpus):
        path = tmp_path / ('%d.yaml' % i)
        path.write_text(entry['text'])
        error = verdict(reader, path)
        if (error is None) != entry.get('reader', entry['accepted']):
            wrong.append((entry['name'], error))
    assert not wrong


@pytest.mark.parametrize('machine', ['dgx-a100', 'gb10', 'mixed'])
def test_the_library_reads_what_we_generate(reader, tmp_path, machine):
    made = subprocess.run([PROGRAM, 'machine', 'run', machine, '--', PROGRAM, 'nvidia-ctk', 'cdi', 'generate'], capture_output=True, text=True, check=True)
    path = tmp_path / 'nvidia.yaml'
    path.write_text(made.stdout)
    assert verdict(reader, path) is None
