pdl.pattern @Native : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.a"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %y = pdl.apply_native_rewrite "NobodyKnows"(%x : !pdl.value) : !pdl.value
    pdl.replace %root with (%y : !pdl.value)
  }
}
