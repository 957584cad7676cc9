pdl.pattern @TwoRoots : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %other = pdl.operation "test.b"(%x : !pdl.value) -> (%t : !pdl.type)
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with %other
  }
}
