pdl.pattern @Ranges : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %us = pdl.types
  %vs = pdl.types
  %a = pdl.operands : %us
  %split = pdl.operation "test.split"(%a : !pdl.range<value>) -> (%t, %vs : !pdl.type, !pdl.range<type>)
  %all = pdl.results of %split
  %root = pdl.operation "test.join"(%all : !pdl.range<value>) -> (%us : !pdl.range<type>)
  pdl.rewrite %root {
    %b = pdl.range %a, %all : !pdl.range<value>, !pdl.range<value>
    %new = pdl.operation "test.new"(%b : !pdl.range<value>) -> (%us, %t, %vs : !pdl.range<type>, !pdl.type, !pdl.range<type>)
    %results = pdl.results of %new
    %two = pdl.operation "test.join"(%results : !pdl.range<value>) -> (%us : !pdl.range<type>)
    pdl.replace %root with %two
  }
}
