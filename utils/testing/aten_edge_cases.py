# ===- aten_edge_cases.py - Programs at the edges of shapes and arguments ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More themes for check_aten_ops.py, in the form of aten_cases.py: grids of arguments in every element type."""
import itertools

import torch
import torch.nn.functional as F

from aten_inputs import bf16, bools, f16, f32, f64, i32, i64, ints, rand

FLOATS = (f32, f64, f16, bf16)
DTYPES = (*FLOATS, i64, i32, torch.uint8, torch.int8, torch.bool)


def filled(*shape, dtype=f32):
    if dtype == torch.bool:
        return bools(*shape)
    return rand(*shape, dtype=dtype) if dtype.is_floating_point else ints(*shape, low=0).to(dtype)


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def defined(pad, shape, mode):
    """Whether PyTorch defines the result: circular padding may not exceed the
    cropped extent (PyTorch reads uninitialized memory there)."""
    if mode != "circular":
        return True
    for k, n in zip(range(0, len(pad), 2), reversed(shape)):
        before, after = pad[k:k + 2]
        left = n + min(before, 0) + min(after, 0)
        if max(before, after) > max(left, 0):
            return False
    return True


def padded(shape, mode, pads, dtype=f32):
    """A case's function, and input: every one of the pads that PyTorch takes."""
    x, taken = filled(*shape, dtype=dtype), []
    for pad in pads:
        if defined(pad, shape, mode):
            try:
                F.pad(x, pad, mode=mode)
                taken.append(pad)
            except (RuntimeError, NotImplementedError):
                pass
    return (lambda x: tuple(F.pad(x, pad, mode=mode) for pad in taken) + (x,)), [x]


MODES = ("constant", "reflect", "replicate", "circular")
ONE = list(itertools.product(range(-3, 4), repeat=2))
TWO = [(a, b, c, d) for a, b in ((-1, 1), (2, -1), (1, 2), (-1, -1), (0, 0)) for c, d in ((1, -2), (-1, 2), (-1, 0), (1, 1))]
THREE = [(-1, 1, 1, -1, 2, -1), (1, 1, -1, -1, 0, 1), (0, -1, 1, 0, -1, 1), (-1, 2, -1, 2, -1, 2)]

PADDING = [
    *((f"{mode}-1d", *padded((2, 3, 4), mode, ONE)) for mode in MODES),
    *((f"{mode}-1d-{name_of(t)}-exported", *padded((2, 3, 4), mode, ONE[::5], t)) for mode in MODES for t in DTYPES[1:]),
    *((f"{mode}-2d-{name_of(t)}", *padded((1, 2, 3, 4), mode, TWO, t)) for mode in MODES for t in (f32, bf16)),
    *((f"{mode}-3d", *padded((1, 1, 3, 2, 4), mode, THREE)) for mode in MODES),
    *((f"{mode}-unbatched", *padded((2, 4), mode, ONE[::3])) for mode in MODES),
    *((f"{mode}-size-1", *padded((2, 1, 1), mode, ONE)) for mode in MODES),
    *((f"{mode}-no-batch", *padded((0, 2, 4), mode, ONE[::3])) for mode in MODES),
    *((f"{mode}-empty", *padded((1, 2, 0), mode, ONE)) for mode in MODES),
    ("constant-0d", lambda x: F.pad(x, ()), [torch.tensor(2.0)]),
    *((f"{mode}-dynamic", lambda x, mode=mode: (F.pad(x, (-1, 1), mode=mode), F.pad(x, (2, -1), mode=mode),
                                                F.pad(x, (-1, -1), mode=mode)),
       [rand(2, 3, 9)], [{2: "n"}], 4) for mode in MODES),
    ("circular-of-a-slice", lambda x: F.pad(x[0, :, :1], (-1, 1), mode="circular"), [rand(2, 3, 4, 5)]),
]

INDEXED = {
    "gather": lambda x, i, s: torch.gather(x, 0, i),
    "take_along_dim": lambda x, i, s: torch.take_along_dim(x, i, 0),
    "take": lambda x, i, s: torch.take(x, i),
    "index_select": lambda x, i, s: torch.index_select(x, 0, i),
    "scatter": lambda x, i, s: torch.scatter(x, 0, i, s),
    "scatter_value": lambda x, i, s: torch.scatter(x, 0, i, 1),
    "scatter_add": lambda x, i, s: torch.scatter_add(x, 0, i, s),
    "scatter_reduce": lambda x, i, s: torch.scatter_reduce(x, 0, i, s, "amax"),
    "scatter_reduce_mean": lambda x, i, s: torch.scatter_reduce(x, 0, i, s, "mean", include_self=False),
    "index_add": lambda x, i, s: torch.index_add(x, 0, i, s),
    "index_copy": lambda x, i, s: torch.index_copy(x, 0, i, s),
    "index_fill": lambda x, i, s: torch.index_fill(x, 0, i, 1),
    "index_fill_tensor": lambda x, i, s: torch.index_fill(x, 0, i, s.reshape(-1)[0]),
    "index_reduce": lambda x, i, s: torch.index_reduce(x, 0, i, s, "amin"),
    "put": lambda x, i, s: torch.ops.aten.put.default(x, i, s),
    "put_accumulate": lambda x, i, s: torch.ops.aten.put.default(x, i, s, True),
    "index": lambda x, i, s: torch.ops.aten.index.Tensor(x, [i]),
    "index_put": lambda x, i, s: torch.index_put(x, (i,), s),
    "index_put_accumulate": lambda x, i, s: torch.index_put(x, (i,), s, True),
}


def takes(function, *args):
    try:
        function(*(a.clone() for a in args))
        return True
    except (RuntimeError, NotImplementedError, IndexError):
        return False


def indexed(dtype):
    """Every op by index of every rank 0 and 1 (and of no element) that PyTorch takes, of one element type."""
    x, row, empty = filled(3, dtype=dtype), filled(1, dtype=dtype), filled(0, dtype=dtype)
    ranks = [(a, i, s) for a in (x[0], row, x) for i in (torch.tensor(0), torch.tensor([0]), torch.tensor([], dtype=i64))
             for s in (x[1], row, empty)]
    kept = [(f, k) for f in INDEXED.values() for k, args in enumerate(ranks) if takes(f, *args)]
    flat = [t.clone() for args in ranks for t in args]
    return (lambda *all: tuple(f(*all[3 * k:3 * k + 3]) for f, k in kept)), flat


def repeated(x):
    """Repeats by numbers known only at run time, to a size that the program states."""
    n = x.shape[0]
    counts = torch.arange(n)

    def run(x, counts, one, none):
        to = dict(output_size=n * (n - 1) // 2)
        all = [x.repeat_interleave(counts, 0, **to), x.repeat_interleave(counts.int(), 0, **to),
               x.repeat_interleave(one, 0, output_size=2 * n), x.repeat_interleave(one[0], 0, output_size=2 * n),
               x.repeat_interleave(none, 0, output_size=0), torch.repeat_interleave(counts, **to),
               torch.repeat_interleave(counts.int(), **to), x[:0].repeat_interleave(none[:0], 0, output_size=0)]
        if x.dim() > 1:
            all += [x.mT.repeat_interleave(counts, -1, **to), x[:, 0].repeat_interleave(counts, **to),
                    x[:, :1].repeat_interleave(counts, **to), x[:, :0].repeat_interleave(counts, 0, **to)]
        return tuple(all)
    return run, [x, counts, torch.tensor([2]), torch.zeros(n, dtype=i64)]


def both(*functions):
    return lambda *args: tuple(t for f in functions for t in f(*args))


def masked_rows(dtype):
    x = filled(3, 4, dtype=dtype)
    x[1] = float("-inf")
    return x


A = torch.ops.aten
EDGES = [
    *((f"indexed-{name_of(t)}-exported", *indexed(t)) for t in DTYPES),
    *((f"repeats-{name_of(t)}", *repeated(filled(4, 3, dtype=t))) for t in DTYPES),
    ("repeats-vector", *repeated(rand(4))),
    ("repeats-0d", lambda x, n: x.repeat_interleave(n, output_size=3), [torch.tensor(2.0), torch.tensor([3])]),
    *((f"dropout-{name_of(t)}", both(*(lambda x, p=p, train=train: A.native_dropout(x, p, train)
                                       for p, train in ((0.5, False), (0.0, True), (0.0, False)))), [filled(2, 3, dtype=t)])
      for t in FLOATS),
    ("dropout-shapes", lambda x, y, z: (*A.native_dropout(x, 0.5, False), *A.native_dropout(y, 0.5, False),
                                        A.native_dropout(z, 0.5, False)[0]), [torch.tensor(1.0), rand(1), rand(0, 3)]),
    *((f"batch-norm-legit-{name_of(t)}",
       lambda x, w, b, m, v: (*A._native_batch_norm_legit(x, w, b, m, v, False, 0.1, 1e-5),
                              *A._native_batch_norm_legit(x[:, :, :1], None, None, m, v, False, 0.1, 1e-3),
                              *A._native_batch_norm_legit_functional(x, w, None, m, v, False, 0.1, 1e-5),
                              A._native_batch_norm_legit(x[:0], w, b, m, v, False, 0.1, 1e-5)[0]),
       [filled(2, 3, 4, dtype=t), filled(3, dtype=t), filled(3, dtype=t), filled(3, dtype=t), filled(3, dtype=t).abs() + 1])
      for t in FLOATS),
    *((f"group-norm-{name_of(t)}",
       lambda x, y, w, b: (*A.native_group_norm(x, w, b, 2, 4, 6, 2, 1e-5), *A.native_group_norm(x, None, None, 2, 4, 6, 4, 1e-3),
                        *A.native_group_norm(y, w, b, 1, 4, 1, 1, 1e-5), A.native_group_norm(x, w, b, 2, 4, 6, 2, 1e-5)[0]),
       [filled(2, 4, 3, 2, dtype=t), filled(1, 4, 1, 1, dtype=t), filled(4, dtype=t), filled(4, dtype=t)]) for t in FLOATS),
    *((f"embedding-bag-{name_of(t)}",
       lambda w, i, o: tuple(A._embedding_bag(w, i, o, False, mode)[0] for mode in (0, 1, 2)) + (A._embedding_bag(w, i[:1], o[:1])[0],),
       [filled(6, 3, dtype=t), ints(7, low=0), torch.tensor([0, 2, 2, 5])]) for t in FLOATS),
    *((f"convert-{name_of(t)}", lambda x, y, z: tuple(torch.ops.prims.convert_element_type(v, to) for to in DTYPES[:6] + (torch.bool,)
                                                      for v in (x, y, z)),
       [filled(2, 3, dtype=t), filled(3, dtype=t)[0].clone(), filled(0, 2, dtype=t)]) for t in DTYPES),
    *((f"safe-softmax-{name_of(t)}",
       lambda x: (A._safe_softmax(x, 0), A._safe_softmax(x, -1), A._safe_softmax(x, 1, dtype=f32), A._safe_softmax(x[0, 0], 0),
                  A._safe_softmax(x[1, 0], 0), A._safe_softmax(x[:, :1], 1), A._safe_softmax(x[:0], 1)), [masked_rows(t)])
      for t in FLOATS),
    *((f"fewer-heads-{name_of(t)}",
       lambda q, k, v, m: (A._scaled_dot_product_flash_attention_for_cpu(q, k, v)[0],
                           A._scaled_dot_product_flash_attention_for_cpu(q, k[:, :1], v[:, :1], is_causal=True)[0],
                           A._scaled_dot_product_flash_attention_for_cpu(q, k, v, attn_mask=m, scale=0.5)[0],
                           A._scaled_dot_product_flash_attention_for_cpu(q[:, :, :1], k[:, :, :1], v[:, :, :1])[0]),
       [filled(2, 4, 3, 8, dtype=t), filled(2, 2, 5, 8, dtype=t), filled(2, 2, 5, 8, dtype=t), filled(3, 5, dtype=t)]) for t in FLOATS),
]
