//===- Forms.h - The interface of forms of loops --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_FORMS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_FORMS_H

#include "Prices.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

namespace luminal::llir {

/// A case of a schedule under construction.
struct CaseBuilder {
  CaseBuilder(mlir::MLIRContext *context, const MachineModel &machine);

  mlir::MLIRContext *context;
  llvm::SmallVector<std::pair<Expr, int64_t>> atMost, atLeast;
  llvm::SmallVector<LoopAxisAttr> grid, stream;
  unsigned parts = 1, threads = 0, team = 1;
  llvm::SmallVector<LoopFormAttr> forms;

  /// Returns an axis in blocks of `block` indices (0: all), with `lanes` of
  /// them in the lanes of a vector.
  LoopAxisAttr axis(llvm::ArrayRef<unsigned> dims, int64_t block = 1,
                    unsigned lanes = 1) const;
  /// Sets the form of an op. A number that is `nullopt` is left out.
  using Number = std::pair<llvm::StringRef, int64_t>;
  using Word = std::pair<llvm::StringRef, llvm::StringRef>;
  void addForm(mlir::Operation *op, llvm::StringRef form,
               llvm::ArrayRef<Number> numbers, llvm::ArrayRef<Word> words = {});
  bool hasForm(mlir::Operation *op) const;
  /// Builds the case; null, with an error, if it is invalid.
  LoopCaseAttr build() const;
};

/// A form of loops, or several forms that share an analysis.
struct LoopForms {
  /// The kind of loops of a kernel with these forms: `elements`, `rows`, ...
  llvm::StringRef title;
  /// The names of the forms in schedules.
  llvm::ArrayRef<llvm::StringRef> names;
  /// Whether the forms can apply to the kernel's ops.
  bool (*fits)(KernelOp kernel);
  /// Proposes cases for the kernel, the last without a guard; none if the forms
  /// cannot compute it, which `why` may explain.
  llvm::SmallVector<LoopCaseAttr> (*propose)(
      KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
      const MachineModel &machine, llvm::SmallVectorImpl<Reporter::Arg> &why);
  /// Counts the work of a verified case.
  LoopWork (*count)(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
                    LoopCaseAttr loopCase, const MachineModel &machine);
  /// Checks that the kernel can run as the case says. A refusal is part of an
  /// error.
  mlir::LogicalResult (*verify)(
      KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
      LoopCaseAttr loopCase, const MachineModel &machine,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
  /// Checks that a case may have parts; if null, none may. A refusal is part of
  /// an error.
  mlir::LogicalResult (*verifyParts)(
      KernelOp kernel, LoopCaseAttr loopCase,
      llvm::function_ref<mlir::InFlightDiagnostic()> emitError) = nullptr;
  /// Returns the memory that work items of a verified case share, if they have
  /// parts other than those of the first reductions, or count each other.
  Workspace (*countWorkspace)(KernelOp kernel,
                              const KernelAnalysis::SymbolRanges &ranges,
                              LoopCaseAttr loopCase) = nullptr;
  /// Returns the case with its results written past the caches; if null, no
  /// case may be changed that way.
  LoopCaseAttr (*getNontemporal)(LoopCaseAttr loopCase) = nullptr;
  /// Whether forms after these are preferred if they are cheaper.
  bool competes = false;
  /// Returns whether a case belongs to these forms, if other forms have the
  /// same names and fit the kernel as well; if null, it does.
  bool (*isMeant)(LoopCaseAttr loopCase) = nullptr;
};

/// The counter of each block of the grid that has parts.
constexpr int64_t kCounterBytes = 4;

/// Returns the forms that the case gives to the ops with loops; `element` for a
/// kernel without such ops. Null, with an error, if the named forms do not go
/// together.
const LoopForms *
findForms(KernelOp kernel, LoopCaseAttr loopCase,
          llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Returns all forms. A kernel gets the first ones that propose a case. If two
/// have the same names, the first that fits the kernel applies.
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

/// Returns the product of a kernel that has no other loops; null if there is
/// none.
ProductOpInterface getOnlyProduct(KernelOp kernel);
/// Returns whether the kernel has such a product.
bool fitsProduct(KernelOp kernel);
/// Returns the scatter of a kernel that has no other loops; null if there is
/// none.
ScatterOp getOnlyScatter(KernelOp kernel);
/// Returns the reductions of a kernel that depend on no other op with loops.
llvm::SmallVector<ReductionOpInterface> getFirstReductions(KernelOp kernel);
/// How to cut reductions (split-k) that give too few work items.
struct PartsChoice {
  /// 1: they are not cut.
  int64_t parts = 1;
  /// The conditions under which parts pay: quantities, each with its least or
  /// its greatest value; none if they always pay.
  llvm::SmallVector<std::pair<Expr, int64_t>> atLeast, atMost;
};
/// Chooses parts for `units` work items that reduce `extent` elements each,
/// with `work` simple operations for one element. The machine runs `atOnce`
/// work items at a time, and `unitsEach` one after the other (nullopt: a few,
/// for load balance). A part's states are worth `grain` operations (nullopt:
/// the latency of distributing work). `why` says why the reductions are cut or
/// not.
PartsChoice chooseParts(KernelOp kernel,
                        const KernelAnalysis::SymbolRanges &ranges,
                        const Expr &units, const Expr &extent, int64_t work,
                        int64_t atOnce, const MachineModel &machine,
                        llvm::SmallVectorImpl<Reporter::Arg> &why,
                        std::optional<int64_t> unitsEach = std::nullopt,
                        std::optional<int64_t> grain = std::nullopt);
/// Returns the case `c`, and before it the same case with parts if they pay.
llvm::SmallVector<LoopCaseAttr> buildWithParts(const CaseBuilder &c,
                                               const PartsChoice &choice);
/// Returns the lanes worth using for a dim of this extent, at most `most`.
unsigned chooseLanes(const Expr &extent, unsigned most);
/// Returns the number of accumulators of a reduction of `extent` elements,
/// `lanes` at a time: `most`, or 1 if each would get too few elements.
int64_t chooseUnroll(const Expr &extent, unsigned lanes, int64_t most);
/// Returns how many lines that are `apart` bytes apart fit into L1 at once:
/// lines whose distance is a multiple of a way's size map to the same set.
int64_t countLinesInCache(int64_t apart, const MachineModel &machine);
/// Returns the block of an axis that is taken `most` indices at a time; 0 (all)
/// if that would hardly cut the axis.
int64_t chooseBlock(const Expr &extent, int64_t most);

/// Returns the case, or the same case with results written past the caches if
/// that is faster. For results that are large enough, `why` says why or why
/// not.
LoopCaseAttr chooseStores(KernelOp kernel,
                          const KernelAnalysis::SymbolRanges &ranges,
                          LoopCaseAttr loopCase, const LoopForms &forms,
                          const MachineModel &machine,
                          llvm::SmallVectorImpl<Reporter::Arg> &why);
/// Checks a case with `nontemporal`.
mlir::LogicalResult
verifyNontemporal(KernelOp kernel, LoopCaseAttr loopCase,
                  const LoopForms &forms, const MachineModel &machine,
                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// Returns the case with `nontemporal` and with these forms.
LoopCaseAttr withNontemporal(LoopCaseAttr loopCase,
                             llvm::ArrayRef<LoopFormAttr> forms);

/// Checks that each axis is a run of adjacent dims of `extents`, and that
/// together they cover all dims except the first `skipped` ones and those of
/// extent 1.
mlir::LogicalResult
verifyAxes(llvm::ArrayRef<LoopAxisAttr> axes, llvm::ArrayRef<Expr> extents,
           unsigned skipped,
           llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// What a number of a form may be: within [least, limit], or one of `words`.
struct NumberRule {
  llvm::StringRef name;
  int64_t least, limit;
  llvm::ArrayRef<llvm::StringRef> words = {};
};
/// Checks that a form has only numbers that `rules` allow.
mlir::LogicalResult
verifyNumbers(LoopFormAttr form, llvm::ArrayRef<NumberRule> rules,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// Checks the forms of a kernel whose only op with loops is the scatter.
mlir::LogicalResult
verifyScatterForms(ScatterOp op, LoopCaseAttr loopCase,
                   llvm::ArrayRef<NumberRule> rules,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_FORMS_H
