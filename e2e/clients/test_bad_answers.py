"""Bad input to the client (hollow nodes on somebody else's API server), as one list: it says clearly what is wrong, lives on, and
stays small."""
import base64
import contextlib
import json
import re
import signal
import socket
import subprocess
import threading

import pytest

from bad_input import CLIENT_LIMIT_MB, PROGRAM, Sim, flood, peak_mb, until


@pytest.fixture(scope='module')
def tls_sim(tmp_path_factory):
    server = Sim(tmp_path_factory.mktemp('bad-answers-tls'), '--tls')
    yield server
    assert server.end() == 0


class FakeServer:
    """Answers each connection's first request by a function of the socket and the request's first line."""

    def __init__(self, act, context=None):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port, self.act, self.context = self.listener.getsockname()[1], act, context
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                s, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with contextlib.suppress(OSError), s:
            s.settimeout(30)
            if self.context:
                s = self.context.wrap_socket(s, server_side=True)
            request = b''
            while b'\r\n\r\n' not in request:
                got = s.recv(65536)
                if not got:
                    return
                request += got
            self.act(s, request.split(b'\r\n', 1)[0])

    def close(self):
        self.listener.close()


OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
EMPTY_LIST = b'{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}'


def whole(body, status=b'200 OK'):
    return b'HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' % (status, len(body), body)


def always(bytes_):
    return lambda s, line: s.sendall(bytes_)


def to_watches(act):
    """Lists are empty; what a watch gets is the test's."""
    return lambda s, line: act(s) if b'watch=' in line else s.sendall(whole(EMPTY_LIST))


def gigabyte_object(s, line):
    s.sendall(OK + b'Content-Length: %d\r\n\r\n{"items":[{"metadata":{"name":"' % (1 << 30))
    flood(s, b'x' * (1 << 20), 1 << 30)


def gigabyte_in_list_chunks(s, line):
    s.sendall(OK + b'Transfer-Encoding: chunked\r\n\r\n')
    flood(s, b'100000\r\n' + b'x' * (1 << 20) + b'\r\n', 1 << 30)


def gigabyte_event(s):
    s.sendall(OK + b'Transfer-Encoding: chunked\r\n\r\n')
    flood(s, b'100000\r\n' + b'x' * (1 << 20) + b'\r\n', 1 << 30)


def gone_mid_event(s):
    s.sendall(OK + b'Transfer-Encoding: chunked\r\n\r\n10\r\n{"type":"ADDED",\r\n')


def half_closed_watch(s):
    s.sendall(OK + b'\r\n{"type":"BOO')
    s.shutdown(socket.SHUT_WR)
    with contextlib.suppress(OSError):
        s.recv(1)


REFUSED = json.dumps({'kind': 'Status', 'status': 'Failure', 'message': 'Unauthorized', 'reason': 'Unauthorized', 'code': 401}).encode()

#: What a server does, and what the client says of it.
FROM_A_SERVER = {
    'an expired token': (always(whole(REFUSED, b'401 Unauthorized')), 'Unauthorized'),
    'words that are no HTTP': (always(b'SSH-2.0-OpenSSH_9.2\r\n\r\n'), 'not HTTP|HTTP'),
    'a page instead of JSON': (always(whole(b'<html>welcome</html>')), 'line 1|JSON|unexpected'),
    'an end in the middle of the head': (always(b'HTTP/1.1 200'), 'closed the connection'),
    'an end in the middle of a list': (always(OK + b'Content-Length: 1000\r\n\r\n{"items":['), 'in the middle of the answer'),
    'a list that is nested too deep': (always(whole(b'{"metadata":{"resourceVersion":"1"},"items":[{"spec":' + b'[' * 200000 + b']' * 200000 + b'}]}')), 'nest|deep'),
    'a list that breaks off': (always(whole(b'{"items":[{"metadata":{"name":"a"}}')), 'list'),
    'a gigabyte by its length': (gigabyte_object, 'too large|larger than|1073741824'),
    'a gigabyte in chunks': (gigabyte_in_list_chunks, 'too large|larger than'),
    'a gigabyte in one event': (to_watches(gigabyte_event), 'larger than'),
    'an end in the middle of an event': (to_watches(gone_mid_event), 'in the middle'),
    'a half-closed watch': (to_watches(half_closed_watch), 'in the middle of an event'),
    'an event of nonsense': (to_watches(lambda s: s.sendall(OK + b'\r\n{"type":"EXPLODED","object":{}}\n')), 'unknown event type'),
    'an error that is no Status': (always(whole(b'\x00\x01\x02', b'500 Internal Server Error')), '500'),
    'a head without end': (lambda s, line: flood(s, b'HTTP/1.1 200 OK\r\n' + b'X: y\r\n' * 10000, 1 << 28), 'header|head'),
}


def kubeconfig(folder, server, user='{}', cluster=''):
    path = folder / 'kubeconfig'
    path.write_text('''apiVersion: v1
kind: Config
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "%s"%s}}]
users: [{name: u, user: %s}]
''' % (server, cluster, user))
    return path


@contextlib.contextmanager
def joined(folder, path):
    log = folder / 'log'
    with open(log, 'wb') as out:
        process = subprocess.Popen([PROGRAM, 'sim', '--join', str(path), '--nodes', '1'], stdout=out, stderr=out)
    try:
        yield process, log
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def says(path, folder, words):
    """The client says it, ends when asked to, and stays small."""
    with joined(folder, path) as (process, log):
        found = until(lambda: re.search(words, log.read_text(), re.IGNORECASE) or process.poll() is not None, 60)
        assert process.poll() is None, log.read_text()
        assert found and re.search(words, log.read_text(), re.IGNORECASE), log.read_text()
        assert peak_mb(process.pid) < CLIENT_LIMIT_MB
    assert process.returncode == 0, log.read_text()


@pytest.mark.parametrize('what', FROM_A_SERVER)
def test_the_client_takes(tmp_path, what):
    act, words = FROM_A_SERVER[what]
    server = FakeServer(act)
    try:
        says(kubeconfig(tmp_path, 'http://127.0.0.1:%d' % server.port), tmp_path, words)
    finally:
        server.close()


def test_the_client_says_that_nobody_listens(tmp_path):
    says(kubeconfig(tmp_path, 'http://127.0.0.1:1'), tmp_path, 'connect 127.0.0.1:1: connection refused')


def test_the_client_says_that_the_authority_is_wrong(tmp_path, tls_sim):
    other = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', tmp_path / 'k', '-subj', '/CN=other', '-days', '1'],
                           capture_output=True, check=True).stdout
    authority = ', certificate-authority-data: ' + base64.b64encode(other).decode()
    says(kubeconfig(tmp_path, 'https://127.0.0.1:%d' % tls_sim.port, cluster=authority), tmp_path, 'TLS: .*certificate')


def test_the_client_says_which_file_is_missing(tmp_path, tls_sim):
    says(kubeconfig(tmp_path, 'https://127.0.0.1:%d' % tls_sim.port, cluster=', certificate-authority: /nowhere/ca.crt'), tmp_path, '/nowhere/ca.crt')


#: A kubeconfig, and what is said of it before anything is asked of anybody.
KUBECONFIGS = {
    'no YAML': ('a: [b', r'yaml: line 1'),
    'empty': ('', 'holds no configuration'),
    'a context that is not there': ('apiVersion: v1\nkind: Config\ncurrent-context: x\n', 'current-context: no context named "x"'),
    'a list that is a map': ('contexts: {}\n', 'contexts: expected an array, got an object'),
    'a cluster that is not there': ('current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n', r'no cluster named "c"'),
    'a server that is no URL': ('current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "not a url"}}]\nusers: [{name: u, user: {}}]\n', 'server'),
    'nested too deep': ('a: ' + '[' * 100000, 'yaml|nest|deep'),
}


@pytest.mark.parametrize('what', KUBECONFIGS)
def test_the_client_refuses_a_kubeconfig_with(tmp_path, what):
    text, words = KUBECONFIGS[what]
    path = tmp_path / 'kubeconfig'
    path.write_text(text)
    done = subprocess.run([PROGRAM, 'sim', '--join', str(path), '--nodes', '1'], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(words, done.stderr) and str(path) in done.stderr, done.stderr
