#!/usr/bin/env python3
"""An image as an OCI archive, from plain files, without a daemon.

usage: image.py OUT.tar NAME:TAG ENTRYPOINT-AS-JSON PATH-IN-IMAGE=FILE ..."""
import hashlib
import io
import json
import sys
import tarfile

out, name, entrypoint, *files = sys.argv[1:]
blobs = {}


def blob(content, kind):
    digest = hashlib.sha256(content).hexdigest()
    blobs['blobs/sha256/' + digest] = content
    return {'mediaType': 'application/vnd.oci.image.%s' % kind, 'digest': 'sha256:' + digest, 'size': len(content)}


def archive(members):
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode='w') as tar:
        for path, content, mode in members:
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(content), mode
            tar.addfile(info, io.BytesIO(content))
    return memory.getvalue()


def read(path):
    with open(path, 'rb') as f:
        return f.read()


layer = blob(archive((path.lstrip('/'), read(source), 0o755) for path, source in (f.split('=', 1) for f in files)), 'layer.v1.tar')
config = {'architecture': 'amd64', 'os': 'linux', 'rootfs': {'type': 'layers', 'diff_ids': [layer['digest']]},
          'config': {'Entrypoint': json.loads(entrypoint), 'Env': ['PATH=/usr/sbin:/usr/bin:/sbin:/bin']}}
manifest = blob(json.dumps({'schemaVersion': 2, 'mediaType': 'application/vnd.oci.image.manifest.v1+json',
                            'config': blob(json.dumps(config).encode(), 'config.v1+json'), 'layers': [layer]}).encode(), 'manifest.v1+json')
manifest['annotations'] = {'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name.rsplit(':', 1)[1]}
index = json.dumps({'schemaVersion': 2, 'manifests': [manifest]}).encode()
whole = archive([('oci-layout', b'{"imageLayoutVersion":"1.0.0"}', 0o644), ('index.json', index, 0o644)] + [(p, c, 0o644) for p, c in blobs.items()])
with open(out, 'wb') as f:
    f.write(whole)
