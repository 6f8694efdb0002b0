"""What measurements of a process and of an embedded cluster have in common."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request


def is_ready(thing):
    """A Node or a Pod is Ready."""
    return any(c['type'] == 'Ready' and c['status'] == 'True' for c in thing.get('status', {}).get('conditions', []))


def memory(pid, field):
    """MiB of a field of /proc/PID/status: VmRSS, VmHWM, RssAnon."""
    status = pathlib.Path('/proc/%d/status' % pid).read_text()
    return int(re.search(field + r':\s+(\d+)', status).group(1)) / 1024


def cpu(pid):
    """CPU seconds since the process began."""
    ticks = pathlib.Path('/proc/%d/stat' % pid).read_text().rsplit(')', 1)[1].split()
    return (int(ticks[11]) + int(ticks[12])) / os.sysconf('SC_CLK_TCK')


def call(server, method, path, body=None, content='application/json'):
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(server + path, method=method, data=data, headers={'Content-Type': content})
    return urllib.request.urlopen(request, timeout=3600)


def follow(server, path, number, wanted):
    """Watches objects until the numbers that they show sum up; the seconds that it took, which do not depend on how often somebody looks."""
    begin, have = time.monotonic(), {}
    while True:  # a watch that cannot keep up is cut: begin again
        with call(server, 'GET', path + '?watch=true&timeoutSeconds=7200') as events:
            for line in events:
                event = json.loads(line)
                if event['type'] == 'ERROR':
                    break
                have[event['object']['metadata']['name']] = number(event['object'])
                if sum(have.values()) >= wanted:
                    return time.monotonic() - begin


class Sim:
    """An embedded cluster over plain HTTP, that ends with who measures it."""

    def __init__(self, program, folder, *arguments):
        self.begin, self.log, self.kubeconfig = time.monotonic(), pathlib.Path(folder) / 'log', str(pathlib.Path(folder) / 'kubeconfig')
        with open(self.log, 'w') as log:
            self.process = subprocess.Popen(['setpriv', '--pdeathsig', 'INT', program, 'sim', '--port', '0', '--kubeconfig', self.kubeconfig, *arguments],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        self.pid = self.process.pid
        self.server = re.search(r'http://[0-9.:]+', self.process.stdout.readline()).group(0)

    def call(self, method, path, body=None, content='application/json'):
        return call(self.server, method, path, body, content)

    def follow(self, path, number, wanted):
        return follow(self.server, path, number, wanted)

    def seconds(self):
        return time.monotonic() - self.begin

    def end(self):
        """How it ended, and what it had logged."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=600)
        lines = self.log.read_text().splitlines()
        return 'ended with %d; %d lines of log' % (code, len(lines)), lines
