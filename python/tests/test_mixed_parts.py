# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real tensors beside complex ones, copies of views, and differences along no dims."""
import luminal
import pytest
import torch

FUNCTIONS = {
    "cat": lambda x, y: torch.view_as_real(torch.cat([torch.view_as_complex(x), y])),
    "stack": lambda x, y: torch.view_as_real(torch.stack([y, torch.view_as_complex(x)])),
    "where": lambda x, y: torch.view_as_real(torch.where(y > 0, torch.view_as_complex(x), y)),
    "diff": lambda x, y: torch.diff(y, n=0, prepend=y[:2]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mixed_parts(name):
    torch.manual_seed(0)
    x, y = torch.randn(6, 2), torch.randn(6)
    torch.testing.assert_close(luminal.compile(FUNCTIONS[name], (x, y))(x, y), FUNCTIONS[name](x, y))


@pytest.mark.parametrize("copy", [torch.permute_copy, torch.view_copy, torch.slice_copy, torch.select_copy])
def test_a_copy_has_memory_of_its_own(copy):
    arguments = {torch.permute_copy: ((1, 0),), torch.view_copy: ((3, 4),), torch.slice_copy: (0, 0, 2), torch.select_copy: (0, 1)}

    def function(x):
        x = x + 1
        y = copy(x, *arguments[copy])
        y.mul_(2)
        return x, y

    x = torch.randn(4, 3)
    for found, expected in zip(luminal.compile(function, (x,))(x), function(x), strict=True):
        torch.testing.assert_close(found, expected)
