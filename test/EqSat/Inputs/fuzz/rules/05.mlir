pdl.pattern @JoinOfSplit : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %u = pdl.type
  %v = pdl.type
  %a = pdl.operand : %v
  %split = pdl.operation "test.split"(%a : !pdl.value) -> (%t, %u : !pdl.type, !pdl.type)
  %first = pdl.result 0 of %split
  %second = pdl.result 1 of %split
  %root = pdl.operation "test.join"(%first, %second : !pdl.value, !pdl.value) -> (%v : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%a : !pdl.value)
  }
}
