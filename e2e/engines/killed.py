"""Ends a program, by SIGKILL, before a chosen system call of its first thread (ptrace(2), Linux 5.3 or newer).

Its other threads and the processes that it starts are not traced: what it has set to watch over it lives on."""
import ctypes
import os
import signal
import subprocess

TRACEME, SETOPTIONS, SYSCALL, SYSCALL_INFO = 0, 0x4200, 24, 0x420e
KEEP_APART, DIE_WITH_US = 1, 0x100000  # PTRACE_O_TRACESYSGOOD, PTRACE_O_EXITKILL
AT_ENTRY = 1
CLONE3, CLONE_VFORK = 435, 0x4000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Entry(ctypes.Structure):
    """struct ptrace_syscall_info, of a call that begins."""
    _fields_ = [('op', ctypes.c_uint8), ('pad', ctypes.c_uint8 * 3), ('arch', ctypes.c_uint32), ('ip', ctypes.c_uint64), ('sp', ctypes.c_uint64),
                ('number', ctypes.c_uint64), ('arguments', ctypes.c_uint64 * 6), ('more', ctypes.c_uint64 * 2)]


def ptrace(request, pid, address=None, data=None):
    if libc.ptrace(request, pid, address, data) < 0:
        raise OSError(ctypes.get_errno(), 'ptrace')


def starts_a_program(pid, call):
    """posix_spawn(3) of the C library: the child borrows the parent's memory until it is another program."""
    if call.number != CLONE3:
        return False
    with open('/proc/%d/mem' % pid, 'rb', buffering=0) as memory:
        memory.seek(call.arguments[0])
        return bool(int.from_bytes(memory.read(8), 'little') & CLONE_VFORK)


def run(argv, log, point=None, **more):
    """Runs argv; from the moment on at which it starts a program, its system calls are counted, and before the one numbered
    `point` (from 1) it is killed. Its process id, whether it was killed, and how many were counted."""
    process = subprocess.Popen([str(a) for a in argv], stdout=log, stderr=log, preexec_fn=lambda: ptrace(TRACEME, 0), **more)
    pid = process.pid
    _, status = os.waitpid(pid, 0)
    ptrace(SETOPTIONS, pid, None, KEEP_APART | DIE_WITH_US)
    counted, counting, passed_on = 0, False, 0
    call = Entry()
    while os.WIFSTOPPED(status):
        if os.WSTOPSIG(status) == signal.SIGTRAP | 0x80:
            ptrace(SYSCALL_INFO, pid, ctypes.sizeof(call), ctypes.addressof(call))
            if call.op == AT_ENTRY:
                counting = counting or starts_a_program(pid, call)
                counted += counting
                if counting and counted == point:
                    os.kill(pid, signal.SIGKILL)
        elif os.WSTOPSIG(status) != signal.SIGTRAP:
            passed_on = os.WSTOPSIG(status)
        if counted != point:
            ptrace(SYSCALL, pid, None, passed_on)
        passed_on = 0
        _, status = os.waitpid(pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return pid, process.returncode == -signal.SIGKILL, counted, process.returncode
