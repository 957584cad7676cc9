pdl.pattern @Range : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %all = pdl.operands
  %inner = pdl.operation "test.b"(%all : !pdl.range<value>) -> (%t : !pdl.type)
  %v = pdl.result 0 of %inner
  %root = pdl.operation "test.a"(%v, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
