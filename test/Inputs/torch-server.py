# ===- torch-server.py - Scripts that import PyTorch, without its import --------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch-server.py serve SOCKET          imports PyTorch with what exports, once, and runs scripts in children of its own
torch-server.py run SOCKET SCRIPT...   runs a script there, with this process's arguments, folder, environment and streams, and
                                      exits as it did; by itself where nobody serves

The import takes longer than most of these scripts. A child has what an import leaves and nothing of another script.
"""
import os
import signal
import socket
import struct
import sys


def run_script(argv):
    """As `python SCRIPT...` would; the exit code."""
    sys.argv, sys.path[0] = argv, os.path.dirname(os.path.abspath(argv[0]))
    scope = sys.modules["__main__"].__dict__
    scope["__file__"] = argv[0]
    with open(argv[0]) as file:
        code = compile(file.read(), argv[0], "exec")
    try:
        exec(code, scope)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def answer(connection):
    """In a child: runs what the client asks for, and sends the exit code."""
    data, streams, _, _ = socket.recv_fds(connection, 4, 3)
    data = connection.recv(struct.unpack("I", data)[0], socket.MSG_WAITALL)
    texts = data.decode(errors="surrogateescape").split("\0")
    folder, count = texts[0], int(texts[1])
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(text.split("=", 1) for text in texts[2 + count:])
    code = run_script(texts[2:2 + count])
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(struct.pack("i", code))


def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        pass


def serve(path):
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import numpy  # noqa: F401
    # A child has no threads of a pool that the parent made, and as many of its own as every test (lit.cfg.py).
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="2")
    import numpy  # noqa: F401
    import torch.export._trace  # noqa: F401

    sys.path[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../utils/testing")
    import quick_export  # noqa: F401

    assert len(os.listdir("/proc/self/task")) == 1
    signal.signal(signal.SIGCHLD, reap)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path + ".new")
        listener.listen(64)
        os.rename(path + ".new", path)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                try:
                    answer(connection)
                finally:
                    os._exit(0)
            connection.close()


def run(path, argv):
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(path)
    except OSError:
        os.execv(sys.executable, [sys.executable, *argv])
    texts = [os.getcwd(), str(len(argv)), *argv, *(f"{name}={value}" for name, value in os.environ.items())]
    data = "\0".join(texts).encode(errors="surrogateescape")
    socket.send_fds(server, [struct.pack("I", len(data))], [0, 1, 2])
    server.sendall(data)
    code = server.recv(4, socket.MSG_WAITALL)
    return struct.unpack("i", code)[0] if len(code) == 4 else 1


if __name__ == "__main__":
    command, path, *rest = sys.argv[1:]
    sys.exit(serve(path) if command == "serve" else run(path, rest))
