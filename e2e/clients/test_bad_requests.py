"""Bad input to the server (`gpu-operator sim`), as one list: whatever comes, it says clearly what is wrong, lives on, and stays small."""
import base64
import contextlib
import json
import re
import socket
import struct

import pytest

from bad_input import CONFIGMAPS, JSON, SERVER_LIMIT_MB, Sim, answer, flood, head, peak_mb, until


@pytest.fixture(scope='module')
def sim(tmp_path_factory):
    server = Sim(tmp_path_factory.mktemp('bad-input'))
    yield server
    assert server.process.poll() is None, server.log.read_text()
    assert server.end() == 0


@pytest.fixture(scope='module')
def tls_sim(tmp_path_factory):
    server = Sim(tmp_path_factory.mktemp('bad-input-tls'), '--tls')
    yield server
    assert server.end() == 0


def post(body, content_type='application/json', path=CONFIGMAPS, method='POST'):
    return lambda sim: sim.call(method, path, body, {'Content-Type': content_type})


def gigabyte_by_length(sim):
    with sim.socket() as s:
        s.sendall(head('POST', CONFIGMAPS, dict(JSON, **{'Content-Length': 1 << 30})))
        flood(s, b'x' * (1 << 20), 64 << 20)
        return answer(s)


def gigabyte_in_chunks(sim):
    with sim.socket() as s:
        s.sendall(head('POST', CONFIGMAPS, dict(JSON, **{'Transfer-Encoding': 'chunked'})))
        # It is refused at once, but read and dropped for two more seconds, so that the answer is not lost.
        sent = flood(s, b'100000\r\n' + b'x' * (1 << 20) + b'\r\n', 1 << 35)
        assert sent < 1 << 35, 'it was never cut off'
        return answer(s)


def half_closed(sim):
    with sim.socket() as s:
        s.sendall(head('GET', '/version', {}))
        s.shutdown(socket.SHUT_WR)
        return answer(s)


def half_a_request(sim):
    with sim.socket() as s:
        s.sendall(head('POST', CONFIGMAPS, dict(JSON, **{'Content-Length': 100})) + b'{"metadata"')
        s.shutdown(socket.SHUT_WR)
        return answer(s)


def reset_in_the_middle(sim):
    for sent in (b'', b'POST ', head('POST', CONFIGMAPS, dict(JSON, **{'Content-Length': 100})) + b'{'):
        s = sim.socket()
        s.sendall(sent or b'G')
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        s.close()
    return sim.call('GET', '/version')


def raw(bytes_):
    def send(sim):
        with sim.socket() as s:
            with contextlib.suppress(OSError):
                s.sendall(bytes_)
            return answer(s)
    return send


def many_idle(sim):
    with contextlib.ExitStack() as open_:
        for _ in range(500):
            open_.enter_context(socket.create_connection(('127.0.0.1', sim.port)))
        return sim.call('GET', '/version')


def patch_bomb(sim):
    """Each copy doubles the object: thirty of them would be a gigabyte."""
    sim.call('POST', CONFIGMAPS, b'{"metadata":{"name":"bomb"},"data":{"a":"%s"}}' % (b'x' * 1000))
    ops = [{'op': 'copy', 'from': '/data', 'path': '/data/d%d' % i} for i in range(30)]
    try:
        return sim.call('PATCH', CONFIGMAPS + '/bomb', json.dumps(ops).encode(), {'Content-Type': 'application/json-patch+json'})
    finally:
        sim.call('DELETE', CONFIGMAPS + '/bomb')


def unread_watch(sim):
    """A watch whose client reads nothing while 200 MB of changes pass by."""
    with sim.socket() as s:
        s.sendall(head('GET', CONFIGMAPS + '?watch=true', {}))
        until(lambda: s.recv(12))
        for i in range(200):
            status, text = sim.call('PUT' if i else 'POST', CONFIGMAPS + ('/large' if i else ''),
                                    json.dumps({'metadata': {'name': 'large'}, 'data': {'k': chr(65 + i % 26) * 1000000}}).encode())
            assert status in (200, 201), text
        return sim.call('DELETE', CONFIGMAPS + '/large')


def bearer(token):
    return lambda sim: sim.call('GET', CONFIGMAPS, headers={'Authorization': 'Bearer ' + token})


def expired_token():
    part = lambda o: base64.urlsafe_b64encode(json.dumps(o).encode()).rstrip(b'=').decode()
    return '%s.%s.%s' % (part({'alg': 'HS256'}), part({'sub': 'system:serviceaccount:default:default', 'exp': 1}), part({}))


#: What comes in, and the status and words that go out.
TO_THE_SERVER = {
    'a gigabyte by its length': (gigabyte_by_length, 413, 'too large'),
    'a gigabyte in chunks': (gigabyte_in_chunks, 413, 'too large'),
    'JSON nested too deep': (post(b'{"data":' + b'[' * 200000), 400, 'nest|deep'),
    'objects nested too deep': (post(b'{"a":' * 100000), 400, 'nest|deep'),
    'JSON that breaks off': (post(b'{"metadata":{"name":'), 400, 'line 1, column|unexpected end'),
    'JSON that is no object': (post(b'[1,2]'), 400, 'cannot'),
    'text that is not UTF-8': (post(b'{"metadata":{"name":"\xff\xfe"}}'), 400, 'UTF-8|invalid|unexpected'),
    'an empty body': (post(b''), 400, ''),
    'YAML that breaks off': (post(b'metadata: {name: [', 'application/yaml'), 400, 'yaml'),
    'YAML aliases that multiply': (post(b'a: &a [x,x,x,x,x,x,x,x,x]\n' + b''.join(b'%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n' % ((c + 1,) * 2 + (c,) * 9) for c in range(97, 117)), 'application/yaml'), 413, 'excessive aliasing'),
    'YAML nested too deep': (post(b'a: ' + b'[' * 100000, 'application/yaml'), 400, ''),
    'protobuf that is none': (post(b'k8s\x00' + b'\xff' * 1000, 'application/vnd.kubernetes.protobuf'), 400, ''),
    'an unknown content type': (post(b'{}', 'text/nonsense'), 415, 'media type'),
    'a patch that doubles': (patch_bomb, 422, 'copy|size|large|invalid'),
    'a patch of too many steps': (post(json.dumps([{'op': 'test', 'path': '/kind', 'value': 'x'}] * 20000).encode(), 'application/json-patch+json', CONFIGMAPS + '/kube-root-ca.crt', 'PATCH'), None, 'operations|not found'),
    'a header of a megabyte': (raw(b'GET / HTTP/1.1\r\nHost: x\r\nX: ' + b'y' * (1 << 20) + b'\r\n\r\n'), 431, ''),
    'what is no HTTP': (raw(b'\x16\x03\x01 hello\r\n\r\n'), 400, ''),
    'a length that lies': (raw(b'POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n'), 400, ''),
    'two lengths': (raw(b'POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'), 400, ''),
    'a path with a way out': (lambda sim: sim.call('GET', '/api/v1/namespaces/../../../etc/passwd'), 404, ''),
    'a broken percent sign': (lambda sim: sim.call('GET', '/api/v1/namespaces/%zz'), None, ''),
    'a selector that breaks off': (lambda sim: sim.call('GET', CONFIGMAPS + '?labelSelector=a%20in%20('), 400, 'selector|parse'),
    'a continue token of nobody': (lambda sim: sim.call('GET', CONFIGMAPS + '?limit=1&continue=AAAA'), 400, 'continue'),
    'a token of nobody': (bearer('abc'), 401, 'Unauthorized'),
    'an expired token': (bearer(expired_token()), 401, 'Unauthorized'),
    'a half-closed socket': (half_closed, 200, 'gitVersion'),
    'half a request': (half_a_request, None, ''),
    'resets in the middle': (reset_in_the_middle, 200, 'gitVersion'),
    'five hundred idle connections': (many_idle, 200, 'gitVersion'),
    'a watch that nobody reads': (unread_watch, 200, ''),
}


@pytest.mark.parametrize('what', TO_THE_SERVER)
def test_the_server_takes(sim, what):
    send, status, words = TO_THE_SERVER[what]
    got, text = send(sim)
    if status is not None:
        assert got == status, text
        assert re.search(words, text, re.IGNORECASE), text
    assert got < 500 or got == 504, text
    assert sim.process.poll() is None, sim.log.read_text()
    assert sim.call('GET', '/readyz') == (200, 'ok')
    assert peak_mb(sim.process.pid) < SERVER_LIMIT_MB


def test_plain_words_on_a_tls_port(tls_sim):
    with socket.create_connection(('127.0.0.1', tls_sim.port), timeout=10) as s:
        s.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
        answer(s)
    with socket.create_connection(('127.0.0.1', tls_sim.port), timeout=10) as s:
        s.sendall(b'\x16\x03\x01\x40\x00' + b'\x01' * 300)
        s.shutdown(socket.SHUT_WR)
        answer(s)
    assert tls_sim.call('GET', '/readyz')[0] == 200
    status, text = tls_sim.call('GET', CONFIGMAPS)
    assert status == 403 and 'system:anonymous' in text
