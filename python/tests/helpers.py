# ===- helpers.py - Comparisons that tests share --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import html.parser

import torch
from luminal._backend import backend
from torch.utils import _pytree as pytree


def compile(function, **kwargs):
    """torch.compile with this backend. By default, unsupported ops are errors."""
    kwargs.setdefault("options", {"fallback": "error"})
    return torch.compile(function, backend=backend, **kwargs)


def tolerance(dtype):
    """Relative and absolute tolerance for values near 1 after a few ops."""
    return {torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2)}.get(dtype, (1e-4, 1e-5))


def same(got, expected):
    """Compares structure, dtype, shape and values, and strides if there are elements."""
    got_leaves, got_tree = pytree.tree_flatten(got)
    expected_leaves, expected_tree = pytree.tree_flatten(expected)
    assert got_tree == expected_tree
    for a, b in zip(got_leaves, expected_leaves):
        if not isinstance(b, torch.Tensor):
            assert type(a) is type(b) and a == b
            continue
        assert a.dtype == b.dtype and a.shape == b.shape
        if b.numel():
            assert [s for s, n in zip(a.stride(), a.shape) if n > 1] == [s for s, n in zip(b.stride(), b.shape) if n > 1]
        rtol, atol = tolerance(b.dtype)
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)


class Page(html.parser.HTMLParser):
    """Parses HTML and checks that every element is closed in order; browsers would accept unclosed ones."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, tag):
        return [attributes for found, attributes in self.seen if found == tag]
