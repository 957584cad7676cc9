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
