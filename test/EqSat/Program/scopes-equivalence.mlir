// Programs with scopes as MLIR: the body of a scope is a graph in its graph.
// Printed, parsed, and read back as the same graph, they give the same program.

// RUN: rm -rf %t && split-file %S/scopes.mlir %t && split-file %s %t
// RUN: luminal-opt %t/leak.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/rules.mlir allow-unregistered equivalence report=%t/leak.out" -o %t/leak.graph
// RUN: FileCheck %s --check-prefix=LEAK --input-file=%t/leak.graph
// RUN: luminal-opt %t/leak.graph --allow-unregistered-dialect | diff - %t/leak.graph
// RUN: luminal-opt %t/leak.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/rules.mlir allow-unregistered cost=attribute" -o %t/leak.direct
// RUN: luminal-opt %t/leak.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=attribute report=%t/leak.in" | diff - %t/leak.direct
// RUN: grep -m2 -E '"(nodes|classes)"' %t/leak.out > %t/leak.counts
// RUN: grep -m2 -E '"(nodes|classes)"' %t/leak.in | diff - %t/leak.counts
//
// The same with the rules again, and as a graph of a graph.
// RUN: luminal-opt %t/leak.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/rules.mlir allow-unregistered cost=attribute" | diff - %t/leak.direct
// RUN: luminal-opt %t/leak.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered equivalence" -o %t/leak.again
// RUN: luminal-opt %t/leak.again --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=attribute" | diff - %t/leak.direct

// RUN: luminal-opt %t/twice.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/rules.mlir allow-unregistered equivalence report=%t/twice.out" -o %t/twice.graph
// RUN: luminal-opt %t/twice.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets rules=%t/rules.mlir allow-unregistered cost=attribute" -o %t/twice.direct
// RUN: luminal-opt %t/twice.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=attribute report=%t/twice.in" | diff - %t/twice.direct
// RUN: grep -m2 -E '"(nodes|classes)"' %t/twice.out > %t/twice.counts
// RUN: grep -m2 -E '"(nodes|classes)"' %t/twice.in | diff - %t/twice.counts

// All compiled-in rules, in a nest and across scopes, except for the order of
// factors and terms, which costs nothing.
// RUN: cat %t/lift.mlir %t/body.mlir %t/value.mlir %t/cyclic.mlir > %t/all.mlir
// RUN: luminal-opt %t/all.mlir --allow-unregistered-dialect --eqsat-saturate="equivalence report=%t/all.out" -o %t/all.graph
// RUN: FileCheck %s --check-prefix=NEST --input-file=%t/all.graph
// RUN: luminal-opt %t/all.graph --allow-unregistered-dialect | diff - %t/all.graph
// RUN: luminal-opt %t/all.mlir --eqsat-saturate | sed -E 's/(mul|add)\([^)]*\)/\1/' > %t/all.direct
// RUN: luminal-opt %t/all.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets report=%t/all.in" | sed -E 's/(mul|add)\([^)]*\)/\1/' | diff - %t/all.direct
// RUN: grep -E '^      "(nodes|classes)"' %t/all.out > %t/all.counts
// RUN: grep -E '^      "(nodes|classes)"' %t/all.in | diff - %t/all.counts
//
// The same values.
// RUN: luminal-opt %t/value.mlir --allow-unregistered-dialect --eqsat-saturate="rule-sets=views,arithmetic equivalence" -o %t/value.graph
// RUN: luminal-opt %t/value.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets cost=unit" -o %t/value.back
// RUN: luminal-test-reference %t/value.mlir > %t/before
// RUN: luminal-test-reference %t/value.back | diff - %t/before
//
// The same bytes for any memory layout.
// RUN: env MALLOC_PERTURB_=85 luminal-opt %t/all.mlir --allow-unregistered-dialect --eqsat-saturate=equivalence | cmp - %t/all.graph
// RUN: env MALLOC_PERTURB_=170 MALLOC_MMAP_THRESHOLD_=4096 luminal-opt %t/all.mlir --allow-unregistered-dialect --eqsat-saturate=equivalence | cmp - %t/all.graph

// Ops that are not nodes keep their order, and several results their op.
// RUN: luminal-opt %t/effects.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets equivalence" -o %t/effects.graph
// RUN: luminal-opt %t/effects.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets cost=unit" -o %t/effects.direct
// RUN: FileCheck %s --check-prefix=EFFECTS --input-file=%t/effects.direct
// RUN: luminal-opt %t/effects.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets cost=unit" | diff - %t/effects.direct
// RUN: luminal-opt %t/results.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered equivalence" -o %t/results.graph
// RUN: luminal-opt %t/results.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=unit" -o %t/results.direct
// RUN: FileCheck %s --check-prefix=RESULTS --input-file=%t/results.direct
// RUN: luminal-opt %t/results.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=unit" | diff - %t/results.direct

// A class that only scopes side by side compute: read, and written again.
// RUN: luminal-opt %t/beside.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=unit" | FileCheck %s --check-prefix=BESIDE
// RUN: luminal-opt %t/beside.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered equivalence" -o %t/beside.graph
// RUN: FileCheck %s --check-prefix=BESIDE-GRAPH --input-file=%t/beside.graph
// RUN: luminal-opt %t/beside.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=unit" | FileCheck %s --check-prefix=BESIDE

// Anything that is not such a graph is refused, at the offending op.
// RUN: not luminal-opt %t/body.bad.mlir --allow-unregistered-dialect --eqsat-saturate=no-rule-sets 2>&1 | FileCheck %s --check-prefix=BODY
// BODY: body.bad.mlir:6:12: error: the body of a scope must be one 'equivalence.graph', like the code around it
// RUN: not luminal-opt %t/more.mlir --allow-unregistered-dialect --eqsat-saturate=no-rule-sets 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: more.mlir:9:12: error: 'equivalence.graph' must be the only op of the body of the scope does
// RUN: not luminal-opt %t/member.mlir --allow-unregistered-dialect --eqsat-saturate=no-rule-sets 2>&1 | FileCheck %s --check-prefix=MEMBER
// MEMBER: member.mlir:3:10: error: 'equivalence.class' must have one result and at least one member
// RUN: not luminal-opt %t/inner.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=unit" 2>&1 | FileCheck %s --check-prefix=INNER
// INNER: inner.mlir:8:10: error: a value of a scope is used outside of it
//
// It can be written, and is refused when it is read.
// RUN: luminal-opt %t/inner.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered equivalence egraph=%t/inner.json" -o %t/inner.graph
// RUN: not luminal-opt %t/inner.graph --allow-unregistered-dialect --eqsat-saturate="no-rule-sets allow-unregistered cost=unit" 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: a value of a scope is used outside of it
// RUN: not luminal-extract %t/inner.json 2>&1 | FileCheck %s --check-prefix=ROOT
// ROOT: inner.json.root_eclasses[{{[0-9]+}}]: there is no class 'main:
// RUN: not luminal-opt %t/region.mlir --allow-unregistered-dialect --eqsat-saturate=no-rule-sets 2>&1 | FileCheck %s --check-prefix=REGION
// REGION: region.mlir:3:5: error: 'test.region' has regions, which the e-graph does not support
// RUN: not luminal-opt %t/yield.mlir --allow-unregistered-dialect --eqsat-saturate=no-rule-sets 2>&1 | FileCheck %s --check-prefix=YIELD
// YIELD: yield.mlir:4:5: error: 'equivalence.yield' must be the last op

// LEAK:      %[[OUT:.*]]:2 = "equivalence.graph"() ({
// LEAK-NEXT:   "equivalence.class"(%arg0)
// LEAK-NEXT:   "equivalence.class"(%[[R:[0-9]+]])
// LEAK-NEXT:   %[[Z:.*]] = "equivalence.class"(%[[CLEARED:[0-9]+]])
// LEAK-NEXT:   %[[R]] = hlir.repeat 2
// LEAK-NEXT:   ^bb0(%[[C:.*]]: tensor<f32>):
// LEAK-NEXT:     %[[G:.*]] = "equivalence.graph"() ({
// LEAK-NEXT:       %[[CC:.*]] = "equivalence.class"(%[[C]])
// LEAK-NEXT:       "equivalence.class"(%[[Z]], %[[CLEAR:[0-9]+]])
// LEAK:            %[[CLEAR]] = "test.clear"(%[[CC]])
// LEAK:          }) : () -> tensor<f32>
// LEAK-NEXT:     hlir.yield %[[G]]
// LEAK:        %[[CLEARED]] = "test.cleared"()
// LEAK:      return %[[OUT]]#0, %[[OUT]]#1

// NEST:      func.func @lift
// NEST:      "equivalence.graph"
// NEST:        hlir.repeat 2
// NEST:          "equivalence.graph"
// NEST:            hlir.repeat 3
// NEST:              "equivalence.graph"
// NEST:                hlir.add
// NEST-NOT:            hlir.sin
// NEST:              hlir.yield
// NEST:            hlir.sin
// NEST:          hlir.yield
// NEST:        hlir.mul %[[K:.*]], %[[K]]
// NEST:      return

//--- cyclic.mlir

// The trip's value is a member of the class of c * -1 * -1, and the constant is
// outside.
func.func @cyclic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = hlir.constant dense<-1.0> : tensor<f32>
  %all = hlir.view %one <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %r = hlir.repeat 5 carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    %0 = hlir.mul %c, %all : tensor<4xf32>
    %1 = hlir.mul %0, %all : tensor<4xf32>
    %2 = hlir.sin %1 : tensor<4xf32>
    hlir.yield %2 : tensor<4xf32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

//--- effects.mlir

// EFFECTS:      "test.effect"(%{{.*}}) {first}
// EFFECTS:      hlir.repeat
// EFFECTS:        "test.source"
// EFFECTS:        hlir.sqrt
// EFFECTS:        "test.effect"(%{{.*}}) {second}
// EFFECTS:        hlir.yield
// EFFECTS:      "test.effect"(%{{.*}}) {third}
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  "test.effect"(%x) {first} : (tensor<4xf32>) -> ()
  %r = hlir.repeat 3 carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    %0 = "test.source"(%c) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = hlir.sqrt %0 : tensor<4xf32>
    "test.effect"(%1) {second} : (tensor<4xf32>) -> ()
    hlir.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = hlir.sqrt %r : tensor<4xf32>
  "test.effect"(%2) {third} : (tensor<4xf32>) -> ()
  return %r : tensor<4xf32>
}

//--- results.mlir

// RESULTS:      %[[K:.*]]:2 = "test.split"(%{{.*}}) {outer}
// RESULTS-NEXT: hlir.repeat 3
// RESULTS-NEXT: ^bb0(%[[C:.*]]: tensor<f32>):
// RESULTS-NEXT:   %[[S:.*]]:2 = "test.split"(%[[C]]) {inner}
// RESULTS-NEXT:   "test.join"(%[[K]]#1, %[[S]]#1, %[[S]]#0)
func.func @results(%x: tensor<f32>) -> tensor<f32> {
  %r = hlir.repeat 3 carried(%x : tensor<f32>) {
  ^bb0(%c: tensor<f32>):
    %k:2 = "test.split"(%x) {outer} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %s:2 = "test.split"(%c) {inner} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %j = "test.join"(%k#1, %s#1, %s#0) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    hlir.yield %j : tensor<f32>
  } -> tensor<f32>
  return %r : tensor<f32>
}

//--- beside.mlir

// BESIDE:      hlir.repeat 2
// BESIDE-NEXT: ^bb0(%[[C:.*]]: tensor<f32>):
// BESIDE-NEXT:   %[[S:.*]] = "test.of"(%[[C]])
// BESIDE-NEXT:   %[[T:.*]] = "test.twice"(%[[S]])
// BESIDE-NEXT:   hlir.yield %[[T]]
// BESIDE:      hlir.repeat 3
// BESIDE-NEXT: ^bb0(%[[D:.*]]: tensor<f32>):
// BESIDE-NEXT:   %[[U:.*]] = "test.of"(%[[D]])
// BESIDE-NEXT:   %[[V:.*]] = "test.twice"(%[[U]])
// BESIDE-NEXT:   hlir.yield %[[V]]
// BESIDE-GRAPH-DAG: %[[S:.*]] = "equivalence.class"() :
// BESIDE-GRAPH-DAG: %[[T:.*]] = "equivalence.class"() :
// BESIDE-GRAPH:     hlir.repeat 2
// BESIDE-GRAPH-DAG: "equivalence.class"(%[[S]], %{{.*}})
// BESIDE-GRAPH-DAG: "equivalence.class"(%[[T]], %{{.*}})
// BESIDE-GRAPH:     hlir.repeat 3
// BESIDE-GRAPH-DAG: "equivalence.class"(%[[S]], %{{.*}})
// BESIDE-GRAPH-DAG: "equivalence.class"(%[[T]], %{{.*}})
func.func @beside(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %cx = "equivalence.class"(%x) : (tensor<f32>) -> tensor<f32>
    %cr = "equivalence.class"(%r) : (tensor<f32>) -> tensor<f32>
    %cq = "equivalence.class"(%q) : (tensor<f32>) -> tensor<f32>
    %s = "equivalence.class"() : () -> tensor<f32>
    %r = hlir.repeat 2 carried(%cx : tensor<f32>) {
    ^bb0(%a: tensor<f32>):
      %i = "equivalence.graph"() ({
        %ca = "equivalence.class"(%a) : (tensor<f32>) -> tensor<f32>
        %cs = "equivalence.class"(%o, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %ct = "equivalence.class"(%t) : (tensor<f32>) -> tensor<f32>
        %o = "test.of"(%ca) : (tensor<f32>) -> tensor<f32>
        %t = "test.twice"(%cs) : (tensor<f32>) -> tensor<f32>
        "equivalence.yield"(%ct) : (tensor<f32>) -> ()
      }) : () -> tensor<f32>
      hlir.yield %i : tensor<f32>
    } -> tensor<f32>
    %q = hlir.repeat 3 carried(%cr : tensor<f32>) {
    ^bb0(%b: tensor<f32>):
      %i = "equivalence.graph"() ({
        %cb = "equivalence.class"(%b) : (tensor<f32>) -> tensor<f32>
        %cs = "equivalence.class"(%s, %o) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %ct = "equivalence.class"(%t) : (tensor<f32>) -> tensor<f32>
        %o = "test.of"(%cb) : (tensor<f32>) -> tensor<f32>
        %t = "test.twice"(%cs) : (tensor<f32>) -> tensor<f32>
        "equivalence.yield"(%ct) : (tensor<f32>) -> ()
      }) : () -> tensor<f32>
      hlir.yield %i : tensor<f32>
    } -> tensor<f32>
    "equivalence.yield"(%cq) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}

//--- body.bad.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %cx = "equivalence.class"(%x) : (tensor<f32>) -> tensor<f32>
    %r = hlir.repeat 2 carried(%cx : tensor<f32>) {
    ^bb0(%a: tensor<f32>):
      %n = hlir.sin %a : tensor<f32>
      hlir.yield %n : tensor<f32>
    } -> tensor<f32>
    "equivalence.yield"(%cx) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
//--- more.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %cx = "equivalence.class"(%x) : (tensor<f32>) -> tensor<f32>
    %r = hlir.repeat 2 carried(%cx : tensor<f32>) {
    ^bb0(%a: tensor<f32>):
      %i = "equivalence.graph"() ({
        "equivalence.yield"(%cx) : (tensor<f32>) -> ()
      }) : () -> tensor<f32>
      %n = hlir.sin %i : tensor<f32>
      hlir.yield %n : tensor<f32>
    } -> tensor<f32>
    "equivalence.yield"(%cx) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
//--- member.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %c = "equivalence.class"() : () -> tensor<f32>
    "equivalence.yield"(%c) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
//--- inner.mlir

// A value that is needed outside is computed only inside.
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %cx = "equivalence.class"(%x) : (tensor<f32>) -> tensor<f32>
    %s = "equivalence.class"() : () -> tensor<f32>
    %r = hlir.repeat 2 carried(%cx : tensor<f32>) {
    ^bb0(%a: tensor<f32>):
      %i = "equivalence.graph"() ({
        %ca = "equivalence.class"(%a) : (tensor<f32>) -> tensor<f32>
        %cs = "equivalence.class"(%s, %o) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %o = "test.of"(%ca) : (tensor<f32>) -> tensor<f32>
        "equivalence.yield"(%cs) : (tensor<f32>) -> ()
      }) : () -> tensor<f32>
      hlir.yield %i : tensor<f32>
    } -> tensor<f32>
    "equivalence.yield"(%s) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
//--- region.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    "test.region"() ({
    ^bb0:
    }) : () -> ()
    %cx = "equivalence.class"(%x) : (tensor<f32>) -> tensor<f32>
    "equivalence.yield"(%cx) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
//--- yield.mlir
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %g = "equivalence.graph"() ({
    %cx = "equivalence.class"(%x) : (tensor<f32>) -> tensor<f32>
    "equivalence.yield"(%cx) : (tensor<f32>) -> ()
    "equivalence.yield"(%cx) : (tensor<f32>) -> ()
  }) : () -> tensor<f32>
  return %g : tensor<f32>
}
