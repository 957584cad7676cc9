//===- ScheduleNotes.cpp - Notes of schedules -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScheduleNotes.h"
#include "Roofline.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace luminal;

static constexpr StringLiteral kNote = "llir.note";

static std::string getText(llir::LoopsAttr loops) {
  std::string text;
  llvm::raw_string_ostream(text) << Attribute(loops);
  return text;
}

static std::string getReasons(const llir::ProposedLoops &proposed) {
  std::string text;
  for (const Reporter::Arg &arg : proposed.why)
    text += (text.empty() ? "" : "; ") + arg.key + ": " + arg.val;
  return text;
}

/// Fills in the schedule and the reasons for it. If it is the static choice,
/// its reasons are obtained by proposing it again.
static void explain(llir::KernelOp kernel, const TargetInterface &target,
                    const KernelAnalysis::SymbolRanges &ranges, bool searched,
                    ScheduleNote &note) {
  llir::LoopsAttr loops = *kernel.getLoops();
  const MachineModel machine = target.getMachine();
  note.schedule = getText(loops);
  note.predicted =
      llir::priceLoops(kernel, loops, ranges, machine, machine.workers);
  kernel.removeLoopsAttr();
  llir::ProposedLoops proposed = target.propose(kernel, ranges);
  kernel.setLoopsAttr(loops);
  if (proposed.loops == loops)
    note.why = getReasons(proposed);
  else if (searched)
    note.why = "measured; by static prices " + getText(proposed.loops);
  else
    note.why = "given by the program";
}

static LocationAttr makeLocation(Location place, const ScheduleNote &note) {
  Builder b(place.getContext());
  NamedAttrList fields;
  fields.set("schedule", b.getStringAttr(note.schedule));
  fields.set("why", b.getStringAttr(note.why));
  fields.set("bytes", b.getF64FloatAttr(note.bytes));
  fields.set("flops", b.getF64FloatAttr(note.flops));
  if (note.predicted)
    fields.set("predicted", b.getF64FloatAttr(*note.predicted));
  fields.set("roofline", b.getF64FloatAttr(note.roofline));
  return FusedLoc::get(b.getContext(), {place},
                       b.getDictionaryAttr(b.getNamedAttr(
                           kNote, b.getDictionaryAttr(fields.getAttrs()))));
}

void luminal::noteSchedules(ModuleOp module, const TargetInterface &target,
                            bool searched) {
  const Roofline roofline(target.getMachine());
  module.walk([&](func::FuncOp func) {
    const Assumptions assumptions = hlir::getAssumptions(func);
    // Repeated layers have equal kernels, so compute each note once.
    llir::KernelClasses alike;
    DenseMap<unsigned, ScheduleNote> known;
    SmallVector<std::pair<Operation *, ScheduleNote>> notes;
    for (Operation &op : func.getOps()) {
      auto kernel = dyn_cast<llir::KernelOp>(op);
      if (!isa<llir::LibraryOpInterface>(op) && !(kernel && kernel.getLoops()))
        continue;
      std::optional<unsigned> number;
      if (kernel)
        number = alike.add(kernel);
      if (auto it = number ? known.find(*number) : known.end();
          it != known.end()) {
        notes.push_back({&op, it->second});
        continue;
      }
      ScheduleNote note;
      llir::Cost cost = cast<llir::CostOpInterface>(op).getCost();
      note.bytes =
          llir::nominalValue(cost.bytesRead + cost.bytesWritten, assumptions);
      note.flops = llir::nominalValue(cost.flops, assumptions);
      note.roofline = roofline.of(note.bytes, note.flops);
      if (kernel)
        explain(kernel, target, assumptions.getSymbols(), searched, note);
      else
        note.why = "a library computes it";
      if (number)
        known.insert({*number, note});
      notes.push_back({&op, std::move(note)});
    }
    for (auto &[op, note] : notes)
      op->setLoc(makeLocation(op->getLoc(), note));
  });
}

std::optional<ScheduleNote> luminal::findScheduleNote(Location step) {
  std::optional<ScheduleNote> note;
  step->walk([&](Location part) {
    auto fused = dyn_cast<FusedLoc>(part);
    auto data = fused ? dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())
                      : DictionaryAttr();
    auto fields = data ? data.getAs<DictionaryAttr>(kNote) : DictionaryAttr();
    if (!fields)
      return WalkResult::advance();
    auto text = [&](StringRef name) {
      auto attr = fields.getAs<StringAttr>(name);
      return attr ? attr.str() : std::string();
    };
    auto number = [&](StringRef name) -> std::optional<double> {
      auto attr = fields.getAs<FloatAttr>(name);
      return attr ? std::optional(attr.getValueAsDouble()) : std::nullopt;
    };
    note = {text("schedule"),
            text("why"),
            number("bytes").value_or(0),
            number("flops").value_or(0),
            number("predicted"),
            number("roofline").value_or(0)};
    return WalkResult::interrupt();
  });
  return note;
}
