//===- Forms.h - The interface of forms of loops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_FORMS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_FORMS_H

#include "Prices.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

namespace luminal::llir {

/// A case of a schedule while it is built.
struct CaseBuilder {
  CaseBuilder(mlir::MLIRContext *context, const MachineModel &machine);

  mlir::MLIRContext *context;
  llvm::SmallVector<std::pair<Expr, int64_t>> atMost, atLeast;
  llvm::SmallVector<LoopAxisAttr> grid, stream;
  unsigned parts = 1, threads = 0, team = 1;
  llvm::SmallVector<LoopFormAttr> forms;

  /// `block` indices at a time (0: all), `lanes` of them across lanes.
  LoopAxisAttr axis(llvm::ArrayRef<unsigned> dims, int64_t block = 1,
                    unsigned lanes = 1) const;
  /// The form of an op. A number that is `nullopt` is left out.
  using Number = std::pair<llvm::StringRef, int64_t>;
  using Word = std::pair<llvm::StringRef, llvm::StringRef>;
  void addForm(mlir::Operation *op, llvm::StringRef form,
               llvm::ArrayRef<Number> numbers, llvm::ArrayRef<Word> words = {});
  bool hasForm(mlir::Operation *op) const;
  /// Null, with an error, where that is no case.
  LoopCaseAttr build() const;
};

/// A form of loops, or several that share an analysis.
struct LoopForms {
  /// What a kernel with them is made of: `elements`, `rows`, ...
  llvm::StringRef title;
  /// Their names in schedules.
  llvm::ArrayRef<llvm::StringRef> names;
  /// Whether the kernel is made of that.
  bool (*fits)(KernelOp kernel);
  /// Cases for the kernel, the last without a guard; none where the forms
  /// cannot compute it, which `why` may then explain.
  llvm::SmallVector<LoopCaseAttr> (*propose)(
      KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
      const MachineModel &machine, llvm::SmallVectorImpl<Reporter::Arg> &why);
  /// What a case that was verified does.
  LoopWork (*count)(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                    LoopCaseAttr loopCase, const MachineModel &machine);
  /// Whether the kernel can run as the case says. A refusal is part of an
  /// error.
  mlir::LogicalResult (*verify)(
      KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
      LoopCaseAttr loopCase, const MachineModel &machine,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
  /// Whether a case may have parts; null: none may. A refusal is part of an
  /// error.
  mlir::LogicalResult (*verifyParts)(
      KernelOp kernel, LoopCaseAttr loopCase,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError) = nullptr;
  /// The memory that units of a verified case share, where they have parts of
  /// something else than the first reductions, or count each other.
  Workspace (*countWorkspace)(KernelOp kernel,
                              const KernelAnalysis::SymbolRanges &ranges,
                              LoopCaseAttr loopCase) = nullptr;
  /// The case with its results written past the caches; null: no case may have
  /// that.
  LoopCaseAttr (*getNontemporal)(LoopCaseAttr loopCase) = nullptr;
  /// Whether what the forms after these propose is taken where it is cheaper.
  bool competes = false;
  /// Whether a case is of these forms, where others have the same names and fit
  /// the kernel as well; null: it is.
  bool (*isMeant)(LoopCaseAttr loopCase) = nullptr;
};

/// Of a block of the grid that has parts.
constexpr int64_t kCounterBytes = 4;

/// The forms that the case gives to the ops with loops; `element` is that of a
/// kernel without them. Null, with an error, where it names none that go
/// together.
const LoopForms *
findForms(KernelOp kernel, LoopCaseAttr loopCase,
          llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// All forms; a kernel gets the first that proposes something. Two may share
/// names: then the first that fits the kernel is meant.
llvm::ArrayRef<const LoopForms *> getLoopForms();

extern const LoopForms kWholeForms;
extern const LoopForms kRecurrenceForms;
extern const LoopForms kUpdateForms;
extern const LoopForms kOrderedForms;
extern const LoopForms kBlockForms;
extern const LoopForms kProductForms;
extern const LoopForms kRowForms;
extern const LoopForms kRowProgramForms;
extern const LoopForms kStageForms;
extern const LoopForms kStreamForms;
extern const LoopForms kStreamBlockForms;
extern const LoopForms kTransposeForms;
extern const LoopForms kElementForms;

/// The product of a kernel that has no other loops; null where there is none.
ProductOpInterface getOnlyProduct(KernelOp kernel);
/// Whether there is one.
bool fitsProduct(KernelOp kernel);
/// The same of a scatter.
ScatterOp getOnlyScatter(KernelOp kernel);
/// The reductions of a kernel that read, through whatever is between, no other
/// op with loops.
llvm::SmallVector<ReductionOpInterface> getFirstReductions(KernelOp kernel);
/// How reductions that few units of work do are cut.
struct PartsChoice {
  /// 1: not at all.
  int64_t parts = 1;
  /// Where it pays: quantities, each with the least or the most that it may be;
  /// none where it always does.
  llvm::SmallVector<std::pair<Expr, int64_t>> atLeast, atMost;
};
/// `units` units of work reduce `extent` elements each, with `work` simple
/// operations for one; the machine takes `atOnce` units at a time, and
/// `unitsEach` one after the other (nothing: a few, so that all have about as
/// much); `grain` operations are worth a part's states (nothing: what is worth
/// handing over). `why` says why they are cut, or why not.
PartsChoice chooseParts(KernelOp kernel,
                        const KernelAnalysis::SymbolRanges &ranges,
                        const Expr &units, const Expr &extent, int64_t work,
                        int64_t atOnce, const MachineModel &machine,
                        llvm::SmallVectorImpl<Reporter::Arg> &why,
                        std::optional<int64_t> unitsEach = std::nullopt,
                        std::optional<int64_t> grain = std::nullopt);
/// The case `c`, and before it the same with parts where they pay.
llvm::SmallVector<LoopCaseAttr> buildWithParts(const CaseBuilder &c,
                                               const PartsChoice &choice);
/// Lanes worth using for a dim of this extent, of at most `most`.
unsigned chooseLanes(const Expr &extent, unsigned most);
/// Accumulators of a reduction of `extent` elements, `lanes` at a time: `most`,
/// or 1 where that leaves too little to each.
int64_t chooseUnroll(const Expr &extent, unsigned lanes, int64_t most);
/// Lines, so many bytes from each to the next, that the first cache holds at
/// once: those a multiple of its ways apart are in one set of it.
int64_t countLinesInCache(int64_t apart, const MachineModel &machine);
/// The block of an axis that is taken `most` at a time; 0 (all) where that
/// hardly cuts it.
int64_t chooseBlock(const Expr &extent, int64_t most);

/// The case, or the same with results written past the caches where that takes
/// less time; `why` says why, or why not, of results that are large enough.
LoopCaseAttr chooseStores(KernelOp kernel,
                          const KernelAnalysis::SymbolRanges &ranges,
                          LoopCaseAttr loopCase, const LoopForms &forms,
                          const MachineModel &machine,
                          llvm::SmallVectorImpl<Reporter::Arg> &why);
/// Checks a case that says `nontemporal`.
mlir::LogicalResult
verifyNontemporal(KernelOp kernel, LoopCaseAttr loopCase,
                  const LoopForms &forms, const MachineModel &machine,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// The case with `nontemporal` and those forms.
LoopCaseAttr withNontemporal(LoopCaseAttr loopCase,
                             llvm::ArrayRef<LoopFormAttr> forms);

/// Checks that each axis is a run of adjacent dims of `extents`, without the
/// `skipped` first ones and those of extent 1, and that together they are all
/// of them.
mlir::LogicalResult
verifyAxes(llvm::ArrayRef<LoopAxisAttr> axes, llvm::ArrayRef<Expr> extents,
           unsigned skipped,
           llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// What a number of a form may be: in [least, limit], or one of `words`.
struct NumberRule {
  llvm::StringRef name;
  int64_t least, limit;
  llvm::ArrayRef<llvm::StringRef> words = {};
};
/// Checks that a form has no other numbers than those.
mlir::LogicalResult
verifyNumbers(LoopFormAttr form, llvm::ArrayRef<NumberRule> rules,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// The forms of a kernel whose only op with loops is the scatter: its numbers.
mlir::LogicalResult
verifyScatterForms(ScatterOp op, LoopCaseAttr loopCase,
                   llvm::ArrayRef<NumberRule> rules,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_FORMS_H
