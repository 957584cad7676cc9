// Invalid rules are refused, with their location and the reason, before
// anything runs.

// RUN: split-file %s %t

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/promise.mlir" 2>&1 | FileCheck %s --check-prefix=PROMISE
// PROMISE: promise.mlir:[[#]]:1: error: rule 'Silent' cannot be used: it states no promise

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/vague.mlir" 2>&1 | FileCheck %s --check-prefix=VAGUE
// VAGUE: error: rule 'Vague' cannot be used: its promise 'often' is not "exact", "finite" or "rounding(ULPS)"

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/dtypes.mlir" 2>&1 | FileCheck %s --check-prefix=DTYPES
// DTYPES: error: rule 'Narrow' cannot be used: its dtypes are not a list of element types

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/stratum.mlir" 2>&1 | FileCheck %s --check-prefix=STRATUM
// STRATUM: error: rule 'Late' cannot be used: its stratum is not "canonical", "recovery", "lowering" or "alternatives"

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/nameless.mlir" 2>&1 | FileCheck %s --check-prefix=NAMELESS
// NAMELESS: error: rule '' cannot be used: it has no name

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/twice.mlir,%t/twice-too.mlir" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: two rules are named 'Same'
// TWICE: note: the other one

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/roots.mlir" 2>&1 | FileCheck %s --check-prefix=ROOTS
// ROOTS: error: rule 'TwoRoots' cannot be used: several roots: this operation is not below the one that is replaced

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/erase.mlir" 2>&1 | FileCheck %s --check-prefix=ERASE
// ERASE: error: rule 'Erase' cannot be used: it replaces nothing

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/erase-too.mlir" 2>&1 | FileCheck %s --check-prefix=ERASE2
// ERASE2: error: rule 'EraseToo' cannot be used: it erases an operation; the e-graph only adds

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/inner.mlir" 2>&1 | FileCheck %s --check-prefix=INNER
// INNER: error: rule 'Inner' cannot be used: it replaces an operation that is not the root

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/range.mlir" 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: rule 'Range' cannot be used: a range of operands that is not the last of them, which PDL takes for all

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/anonymous.mlir" 2>&1 | FileCheck %s --check-prefix=ANON
// ANON: error: rule 'Anonymous' cannot be used: an operation without a name

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/native.mlir" 2>&1 | FileCheck %s --check-prefix=NATIVE
// NATIVE: error: rule 'Native' cannot be used: no native rewrite is named 'NobodyKnows'

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/external.mlir" 2>&1 | FileCheck %s --check-prefix=EXTERNAL
// EXTERNAL: error: rule 'External' cannot be used: an external rewrite changes the program in place

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/type.mlir" 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: rule 'NoType' cannot be used: the result type of 'test.b' is neither given nor inferred

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/results.mlir" 2>&1 | FileCheck %s --check-prefix=RESULTS
// RESULTS: error: rule 'NoResults' cannot be used: an operation without results

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/count.mlir" 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: rule 'Count' cannot be used: it replaces 1 results by 2

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/other.mlir" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: a rule file may contain only pdl.pattern ops, not 'func.func'

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/regions.mlir" 2>&1 | FileCheck %s --check-prefix=REGIONS
// REGIONS: regions.mlir:[[#]]:{{[0-9]+}}: error: rule 'Regions' cannot be used: 'func.func' has regions, which the e-graph does not support

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/effects.mlir" 2>&1 | FileCheck %s --check-prefix=EFFECTS
// EFFECTS: effects.mlir:[[#]]:{{[0-9]+}}: error: rule 'Effects' cannot be used: 'func.call' may have effects; the e-graph holds pure operations only

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/makes-effects.mlir" 2>&1 | FileCheck %s --check-prefix=MAKES
// MAKES: makes-effects.mlir:[[#]]:{{[0-9]+}}: error: rule 'MakesEffects' cannot be used: 'func.call' may have effects; the e-graph holds pure operations only

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/two-roots.mlir" 2>&1 | FileCheck %s --check-prefix=TWOROOTS
// TWOROOTS: two-roots.mlir:[[#]]:{{[0-9]+}}: error: rule 'Roots' cannot be used: several roots

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/replaces-twice.mlir" 2>&1 | FileCheck %s --check-prefix=REPLACES
// REPLACES: replaces-twice.mlir:[[#]]:{{[0-9]+}}: error: rule 'ReplacesTwice' cannot be used: it replaces twice

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/tuple.mlir" 2>&1 | FileCheck %s --check-prefix=TUPLE
// TUPLE: tuple.mlir:[[#]]:{{[0-9]+}}: error: rule 'Tuple' cannot be used: a value of tuple type

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/group.mlir" 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: group.mlir:[[#]]:{{[0-9]+}}: error: rule 'Group' cannot be used: a group of results

// RUN: not luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/constraint.mlir" 2>&1 | FileCheck %s --check-prefix=CONSTRAINT
// CONSTRAINT: constraint.mlir:[[#]]:{{[0-9]+}}: error: rule 'Constraint' cannot be used: no native constraint is named 'NobodyKnows'

//--- input.mlir
func.func @f() { return }

//--- promise.mlir
pdl.pattern @Silent : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- vague.mlir
pdl.pattern @Vague : benefit(0) attributes {eqsat.promise = "often"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- dtypes.mlir
pdl.pattern @Narrow : benefit(0) attributes {eqsat.promise = "exact", eqsat.dtypes = "f32"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- stratum.mlir
pdl.pattern @Late : benefit(0) attributes {eqsat.promise = "exact", eqsat.stratum = "late"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- nameless.mlir
pdl.pattern : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- twice.mlir
pdl.pattern @Same : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- twice-too.mlir
pdl.pattern @Same : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.b"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- roots.mlir
pdl.pattern @TwoRoots : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %other = pdl.operation "test.b"(%x : !pdl.value) -> (%t : !pdl.type)
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with %other
  }
}

//--- erase.mlir
pdl.pattern @Erase : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.erase %root
  }
}

//--- erase-too.mlir
pdl.pattern @EraseToo : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %inner = pdl.operation "test.b"(%x : !pdl.value) -> (%t : !pdl.type)
  %v = pdl.result 0 of %inner
  %root = pdl.operation "test.a"(%v : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
    pdl.erase %inner
  }
}

//--- inner.mlir
pdl.pattern @Inner : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %inner = pdl.operation "test.b"(%x : !pdl.value) -> (%t : !pdl.type)
  %v = pdl.result 0 of %inner
  %root = pdl.operation "test.a"(%v : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %inner with (%x : !pdl.value)
  }
}

//--- range.mlir
pdl.pattern @Range : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %all = pdl.operands
  %inner = pdl.operation "test.b"(%all, %x : !pdl.range<value>, !pdl.value) -> (%t : !pdl.type)
  %v = pdl.result 0 of %inner
  %root = pdl.operation "test.a"(%v, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- anonymous.mlir
pdl.pattern @Anonymous : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation (%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- native.mlir
pdl.pattern @Native : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %y = pdl.apply_native_rewrite "NobodyKnows"(%x : !pdl.value) : !pdl.value
    pdl.replace %root with (%y : !pdl.value)
  }
}

//--- external.mlir
pdl.pattern @External : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root with "Something"
}

//--- type.mlir
pdl.pattern @NoType : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %b = pdl.operation "test.b"(%x : !pdl.value)
    %v = pdl.result 0 of %b
    %c = pdl.operation "test.a"(%v : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %c
  }
}

//--- results.mlir
pdl.pattern @NoResults : benefit(0) attributes {eqsat.promise = "exact"} {
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- count.mlir
pdl.pattern @Count : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x, %x : !pdl.value, !pdl.value)
  }
}

//--- other.mlir
func.func private @f()

//--- regions.mlir
pdl.pattern @Regions : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %inner = pdl.operation "func.func" -> (%t : !pdl.type)
  %v = pdl.result 0 of %inner
  %root = pdl.operation "test.a"(%v, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- effects.mlir
pdl.pattern @Effects : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "func.call"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- makes-effects.mlir
pdl.pattern @MakesEffects : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "func.call"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- two-roots.mlir
pdl.pattern @Roots : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %one = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  %two = pdl.operation "test.b"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite {
    pdl.replace %one with %two
  }
}

//--- replaces-twice.mlir
pdl.pattern @ReplacesTwice : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- tuple.mlir
pdl.pattern @Tuple : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %pair = pdl.type : tuple<f32, f32>
    %inner = pdl.operation "test.b"(%x : !pdl.value) -> (%pair : !pdl.type)
    %v = pdl.result 0 of %inner
    %new = pdl.operation "test.c"(%v : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- group.mlir
pdl.pattern @Group : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %inner = pdl.operation "test.b"(%x : !pdl.value) -> (%t, %t : !pdl.type, !pdl.type)
  %v = pdl.results 1 of %inner -> !pdl.value
  %root = pdl.operation "test.a"(%v : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- constraint.mlir
pdl.pattern @Constraint : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.apply_native_constraint "NobodyKnows"(%x : !pdl.value)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
