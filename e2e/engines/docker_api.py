"""The Docker Engine API over a unix socket, as far as these tests need it: of any version that the daemon speaks."""
import http.client
import io
import json
import socket
import tarfile
import urllib.parse


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('docker', timeout=120)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Docker:
    def __init__(self, path):
        self.path = str(path)

    def call(self, method, target, body=None, kind='application/json'):
        """Status and body of the answer, the body as what it says where it is JSON."""
        connection = Connection(self.path)
        try:
            connection.request(method, target, json.dumps(body) if isinstance(body, dict) else body, {'Content-Type': kind})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if answer.headers.get_content_type() == 'application/json' and text else text
        finally:
            connection.close()

    def answers(self):
        """dockerd answers"""
        try:
            return self.call('GET', '/_ping')[0] == 200
        except OSError:
            return False

    def info(self):
        return self.call('GET', '/info')[1]

    def load(self, name, files):
        """Makes an image of these files (path in the image to path here)."""
        memory = io.BytesIO()
        with tarfile.open(fileobj=memory, mode='w') as tar:
            for path, source in files.items():
                info = tar.gettarinfo(source, path.lstrip('/'))
                info.mode = 0o755
                with open(source, 'rb') as file:
                    tar.addfile(info, file)
        repository, tag = name.split(':')
        status, said = self.call('POST', '/images/create?' + urllib.parse.urlencode({'fromSrc': '-', 'repo': repository, 'tag': tag}),
                                 memory.getvalue(), 'application/x-tar')
        assert status == 200 and b'error' not in (said if isinstance(said, bytes) else json.dumps(said).encode()), said

    def run(self, image, command, runtime='', env=(), cdi=()):
        """Runs a shell's command in a container to its end: exit status and output; or None and what the daemon said."""
        host = {'NetworkMode': 'host', 'Runtime': runtime, 'LogConfig': {'Type': 'json-file'}}
        if cdi:
            host['DeviceRequests'] = [{'Driver': 'cdi', 'DeviceIDs': list(cdi)}]
        status, made = self.call('POST', '/containers/create', {'Image': image, 'Cmd': ['/bin/busybox', 'sh', '-c', command], 'Tty': True,
                                                                'Env': list(env), 'HostConfig': host})
        if status != 201:
            return None, made['message']
        path = '/containers/' + made['Id']
        try:
            status, said = self.call('POST', path + '/start')
            if status != 204:
                return None, said['message']
            code = self.call('POST', path + '/wait')[1]['StatusCode']
            return code, self.call('GET', path + '/logs?stdout=1&stderr=1')[1].decode().replace('\r\n', '\n')
        finally:
            self.call('DELETE', path + '?force=1')
