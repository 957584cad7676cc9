//===- Passes.td - Passes over the e-graph -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_PASSES
#define LUMINAL_EQSAT_PASSES

include "mlir/Pass/PassBase.td"

def SaturatePass : Pass<"eqsat-saturate", "::mlir::ModuleOp"> {
  let summary = "Find the cheapest program that the rules prove equal";
  let description = [{
    Reads the pure ops of every function into an e-graph, runs the rules until
    nothing is new or a limit is reached, and replaces the ops by the cheapest
    equal ones. Function arguments and results of other ops are leaves; operands
    of other ops and of terminators are roots. `pdl.pattern` ops in the module,
    beside the functions, are used like rules from files, and removed.

    Rules of the strata `canonical`, `recovery` and `lowering` always run to
    their end. The limits bound the search for `alternatives`; reaching one is a
    warning that names it. They are options too (Limits.def): `max-iterations`,
    `max-nodes`, `max-bytes`, `max-seconds`, `match-limit`.

    Fails with one located error if a rule cannot be used or contradicts another
    one, if recovery and lowering do not end, if an op has regions, or if a root
    has no finite price (the error names an op that nothing lowers).

    Emits the stop reason and one remark for each rule (`--remarks-filter=
    eqsat-saturate`), and writes a complete report to `report` as JSON.

    `explain` writes, for every root, the chain of rule applications from the
    given program to the extracted one, each with the locations of the rule and
    of the ops concerned. Without this option no proofs are recorded.
  }];
  // The options for reports and graphs: docs/EqualitySaturation.md.
  let options = [
    ListOption<"ruleSets", "rule-sets", "std::string",
               "Names of compiled-in rule sets (default: all)">,
    ListOption<"ruleFiles", "rules", "std::string",
               ".mlir files of pdl.pattern ops to add">,
    Option<"noRuleSets", "no-rule-sets", "bool", "false",
           "Use only the rules of files">,
    Option<"cost", "cost", "std::string", "\"\"",
           "Cost model (default: static where it is registered, else unit)">,
    Option<"batch", "batch", "bool", "false",
           "Apply every match completely in its round, instead of merging equal "
           "new terms before building on them">,
    Option<"naive", "naive", "bool", "false",
           "Match everything in every round (for tests)">,
    Option<"precision", "precision", "std::string", "\"finite\"",
           "Admitted promises of rules: exact (the same bits), rounding (also "
           "other rounding), or finite (also rules that hold only for values "
           "proved finite)">,
    Option<"maxUlps", "max-ulps", "double", "1e300",
           "Do not apply a rule with an element type or function for which it "
           "promises a larger rounding error, in ulps">,
    Option<"seed", "seed", "uint64_t", "0",
           "Extract with prices that are changed at random by this seed, to "
           "get other programs; 0: unchanged prices">,
    Option<"seedStrength", "seed-strength", "double", "0.25",
           "Each price is multiplied or divided by up to 1 + this">,
    Option<"draws", "draws", "unsigned", "0",
           "Insert this many candidates after each function, `NAME.draw1` to "
           "`NAME.drawN`, drawn with the seeds after `seed`; the attribute "
           "`eqsat.digest` identifies the program, `eqsat.cost` is its price">,
    Option<"report", "report", "std::string", "\"\"",
           "File for the report as JSON">,
    Option<"explain", "explain", "std::string", "\"\"",
           "File for the rule applications that prove the result equal to the "
           "program, as text (they are in the report too)">,
    ListOption<"explainValues", "explain-values", "std::string",
               "Explain instead why two values, given by their name locations, "
               "are equal">,
    Option<"egraph", "egraph", "std::string", "\"\"",
           "File for the e-graph as JSON, in the egraph-serialize format">,
    Option<"choices", "choices", "std::string", "\"\"",
           "File of choices that an extractor made on that JSON, to be used "
           "instead of extracting the cheapest program">,
    Option<"equivalence", "equivalence", "bool", "false",
           "Replace each function by its e-graph as an `equivalence.graph` "
           "instead of extracting">,
    Option<"allowUnregistered", "allow-unregistered", "bool", "false",
           "Treat ops of unregistered dialects as pure">,
  ];
}

#endif // LUMINAL_EQSAT_PASSES
