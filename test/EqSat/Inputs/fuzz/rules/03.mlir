pdl.pattern @Scale : benefit(0) attributes {eqsat.promise = "exact", eqsat.stratum = "lowering"} {
  %t = pdl.type : f32
  %x = pdl.operand
  %mode = pdl.attribute = "fast"
  %by = pdl.attribute
  %root = pdl.operation "test.scale"(%x : !pdl.value) {"mode" = %mode, "by" = %by} -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0.5 : f64
    %new = pdl.operation "test.scaled"(%x : !pdl.value) {"factor" = %by, "cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
