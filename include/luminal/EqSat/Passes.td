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
    equal ones. Rules that stand beside the functions, as `pdl.pattern` ops of the
    module, are used as those of files are, and removed. Function arguments and results of other ops are leaves; operands
    of other ops and of terminators are roots.

    Rules of the strata `canonical`, `recovery` and `lowering` always run to
    their end; the limits bound the search for `alternatives`, and one that
    stops it is a warning with its name. They are options too (Limits.def):
    `max-iterations`, `max-nodes`, `max-bytes`, `max-seconds`, `match-limit`.

    Fails, with one located error, where a rule cannot be used or contradicts
    another one, where recovery and lowering do not end, where an op has
    regions, or where a root has no finite price (the error names an op that
    nothing lowers).

    Reports the stop reason and one remark a rule (`--remarks-filter=
    eqsat-saturate`), and writes all of it to `report` as JSON.

    `explain` writes the chain of rule applications that leads from every root
    as given to the one extracted, each with the rule's place and the places of
    the ops that it is about. Without it no proofs are recorded.
  }];
  // More about the windows: docs/EqualitySaturation.md.
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
           "Do all that a round finds at once, instead of comparing new terms "
           "before building on them">,
    Option<"naive", "naive", "bool", "false",
           "Match everything in every round (for tests)">,
    Option<"precision", "precision", "std::string", "\"finite\"",
           "Promises that are admitted: exact (the same bits), rounding (these "
           "and what rounds otherwise), or finite (these and what holds for "
           "values proved finite)">,
    Option<"maxUlps", "max-ulps", "double", "1e300",
           "Leave out rules where they promise less precision than this, by "
           "element type and function">,
    Option<"seed", "seed", "uint64_t", "0",
           "Extract by prices that this seed changes at random, so that a "
           "search sees other programs; 0 for the prices as they are">,
    Option<"seedStrength", "seed-strength", "double", "0.25",
           "A price is multiplied by up to 1 + this, or divided by it">,
    Option<"draws", "draws", "unsigned", "0",
           "Insert this many candidates after each function, `NAME.draw1` to "
           "`NAME.drawN`, drawn by the seeds after `seed`; `eqsat.digest` says "
           "which program it is, `eqsat.cost` its price">,
    Option<"report", "report", "std::string", "\"\"",
           "File for the report as JSON">,
    Option<"explain", "explain", "std::string", "\"\"",
           "File for the rule applications that make the result equal to the "
           "program, as text (and in the report)">,
    ListOption<"explainValues", "explain-values", "std::string",
               "Explain instead why two values are equal, by their name "
               "locations">,
    Option<"egraph", "egraph", "std::string", "\"\"",
           "File for the e-graph as JSON, in the egraph-serialize form">,
    Option<"choices", "choices", "std::string", "\"\"",
           "File of choices that an extractor made on that JSON, to be taken "
           "instead of the cheapest">,
    Option<"equivalence", "equivalence", "bool", "false",
           "Replace each function by its e-graph as an `equivalence.graph` "
           "instead of extracting">,
    Option<"allowUnregistered", "allow-unregistered", "bool", "false",
           "Take ops of unregistered dialects to be pure">,
  ];
}

#endif // LUMINAL_EQSAT_PASSES
