#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the polynomial coefficients of lib/Conversion/ScalarMath/*.cpp, with the error each reaches, and the Chebyshev series of
lib/Target/PT2/Aten/Special.cpp.

Each is the Remez polynomial of f on [a, b] for the error weighted by w, in the monomial basis, lowest power first.
    python3 math_coefficients.py        (needs mpmath)
"""
import mpmath as mp

mp.mp.dps = 60


def remez(f, a, b, degree, weight=lambda x: mp.mpf(1), rounds=12):
    """The minimax polynomial by Remez exchange; returns (coefficients, largest weighted error)."""
    a, b = mp.mpf(a), mp.mpf(b)
    # A weight may vanish inside [a, b]; a floor keeps the system regular.
    floor = max(weight(a), weight(b)) / 1000
    given = weight
    weight = lambda x: max(given(x), floor)
    n = degree + 2
    xs = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * i / (n - 1)) for i in range(n)]
    grid = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / 400) for i in range(400)]
    fg, wg = [f(x) for x in grid], [weight(x) for x in grid]
    for _ in range(rounds):
        m = mp.matrix(n, n)
        rhs = mp.matrix(n, 1)
        for i, x in enumerate(xs):
            for j in range(degree + 1):
                m[i, j] = x ** j
            m[i, degree + 1] = (-1) ** i / weight(x)
            rhs[i] = f(x)
        sol = mp.lu_solve(m, rhs)
        c = [sol[j] for j in range(degree + 1)]
        err = [(mp.polyval(c[::-1], x) - fx) * w for x, fx, w in zip(grid, fg, wg)]
        # Alternating extrema of the error on the grid.
        runs = []
        for x, e in zip(grid, err):
            if runs and (runs[-1][1] > 0) == (e > 0):
                if abs(e) > abs(runs[-1][1]):
                    runs[-1] = (x, e)
            else:
                runs.append((x, e))
        while len(runs) > n:
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        if len(runs) < n:
            break
        xs = [x for x, _ in runs]
    return c, max(abs(e) for e in err)


def show(name, f, a, b, degree, weight=lambda x: mp.mpf(1)):
    c, err = remez(f, a, b, degree, weight)
    print(f"// {name}: degree {degree} on [{mp.nstr(mp.mpf(a), 5)}, {mp.nstr(mp.mpf(b), 5)}], error 2^{mp.nstr(mp.log(err, 2), 4)}")
    print("{" + ", ".join(repr(float(v)) for v in c) + "}")


L = mp.log(2) / 2
# exp(r) = 1 + r + r^2 q(r)
def q(r):
    if abs(r) < mp.mpf(10) ** -20:
        return mp.mpf(1) / 2 + r / 6
    return (mp.expm1(r) - r) / r ** 2
def q3(r):
    if abs(r) < mp.mpf(10) ** -12:
        return mp.mpf(1) / 6 + r / 24
    return (mp.expm1(r) - r - r * r / 2) / r ** 3
show("exp f32: q(r), exp(r) = 1 + r + r^2 / 2 + r^3 q(r)", q3, -L * 1.003, L * 1.003, 4, lambda r: abs(r) ** 3)
show("short exp f32: q(r), exp(r) = 1 + r + r^2 q(r)", q, -L * 1.01, L * 1.01, 4, lambda r: r * r)
show("exp f64 for f32 results: q(r)", q, -L * 1.001, L * 1.001, 7)
show("exp f64: q(r)", q, -L * mp.mpf('1.0001'), L * mp.mpf('1.0001'), 10, abs)
# 2^r = 1 + r p(r)
def p2(r):
    if abs(r) < mp.mpf(10) ** -20:
        return mp.log(2) + r * mp.log(2) ** 2 / 2
    return mp.expm1(r * mp.log(2)) / r
show("exp2 f32: p(r), 2^r = 1 + r p(r)", p2, -0.5, 0.5, 6)
show("2^r narrow: p(r), 2^r = 1 + r p(r)", p2, -0.5, 0.5, 4, lambda r: abs(r))
# log((1+s)/(1-s)) = 2 s (1 + s^2 g(s^2))
S = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
def g(t):
    if t == 0: return mp.mpf(1) / 3
    s = mp.sqrt(t)
    return (mp.atanh(s) / s - 1) / t
show("log f64 for f32 results: g(t), atanh(s) = s (1 + t g(t)), t = s^2", g, 0, S * S * 1.001, 4, lambda t: t)
show("log f64: g(t)", g, 0, S * S * 1.001, 6, lambda t: t)
P = mp.pi / 4 * mp.mpf('1.005')
def sn(t):
    if t == 0: return -mp.mpf(1) / 6
    r = mp.sqrt(t)
    return (mp.sin(r) / r - 1) / t
show("sin f32: q(t), sin(r) = r (1 + t q(t)), t = r^2", sn, 0, P * P, 2, lambda t: t)
def cs(t):
    if t == 0: return mp.mpf(1) / 24
    return (mp.cos(mp.sqrt(t)) - 1 + t / 2) / t ** 2
show("cos f32: q(t), cos(r) = 1 - t/2 + t^2 q(t)", cs, 0, P * P, 2, lambda t: t * t)
P = mp.pi / 4 * mp.mpf('1.00001')
show("sin f64: q(t)", sn, 0, P * P, 5, lambda t: t)
show("cos f64: q(t)", cs, 0, P * P, 5, lambda t: t * t)
show("erf f32: q(u), erfc(1 + u) = exp(q(u)), u in [0, 3]", lambda u: mp.log(mp.erfc(u + 1)), 0, 3, 7,
     lambda u: mp.erfc(u + 1) * (1 << 20))
def ex2(u):
    z = 4 / (1 - u) - 2
    return mp.erfc(z) * mp.exp(z * z) * (z + 2)
def u2(z): return 1 - 4 / (z + 2)
show("erfcx f32: p(u), (z + 2) exp(z^2) erfc(z), u = (z - 2)/(z + 2), z in [0, 9.2]", ex2, u2(mp.mpf(0)), u2(mp.mpf('9.2')), 8,
     lambda u: 1 / ex2(u))
show("erfcx narrow: p(u), as for f32, z in [0, 9.6]", ex2, u2(mp.mpf(0)), u2(mp.mpf('9.6')), 6, lambda u: 1 / ex2(u))
def er(t):
    if t == 0: return 2 / mp.sqrt(mp.pi)
    x = mp.sqrt(t)
    return mp.erf(x) / x
show("erf f64: p(t), erf(x) = x p(x^2), |x| <= 1", er, 0, 1, 8, lambda t: 1 / er(t))
show("erf f64 for a bound above 0.5 ulp: p(t), as before", er, 0, 1, 6, lambda t: 1 / er(t))
show("erf narrow: p(t), erf(x) = x p(x^2), |x| <= 0.5", er, 0, 0.25, 3, lambda t: 1 / er(t))
def th(t):
    if t == 0: return mp.mpf(1)
    x = mp.sqrt(t)
    return mp.tanh(x) / x
show("tanh narrow: p(t), tanh(x) = x p(x^2), |x| <= 0.4", th, 0, mp.mpf('0.16'), 3, lambda t: 1 / th(t))
def wc(t):
    if t == 0: return mp.mpf(1) / 3
    w = mp.sqrt(t)
    return (w * mp.coth(w) - 1) / t
show("tanh f64 for f32 results: q(t), w coth w = 1 + t q(t), t = w^2", wc, 0, (L / 2 * mp.mpf('1.001')) ** 2, 2, lambda t: t)
def at(t):
    if t == 0: return mp.mpf(1)
    x = mp.sqrt(t)
    return mp.atan(x) / x
show("atan f64 for f32 results: p(t), atan(x) = x p(x^2), |x| <= 1", at, 0, 1, 12, lambda t: 1 / at(t))
def at3(t):
    if t == 0: return -mp.mpf(1) / 3
    x = mp.sqrt(t)
    return (mp.atan(x) / x - 1) / t
C = (mp.sqrt(2) - 1) ** 2 * mp.mpf('1.00001')
show("atan narrow: q(t), atan(x) = x (1 + t q(t)), t = x^2, |x| <= tan(pi/8)", at3, 0, C, 4, lambda t: t)
show("atan f64: q(t), as before", at3, 0, C, 10, lambda t: t)
def as3(t):
    if t == 0: return mp.mpf(1) / 6
    x = mp.sqrt(t)
    return (mp.asin(x) / x - 1) / t
show("asin f32: q(t), asin(x) = x (1 + t q(t)), t = x^2, |x| <= 1/2", as3, 0, mp.mpf(1) / 4, 5, lambda t: t)
show("asin f64: q(t), as before", as3, 0, mp.mpf(1) / 4, 12, lambda t: t)
K = mp.mpf(3)
def ex(u):
    z = K * (1 + u) / (1 - u)
    return mp.erfc(z) * mp.exp(z * z) * (1 + 2 * z)
def uz(z): return (z - K) / (z + K)
show("erfcx f64: p(u), (1 + 2 z) exp(z^2) erfc(z), u = (z - 3)/(z + 3), z in [0.5, 10.5]", ex, uz(mp.mpf('0.5')), uz(mp.mpf('10.5')), 13, lambda u: 1 / ex(u))
def series(title, f, points=64):
    """The Chebyshev series of f on [-1, 1], to 1e-18."""
    xs = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / points) for k in range(points)]
    fs = [f(x) for x in xs]
    c = [2 * sum(fs[k] * mp.cos(mp.pi * j * (k + mp.mpf(1) / 2) / points) for k in range(points)) / points for j in range(points // 2)]
    c[0] /= 2
    while abs(c[-1]) < mp.mpf(10) ** -18:
        c.pop()
    print(f"// {title}", ", ".join(mp.nstr(x, 18) for x in c), sep="\n")
for order in (0, 1):
    series(f"exp(-x) I{order}(x) / x^{order}, x = 4 (t + 1)", lambda t: mp.exp(-4 * (t + 1)) * mp.besseli(order, 4 * (t + 1)) / (4 * (t + 1)) ** order)
    series(f"sqrt(x) exp(-x) I{order}(x), x = 16 / (t + 1)",
           lambda t: mp.sqrt(16 / (t + 1)) * mp.exp(-16 / (t + 1)) * mp.besseli(order, 16 / (t + 1)))
print("// 2/pi, 32-bit words after the point, most significant first")
mp.mp.prec = 400
v = int(mp.floor(2 / mp.pi * mp.mpf(2) ** 224))
print([hex((v >> (32 * (6 - i))) & 0xffffffff) for i in range(7)])
import struct
def f32(x): return struct.unpack("f", struct.pack("f", float(x)))[0]
p = mp.pi / 2
p1 = f32(p); p2_ = f32(p - mp.mpf(p1)); p3 = f32(p - mp.mpf(p1) - mp.mpf(p2_))
print("pi/2 parts, f32", p1.hex(), p2_.hex(), p3.hex())
l = mp.log(2); l1 = float(l); l2 = float(l - mp.mpf(l1)); print("ln2", l1.hex(), l2.hex())
