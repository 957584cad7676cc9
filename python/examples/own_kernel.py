# ===- own_kernel.py - One's own kernel -----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a custom op of PyTorch by a function in C, inside a compiled program.

To PyTorch the op is Python; the compiler is given a shared object for it, and a declaration of what that takes, how it is
started and what it costs. docs/UserKernels.md says more, and how a rule finds such a kernel in any program.
"""
import os
import pathlib
import subprocess
import tempfile

import luminal
import torch

CODE = """
#include <math.h>
#include <stdint.h>

/* values: elements in all; buffers: x, the bound, the result. */
int32_t soft_clip(void *const *buffers, const int64_t *values, int64_t begin, int64_t end, void *scratch) {
  const float *x = buffers[0];
  const double bound = *(const double *)buffers[1];
  float *y = buffers[2];
  for (int64_t i = begin; i < end; ++i)
    y[i] = (float)(bound * tanh(x[i] / bound));
  return 0;
}
"""

KERNELS = """
llir.user_kernel @"example::soft_clip" (tensor<?x?xf32, #hlir.dims<m, n>>, tensor<f64>)
    -> tensor<?x?xf32, #hlir.dims<m, n>> cost(4 * m * n, 4 * m * n, 20 * m * n) {
  llir.user_code file "soft_clip.so" entry "soft_clip"
      launch #llir.cpu_custom_launch<work = m * n, grain = 256, scratch = 0, values = [m * n], {parallel = true}>
}
"""


@torch.library.custom_op("example::soft_clip", mutates_args=())
def soft_clip(x: torch.Tensor, bound: float) -> torch.Tensor:
    return (bound * torch.tanh(x.double() / bound)).to(x.dtype)


@soft_clip.register_fake
def _(x, bound):
    return torch.empty_like(x)


def model(x, w):
    return soft_clip(x @ w, 30.0).softmax(-1)


x, w = torch.randn(8, 64) * 10, torch.randn(64, 16)
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "soft_clip.c").write_text(CODE)
    (folder / "kernels.mlir").write_text(KERNELS)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", folder / "soft_clip.c", "-o",
                    folder / "soft_clip.so", "-lm"], check=True)
    options = {"kernels": (str(folder / "kernels.mlir"),)}
    compiled = luminal.compile(model, (x, w), **options)
    anywhere = torch.compile(model, backend="luminal", fullgraph=True, options=options)
    with torch.no_grad():
        expected = model(x, w)
        torch.testing.assert_close(compiled(x, w), expected)
        torch.testing.assert_close(anywhere(x, w), expected)
    calls = compiled.ir("saturated").count("llir.call")

# The artifacts carry the code: the files are gone.
with torch.no_grad():
    torch.testing.assert_close(compiled(x, w), expected)
print(f"{calls} call of our kernel, the rest is generated")
assert calls == 1
