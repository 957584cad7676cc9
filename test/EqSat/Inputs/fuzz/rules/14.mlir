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
