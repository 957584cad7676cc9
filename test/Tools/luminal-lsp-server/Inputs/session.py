#!/usr/bin/env python3
# ===- session.py - What an editor says to the language server -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import subprocess
import sys

GOOD = """func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = hlir.add %x, %x : tensor<8xf32>
  %1 = hlir.mul %0, %x : tensor<8xf32>
  %2 = hlir.add %1, %0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
"""
BAD = """func.func @g(%x: tensor<8x4xf32>) -> tensor<4xf32> {
  %0 = hlir.reduce_sum %x : tensor<8x4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

server = subprocess.Popen(["luminal-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
count = 0


def send(method, params, is_request):
    global count
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if is_request:
        count += 1
        message["id"] = count
    body = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    server.stdin.flush()


def receive():
    length = 0
    while line := server.stdout.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if not length:
        sys.exit("the server said nothing")
    return json.loads(server.stdout.read(length))


def request(method, **params):
    send(method, params, True)
    while "id" not in (answer := receive()):
        pass
    assert "error" not in answer, answer
    return answer["result"]


def diagnostics(method, name, **params):
    send(method, params, False)
    while (answer := receive()).get("method") != "textDocument/publishDiagnostics":
        pass
    found = answer["params"]["diagnostics"]
    print(f"{name}: {len(found)} diagnostics")
    for diagnostic in found:
        print(f"line {diagnostic['range']['start']['line']}: {diagnostic['message']}")


def open_file(name, text):
    diagnostics("textDocument/didOpen", name,
                textDocument={"uri": f"test:///{name}", "languageId": "mlir", "version": 1, "text": text})


welcome = request("initialize", processId=None, capabilities={}, rootUri=None)
print("server:", welcome["serverInfo"]["name"], welcome["serverInfo"]["version"])
capabilities = welcome["capabilities"]
providers = ["definitionProvider", "hoverProvider", "referencesProvider"]
print("capabilities:", ", ".join(key for key in providers if capabilities.get(key)))
send("initialized", {}, False)
open_file("good.mlir", GOOD)
good = {"uri": "test:///good.mlir"}
hover = request("textDocument/hover", textDocument=good, position={"line": 2, "character": 10})
print("hover:", hover["contents"]["value"])
at = {"line": 2, "character": GOOD.splitlines()[2].index("%0") + 1}
(definition,) = request("textDocument/definition", textDocument=good, position=at)
print("definition: line", definition["range"]["start"]["line"])
references = request("textDocument/references", textDocument=good, position=at, context={"includeDeclaration": True})
print("references: lines", ", ".join(str(line) for line in sorted({r["range"]["start"]["line"] for r in references})))
open_file("bad.mlir", BAD)
diagnostics("textDocument/didChange", "bad.mlir", textDocument={"uri": "test:///bad.mlir", "version": 2},
            contentChanges=[{"text": BAD.replace("-> tensor<4xf32>", "-> tensor<8xf32>").replace(
                "%0 : tensor<4xf32>", "%0 : tensor<8xf32>")}])
request("shutdown")
send("exit", None, False)
server.stdin.close()
print("exit code", server.wait(timeout=30))
