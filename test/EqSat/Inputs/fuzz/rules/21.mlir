pdl.pattern @NoResults : benefit(0) attributes {eqsat.promise = "exact"} {
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
