pdl.pattern @SplitOfJoin : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %u = pdl.type
  %v = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %join = pdl.operation "test.join"(%a, %b : !pdl.value, !pdl.value) -> (%v : !pdl.type)
  %j = pdl.result 0 of %join
  %root = pdl.operation "test.split"(%j : !pdl.value) -> (%t, %u : !pdl.type, !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%a, %b : !pdl.value, !pdl.value)
  }
}
