pdl.pattern @Double : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand : %t
  %root = pdl.operation "test.add"(%a, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0.5 : f64
    %new = pdl.operation "test.double"(%a : !pdl.value) {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
