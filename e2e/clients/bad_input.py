"""What the tests of bad input share: a server alone, and requests written byte by byte."""
import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import time

PROGRAM = os.environ['GPUOP_PROGRAM']
#: The most that either side may ever have held, whatever it was sent. At rest it is about 25 MB. The client takes answers of
#: 64 MiB, reads two lists at once, and a text is there twice while it grows.
SERVER_LIMIT_MB, CLIENT_LIMIT_MB = 160, 320
CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
JSON = {'Content-Type': 'application/json'}


def peak_mb(pid):
    with open('/proc/%d/status' % pid) as f:
        return int(re.search(r'VmHWM:\s+(\d+)', f.read()).group(1)) // 1024


def until(what, seconds=60.0):
    """Waits for something true and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.02)
    return what()


class Sim:
    def __init__(self, folder, *more):
        self.kubeconfig, self.log = str(folder / 'kubeconfig'), folder / 'log'
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen([PROGRAM, 'sim', '--api-only', '--port', '0', '--kubeconfig', self.kubeconfig, *more], stdout=log, stderr=log)
        address = until(lambda: re.search(r'is at (https?)://127.0.0.1:(\d+)', self.log.read_text()))
        self.tls, self.port = address.group(1) == 'https', int(address.group(2))

    def socket(self, timeout=60):
        s = socket.create_connection(('127.0.0.1', self.port), timeout=timeout)
        if not self.tls:
            return s
        trust_all = ssl.create_default_context()
        trust_all.check_hostname, trust_all.verify_mode = False, ssl.CERT_NONE
        return trust_all.wrap_socket(s)

    def call(self, method, path, body=b'', headers=JSON):
        """One request; the status and the text."""
        with self.socket() as s:
            s.sendall(head(method, path, dict(headers, **{'Content-Length': len(body)})) + body)
            return answer(s)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=60)


def head(method, path, headers):
    lines = ['%s %s HTTP/1.1' % (method, path), 'Host: x', 'Connection: close'] + ['%s: %s' % h for h in headers.items()]
    return ('\r\n'.join(lines) + '\r\n\r\n').encode()


def answer(s):
    raw = b''
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while chunk := s.recv(65536):
            raw += chunk
    first, _, text = raw.partition(b'\r\n\r\n')
    return (int(first.split()[1]) if first.startswith(b'HTTP/1.1 ') else 0), text.decode(errors='replace')


def flood(s, piece, total):
    """Sends until it is all gone or the other side has enough; how much went."""
    sent = 0
    with contextlib.suppress(OSError):
        while sent < total:
            s.sendall(piece)
            sent += len(piece)
    return sent
