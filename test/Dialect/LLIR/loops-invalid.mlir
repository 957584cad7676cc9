// RUN: luminal-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a dim such as d0, found e0}}
func.func @dim() attributes {a = #llir.loops<grid(e0)>} { return }

// -----
// expected-error @+1 {{expected a dim such as d0, found d01}}
func.func @leading_zero() attributes {a = #llir.loops<grid(d01)>} { return }

// -----
// expected-error @+1 {{a block is at least 1, found -4}}
func.func @block() attributes {a = #llir.loops<grid(d0:-4)>} { return }

// -----
// expected-error @+1 {{a block is from 1 to 2147483647, found 4611686018427387904}}
func.func @large_block() attributes {a = #llir.loops<grid(d0:4611686018427387904)>} { return }

// -----
// expected-error @+1 {{expected lanes such as v16, found w16}}
func.func @lanes() attributes {a = #llir.loops<grid(d0:all w16)>} { return }

// -----
// expected-error @+1 {{the number of lanes is a power of two, found 12}}
func.func @power() attributes {a = #llir.loops<grid(d0:all v12)>} { return }

// -----
// expected-error @+1 {{lanes run over more than one index}}
func.func @one_index() attributes {a = #llir.loops<grid(d0 v4)>} { return }

// -----
// expected-error @+1 {{d1 appears twice}}
func.func @twice() attributes {a = #llir.loops<grid(d1, d0*d1)>} { return }

// -----
// expected-error @+1 {{expected a dim such as d0, found d4000000000}}
func.func @far() attributes {a = #llir.loops<grid(d4000000000)>} { return }

// -----
// expected-error @+1 {{lanes run over one axis, found 2}}
func.func @two_lanes() attributes {a = #llir.loops<grid(d0:all v4) stream(d1:all v4)>} { return }

// -----
// expected-error @+1 {{a dim is cut into at least 2 parts, found 1}}
func.func @one_part() attributes {a = #llir.loops<grid(d0) stream(d1:all) parts(1)>} { return }

// -----
// expected-error @+1 {{a dim is cut into at most 65536 parts, found 100000}}
func.func @many_parts() attributes {a = #llir.loops<grid(d0) stream(d1:all) parts(100000)>} { return }

// -----
// expected-error @+1 {{op1 appears twice}}
func.func @form_twice() attributes {a = #llir.loops<grid(d0) op1 = pass op1 = pass>} { return }

// -----
// expected-error @+1 {{lanes appears twice}}
func.func @number_twice() attributes {a = #llir.loops<grid(d0) op1 = pass {lanes = 1, lanes = 2}>} { return }

// -----
// expected-error @+1 {{expected an op such as op0, found pass}}
func.func @no_op() attributes {a = #llir.loops<grid(d0) pass>} { return }

// -----
// expected-error @+1 {{the last case has no guard}}
func.func @guarded() attributes {a = #llir.loops<if (s: [0, 4]) grid(d0)>} { return }

// -----
// expected-error @+1 {{only the last case has no guard}}
func.func @unguarded() attributes {a = #llir.loops<grid(d0) else grid(d0)>} { return }

// -----
// expected-error @+1 {{expected one case}}
func.func @one_case() attributes {a = #llir.loop_case<if (s: [0, ]) grid(d0) else grid(d0)>} { return }
