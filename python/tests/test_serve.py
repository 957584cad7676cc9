# ===- test_serve.py - A checkpoint by HTTP ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import concurrent.futures
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import conftest
import pytest
import tiny_checkpoint
import uvicorn
from luminal import llm
from luminal.__main__ import main
from luminal.llm import _server

PROMPT = "The river turns the wheel"


class Client:
    """Runs a server in a thread of this process, and sends requests to it."""

    def __init__(self, model, **options):
        self.server = uvicorn.Server(uvicorn.Config(_server.make_app(model, **options), port=0, log_level="error"))
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def close(self):
        self.server.should_exit = True
        self.thread.join()

    def ask(self, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body)
        connection.request("GET" if body is None else "POST", path, data)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def complete(self, **body):
        status, data = self.ask("/v1/completions", {"prompt": PROMPT, "temperature": 0, **body})
        assert status == 200, data
        return json.loads(data)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    tiny_checkpoint.write(folder)
    return llm.LLM(folder, chunk=8)


@pytest.fixture(scope="module")
def client(model):
    made = Client(model)
    yield made
    made.close()


def test_whole_texts(client, model):
    done = client.complete(max_tokens=20)
    want = model.generate(PROMPT, max_tokens=20)
    assert done["choices"] == [{"index": 0, "text": want.text, "logprobs": None, "finish_reason": "length"}]
    assert (done["object"], done["model"]) == ("text_completion", model.name)
    assert done["usage"] == {"prompt_tokens": want.stats.prompt_tokens, "completion_tokens": 20,
                             "total_tokens": want.stats.prompt_tokens + 20}
    assert client.complete()["usage"]["completion_tokens"] == 16
    assert client.complete(max_tokens=20, stop=want.text[5:8])["choices"][0]["text"] == want.text[:want.text.find(want.text[5:8])]
    drawn = [client.complete(temperature=1.0, seed=3, max_tokens=20)["choices"][0]["text"] for _ in range(2)]
    assert drawn[0] == drawn[1] != want.text


def test_chats(client, model):
    messages = [{"role": "user", "content": PROMPT}]
    status, data = client.ask("/v1/chat/completions", {"messages": messages, "temperature": 0, "max_tokens": 9})
    message = json.loads(data)["choices"][0]["message"]
    assert status == 200 and message == {"role": "assistant", "content": model.generate(messages, max_tokens=9).text}


def test_what_clients_send_though_they_do_not_want_it(client):
    plain = [{"role": "user", "content": PROMPT}]
    parts = [{"role": "user", "content": [{"type": "text", "text": PROMPT[:5]}, {"type": "text", "text": PROMPT[5:]}]}]
    more = {"presence_penalty": 0, "frequency_penalty": 0.0, "logit_bias": None, "tools": [], "response_format": {"type": "text"}, "user": "me"}
    texts = set()
    for body in ({"messages": plain}, {"messages": parts, **more}):
        status, data = client.ask("/v1/chat/completions", {"temperature": 0, "max_tokens": 9, **body})
        assert status == 200, data
        texts.add(json.loads(data)["choices"][0]["message"]["content"])
    assert len(texts) == 1


def test_texts_end_with_the_server(model):
    is_stopped = threading.Event()
    stopping = Client(model, is_stopped=is_stopped.is_set)
    try:
        connection = http.client.HTTPConnection("127.0.0.1", stopping.port, timeout=60)
        connection.request("POST", "/v1/completions", json.dumps({"prompt": [4, 5], "max_tokens": 250, "stream": True}))
        answer = connection.getresponse()
        answer.read(40)
        is_stopped.set()
        assert "the server was stopped" in answer.read().decode()
        status, data = stopping.ask("/v1/completions", {"prompt": "a"})
        assert status == 503 and "the server was stopped" in json.loads(data)["error"]["message"]
    finally:
        stopping.close()
    assert not model._engine.scheduler.running


def test_parts_of_a_text(client, model):
    for path, body, read in (("/v1/completions", {"prompt": PROMPT}, lambda choice: choice["text"]),
                             ("/v1/chat/completions", {"messages": [{"role": "user", "content": PROMPT}]},
                              lambda choice: choice["delta"]["content"])):
        status, data = client.ask(path, {**body, "temperature": 0, "max_tokens": 20, "stream": True})
        lines = [line.removeprefix("data: ") for line in data.decode().split("\n\n") if line]
        assert status == 200 and lines.pop() == "[DONE]"
        parts = [json.loads(line)["choices"][0] for line in lines]
        given = body.get("prompt") or body["messages"]
        want = model.generate(given, max_tokens=20)
        assert len(parts) > 1 and "".join(map(read, parts)) == want.text
        assert [p["finish_reason"] for p in parts[-2:]] == [None, want.finish_reason]


def test_sixteen_clients_at_once(client, model):
    prompts = [[4 + i, 5, 6 + i] for i in range(16)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        done = list(pool.map(lambda p: client.complete(prompt=p, max_tokens=15)["choices"][0]["text"], prompts))
    assert done == [model.generate(p, max_tokens=15).text for p in prompts]


@pytest.mark.parametrize("path, body, status, message", [
    ("/v1/completions", b"{", 400, "the request is not JSON"), ("/v1/completions", [1], 400, "not a JSON object"),
    ("/v1/completions", {}, 400, "there is no prompt"), ("/v1/completions", {"prompt": ""}, 400, "the prompt is empty"),
    ("/v1/completions", {"prompt": [1, "a"]}, 400, "not a list of one or more tokens"),
    ("/v1/completions", {"prompt": [4] * 300}, 400, "the prompt has 300 tokens: the cache holds 256"),
    ("/v1/completions", {"prompt": "a", "temperature": -1}, 400, "temperature is -1"),
    ("/v1/completions", {"prompt": "a", "max_tokens": "9"}, 400, 'max_tokens is "9": expected int'),
    ("/v1/completions", {"prompt": "a", "n": 2}, 400, "n is not 1"),
    ("/v1/completions", {"prompt": "a", "logprobs": 3, "best_of": 2}, 400, "not supported: best_of, logprobs"),
    ("/v1/completions", {"prompt": "a", "model": "gpt"}, 404, "there is no model 'gpt'"),
    ("/v1/completions", b'"' + b"a" * (5 << 20) + b'"', 413, "more than 4194304 bytes"),
    ("/v1/completions", {"prompt": "a", "presence_penalty": 1, "echo": 0}, 400, "not supported: echo, presence_penalty"),
    ("/v1/chat/completions", {"messages": ["hello"]}, 400, "not a list of objects with the texts role and content"),
    ("/v1/chat/completions", {"messages": []}, 400, "messages is empty"),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, 400, "not a list of objects with the texts role"),
])
def test_bad_requests_are_answered(path, body, status, message, client):
    got, data = client.ask(path, body)
    assert got == status and message in json.loads(data)["error"]["message"]
    assert client.complete(max_tokens=2)["usage"]["completion_tokens"] == 2


def test_a_client_that_leaves(client):
    body = json.dumps({"prompt": [4, 5], "temperature": 0, "max_tokens": 250, "stream": True})
    with socket.create_connection(("127.0.0.1", client.port)) as connection:
        connection.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        assert connection.recv(100)
    assert client.complete(max_tokens=2)["usage"]["completion_tokens"] == 2
    for _ in range(100):
        if json.loads(client.ask("/health")[1]) == {"status": "ok", "requests": 0}:
            return
        time.sleep(0.05)
    raise AssertionError("the text of the client that left is written on")


def test_too_many_requests(model):
    crowded = Client(model, max_requests=1)
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            model._engine._lock.acquire()  # no text is generated meanwhile
            first = pool.submit(crowded.complete, max_tokens=3)
            while json.loads(crowded.ask("/health")[1])["requests"] < 1:
                time.sleep(0.01)
            status, data = crowded.ask("/v1/completions", {"prompt": "a"})
            assert status == 503 and "there are 1 requests" in json.loads(data)["error"]["message"]
            model._engine._lock.release()
            assert first.result()["usage"]["completion_tokens"] == 3
    finally:
        crowded.close()


def test_the_commands(tmp_path, monkeypatch, capfd):
    """Two commands run as processes; the others run in this one to save imports. All share one artifact."""
    tiny_checkpoint.write(tmp_path)
    command = [sys.executable, "-m", "luminal"]
    env = conftest.environment()

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["luminal", *map(str, words)])
        return main(), *capfd.readouterr()

    capfd.readouterr()
    code, both, told = run("generate", tmp_path, "--prompt", PROMPT, "--prompt", "The rain", "--max-tokens", 5, "--quiet")
    first, second = both.split("\n\n")
    assert code == 0 and not told and second.startswith("The rain")
    made = subprocess.run([*command, "generate", str(tmp_path), "--prompt", PROMPT, "--max-tokens", "5", "--batch", "2"],
                          capture_output=True, text=True, env=env)
    assert made.returncode == 0 and made.stdout == first + "\n" and made.stdout.startswith(PROMPT) and "5 out" in made.stderr
    code, text, told = run("generate", tmp_path / "none", "--prompt", "a")
    assert code == 2 and text == "" and told.endswith("not a checkpoint: there is no config.json\n") and told.count("\n") == 1
    shutil.copytree(tmp_path, tmp_path / "broken")
    config = json.loads((tmp_path / "broken/config.json").read_text())
    (tmp_path / "broken/config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    for words in (["generate", tmp_path / "broken", "--prompt", "a"], ["serve", tmp_path / "broken", "--port", 0]):
        code, text, told = run(*words)
        assert code == 2 and text == "" and told.count("\n") == 1 and "9 of the model's weights are in no file" in told
    server = subprocess.Popen([*command, "serve", str(tmp_path), "--port", "0", "--grace", "0", "--batch", "2"], stderr=subprocess.PIPE, text=True,
                              env=env)
    for line in server.stderr:
        if "running on" in line:
            break
    body = json.dumps({"prompt": [4, 5], "max_tokens": 250, "stream": True})
    port = int(line.split("127.0.0.1:")[1].split()[0])
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        assert connection.recv(100)
        server.send_signal(signal.SIGINT)
        rest = server.communicate(timeout=60)[1]
    assert "Traceback" not in rest and "Finished server process" in rest
