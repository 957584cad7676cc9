# ===- _server.py - A checkpoint by HTTP ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An HTTP server with OpenAI's interface for completions and chats. One model generates the texts of all requests in one
batch."""
from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from .. import _errors
from ._model import LLM, Stream
from ._sampling import Sampling

_MAX_BYTES = 4 << 20  # of a request
# Unsupported fields that clients send nevertheless, with the values that mean that they are not used.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "best_of": (1,), "echo": (False,), "frequency_penalty": (0,), "logit_bias": ({},), "logprobs": (False,), "presence_penalty": (0,),
    "response_format": ({"type": "text"},), "suffix": ("",), "tool_choice": ("none", "auto"), "tools": ([],), "top_logprobs": (0,)}
# Fields that do not affect the text.
_IGNORED = ("user", "metadata", "store", "stream_options", "parallel_tool_calls", "service_tier")


class _Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _take(body: dict[str, Any], name: str, kinds: tuple[type, ...], default: Any) -> Any:
    """Removes a field of a request; ``null`` stands for its default."""
    value = body.pop(name, None)
    if value is None:
        return default
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise _Refused(400, f"{name} is {json.dumps(value)[:80]}: expected {' or '.join(kind.__name__ for kind in kinds)}")
    return value


def _is_same(value: Any, neutral: Any) -> bool:
    return value == neutral and isinstance(value, bool) == isinstance(neutral, bool)


def _read_messages(messages: list[Any]) -> list[dict[str, str]]:
    """Checks messages. ``content`` is a text, or a list of parts that are texts."""
    found = []
    for message in messages:
        role, content = (message.get("role"), message.get("content")) if isinstance(message, dict) else (None, None)
        if isinstance(content, list) and all(isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
                                             for part in content):
            content = "".join(part["text"] for part in content)
        if not isinstance(role, str) or not isinstance(content, str):
            raise _Refused(400, "messages is not a list of objects with the texts role and content")
        found.append({"role": role, "content": content})
    if not found:
        raise _Refused(400, "messages is empty")
    return found


class _Server:
    def __init__(self, model: LLM, max_requests: int, is_stopped: Callable[[], bool]) -> None:
        self.model, self.max_requests, self.requests, self.is_stopped = model, max_requests, 0, is_stopped
        self.began = int(time.time())

    async def models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [
            {"id": self.model.name, "object": "model", "created": self.began, "owned_by": "luminal"}]})

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok", "requests": self.requests})

    async def completions(self, request: Request) -> Response:
        return await self._answer(request, is_chat=False)

    async def chats(self, request: Request) -> Response:
        return await self._answer(request, is_chat=True)

    async def _answer(self, request: Request, is_chat: bool) -> Response:
        try:
            if self.requests >= self.max_requests:
                raise _Refused(503, f"there are {self.requests} requests: try again later")
            stream, is_streamed = self._parse(await self._read(request), is_chat)
        except _Refused as error:
            return _error(error.status, str(error))
        except _errors.LuminalError as error:
            return _error(400, str(error))
        form = _Form(self.model.name, is_chat)
        if is_streamed:
            return StreamingResponse(self._events(request, stream, form), media_type="text/event-stream")
        try:
            async for _ in self._pieces(request, stream):
                pass
        except _Refused as error:
            return _error(error.status, str(error))
        return JSONResponse(form.whole(stream))

    async def _read(self, request: Request) -> dict[str, Any]:
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > _MAX_BYTES:
                raise _Refused(413, f"the request has more than {_MAX_BYTES} bytes")
        try:
            body = json.loads(data)
        except ValueError as error:
            raise _Refused(400, f"the request is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise _Refused(400, "the request is not a JSON object")
        return body

    def _parse(self, body: dict[str, Any], is_chat: bool) -> tuple[Stream, bool]:
        name = _take(body, "model", (str,), self.model.name)
        if name != self.model.name:
            raise _Refused(404, f"there is no model {name!r}: there is {self.model.name!r}")
        if _take(body, "n", (int,), 1) != 1:
            raise _Refused(400, "n is not 1: one text is generated for each request")
        number = (int, float)
        sampling = Sampling(
            float(_take(body, "temperature", number, 1.0)), _take(body, "top_k", (int,), 0), float(_take(body, "top_p", number, 1.0)),
            float(_take(body, "repetition_penalty", number, 1.0)), _take(body, "seed", (int,), None))
        stop = _take(body, "stop", (str, list), [])
        stop = [stop] if isinstance(stop, str) else stop
        if not all(isinstance(text, str) for text in stop):
            raise _Refused(400, "stop is not a list of texts")
        limit = _take(body, "max_tokens", (int,), 0 if is_chat else 16)
        limit = _take(body, "max_completion_tokens", (int,), limit)
        is_streamed = _take(body, "stream", (bool,), False)
        prompt = _take(body, "messages", (list,), None) if is_chat else _take(body, "prompt", (str, list), None)
        if prompt is None:
            raise _Refused(400, f"there is no {'messages' if is_chat else 'prompt'}")
        if is_chat:
            prompt = _read_messages(prompt)
        left = sorted(name for name, value in body.items() if name not in _IGNORED and value is not None
                      and not any(_is_same(value, neutral) for neutral in _NEUTRAL.get(name, ())))
        if left:
            raise _Refused(400, f"not supported: {', '.join(left)}")
        return self.model.stream(prompt, max_tokens=limit, stop=stop, sampling=sampling), is_streamed

    async def _pieces(self, request: Request, stream: Stream) -> AsyncIterator[str]:
        """The pieces of a text. Stops if the client has disconnected or the server must stop."""
        self.requests += 1
        try:
            while not await request.is_disconnected():
                if self.is_stopped():
                    raise _Refused(503, "the server was stopped")
                piece = await run_in_threadpool(next, stream, None)
                if piece is None:
                    break
                yield piece
        finally:
            stream.close()
            self.requests -= 1

    async def _events(self, request: Request, stream: Stream, form: _Form) -> AsyncIterator[str]:
        try:
            async for piece in self._pieces(request, stream):
                yield f"data: {json.dumps(form.part(piece, None))}\n\n"
            yield f"data: {json.dumps(form.part('', stream))}\n\n"
        except (_errors.LuminalError, _Refused) as error:
            yield f"data: {json.dumps(_error_body(getattr(error, 'status', 500), str(error)))}\n\n"
        yield "data: [DONE]\n\n"


class _Form:
    """Formats the answers to one request."""

    def __init__(self, model: str, is_chat: bool) -> None:
        self.is_chat = is_chat
        self.head = {"id": f"{'chatcmpl' if is_chat else 'cmpl'}-{uuid.uuid4().hex}", "created": int(time.time()), "model": model}

    def whole(self, stream: Stream) -> dict[str, Any]:
        done = stream.completion
        text: dict[str, Any] = {"message": {"role": "assistant", "content": done.text}} if self.is_chat else {"text": done.text}
        return {**self.head, "object": "chat.completion" if self.is_chat else "text_completion",
                "choices": [{"index": 0, **text, "logprobs": None, "finish_reason": done.finish_reason}], "usage": self._usage(stream)}

    def part(self, piece: str, ended: Stream | None) -> dict[str, Any]:
        """``ended``: the stream, for the last part."""
        text: dict[str, Any] = {"delta": {"role": "assistant", "content": piece}} if self.is_chat else {"text": piece}
        return {**self.head, "object": "chat.completion.chunk" if self.is_chat else "text_completion",
                "choices": [{"index": 0, **text, "logprobs": None, "finish_reason": ended and ended.completion.finish_reason}],
                **({"usage": self._usage(ended)} if ended else {})}

    def _usage(self, stream: Stream) -> dict[str, int]:
        stats, tokens = stream.completion.stats, len(stream.completion.tokens)
        return {"prompt_tokens": stats.prompt_tokens, "completion_tokens": tokens, "total_tokens": stats.prompt_tokens + tokens}


def _error_body(status: int, message: str) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "code": status}}


def _error(status: int, message: str) -> Response:
    return JSONResponse(_error_body(status, message), status)


async def _failed(_: Request, error: Exception) -> Response:
    return _error(500, _errors.sentence(error))


def make_app(model: LLM, max_requests: int = 64, is_stopped: Callable[[], bool] = lambda: False) -> Starlette:
    """The application, for any ASGI server. ``max_requests``: number of concurrent requests; others are answered with
    503. ``is_stopped``: whether texts in progress must end."""
    server = _Server(model, max_requests, is_stopped)
    post: list[tuple[str, Callable[[Request], Awaitable[Response]]]] = [
        ("/v1/completions", server.completions), ("/v1/chat/completions", server.chats)]
    return Starlette(routes=[*(Route(path, call, methods=["POST"]) for path, call in post), Route("/v1/models", server.models),
                             Route("/health", server.health)], exception_handlers={_errors.LuminalError: _failed})


def run(model: LLM, host: str, port: int, max_requests: int, grace: float = 5.0) -> None:
    """Serves until the process is asked to stop. ``grace``: seconds for finishing texts in progress."""
    if not 0 <= port < 65536 or max_requests < 1 or not grace >= 0:
        raise _errors.ArgumentError(f"port is {port}, max_requests {max_requests}, grace {grace}: expected 0 to 65535, 1 or more, 0 or more")
    since: list[float] = []

    def is_stopped() -> bool:
        if server.should_exit and not since:
            since.append(time.monotonic())
        return bool(since) and time.monotonic() - since[0] >= grace

    server = uvicorn.Server(uvicorn.Config(make_app(model, max_requests, is_stopped), host=host, port=port, log_level="info"))
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
