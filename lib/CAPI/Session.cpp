//===- Session.cpp - Saturation sessions of the C interface ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compile.h"
#include "Error.h"
#include "Handles.h"
#include "luminal/EqSat/Program/SaturationSession.h"
#include "luminal/InitAll.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"

using namespace luminal;
using luminal::capi::Diagnostics;
using luminal::capi::fail;
using luminal::eqsat::SaturationSession;

struct luminal_session {
  /// Multithreaded, since several threads may print candidates at once.
  mlir::MLIRContext context{mlir::MLIRContext::Threading::ENABLED};
  std::unique_ptr<SaturationSession> session;
};

struct luminal_candidate {
  eqsat::Candidate candidate;
  /// Identifies the session; not dereferenced.
  const luminal_session *owner;
};

/// Calls `f`; if it fails, its first diagnostic becomes the error message.
template <typename F>
static luminal_status report(mlir::MLIRContext &context,
                             luminal_error_code code, F &&f) {
  luminal_compile_request request = {};
  Diagnostics diagnostics(request);
  // The handler receives diagnostics of all threads; keep only this thread's.
  const uint64_t self = llvm::get_threadid();
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) -> llvm::LogicalResult {
        if (llvm::get_threadid() != self)
          return mlir::failure();
        diagnostics.take(diagnostic);
        return mlir::success();
      });
  if (mlir::succeeded(f()))
    return LUMINAL_OK;
  return fail(diagnostics.getFirstError(), code);
}

/// Whether a session accepts this option of luminal-compile.
static bool isOfRules(llvm::StringRef option) {
  return option.starts_with("--eqsat-") || option.starts_with("--precision=") ||
         option.starts_with("--max-ulps=");
}

/// Parses the module and saturates its function.
static llvm::LogicalResult create(luminal_session &session,
                                  llvm::StringRef text, const char *name,
                                  const CompileOptions &options,
                                  bool keepProofs) {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name),
                             llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, &session.context);
  if (!module)
    return mlir::failure();
  mlir::func::FuncOp function;
  for (auto f : module->getOps<mlir::func::FuncOp>()) {
    if (f.isDeclaration())
      continue;
    if (function)
      return mlir::emitError(
          f.getLoc(),
          "a session takes a single function, but the module has another one");
    function = f;
  }
  if (!function)
    return mlir::emitError(module->getLoc(),
                           "the module has no function with a body");
  eqsat::RuleSelection selection;
  selection.files = options.rules;
  selection.noSets = options.ruleSets == std::vector<std::string>{"none"};
  if (!selection.noSets)
    selection.sets = options.ruleSets;
  eqsat::SessionOptions o;
  auto rules = eqsat::SessionRules::load(function.getLoc(), selection);
  auto precision = eqsat::findPrecision(function.getLoc(), options.precision,
                                        options.maxUlps);
  if (failed(rules) || failed(precision))
    return mlir::failure();
  o.rules = *rules;
  o.precision = *precision;
  o.limits = options.limits;
  o.keepProofs = keepProofs;
  auto made = SaturationSession::create(function, o);
  if (failed(made))
    return mlir::failure();
  session.session = std::move(*made);
  return mlir::success();
}

luminal_status luminal_session_create(const char *text, size_t size,
                                      const char *name,
                                      const char *const *texts,
                                      size_t numOptions,
                                      luminal_session **session) {
  if (!text || !name || !session || (!texts && numOptions > 0))
    return fail("luminal_session_create: null argument");
  CompileOptions options;
  bool keepProofs = false;
  for (size_t i = 0; i < numOptions; ++i) {
    if (texts[i] && llvm::StringRef(texts[i]) == "--keep-proofs")
      keepProofs = true;
    else if (!texts[i] || !isOfRules(texts[i]) ||
             !capi::takeOption(texts[i], options))
      return fail(std::string("luminal_session_create: bad option '") +
                  (texts[i] ? texts[i] : "") + "'");
  }
  static const bool registered = (registerAllPasses(), true);
  (void)registered;
  auto made = std::make_unique<luminal_session>();
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  made->context.appendDialectRegistry(registry);
  // Rules create ops of dialects that the program may not use.
  made->context.loadAllAvailableDialects();
  if (report(made->context, LUMINAL_ERROR_COMPILE, [&] {
        return create(*made, llvm::StringRef(text, size), name, options,
                      keepProofs);
      }))
    return LUMINAL_ERROR;
  *session = made.release();
  return LUMINAL_OK;
}

void luminal_session_free(luminal_session *session) { delete session; }

/// Returns the candidate chosen by `choose` in *candidate.
template <typename Choose>
static luminal_status take(const char *function, const luminal_session *session,
                           luminal_candidate **candidate, Choose &&choose) {
  if (!session || !candidate)
    return fail(std::string(function) + ": null argument");
  return report(const_cast<luminal_session *>(session)->context,
                LUMINAL_ERROR_COMPILE, [&]() -> llvm::LogicalResult {
                  auto chosen = choose(*session->session);
                  if (mlir::succeeded(chosen))
                    *candidate =
                        new luminal_candidate{std::move(*chosen), session};
                  return chosen;
                });
}

luminal_status luminal_session_best(const luminal_session *session,
                                    luminal_candidate **candidate) {
  return take("luminal_session_best", session, candidate,
              [](const SaturationSession &s) { return s.best(); });
}

luminal_status luminal_session_draw(const luminal_session *session,
                                    uint64_t seed, double strength,
                                    luminal_candidate **candidate) {
  // Also rejects NaN.
  if (!(strength >= 0 && strength <= 1000))
    return fail("luminal_session_draw: the strength is not between 0 and 1000");
  return take(
      "luminal_session_draw", session, candidate,
      [&](const SaturationSession &s) { return s.draw(seed, strength); });
}

const char *luminal_candidate_digest(const luminal_candidate *candidate) {
  return candidate ? candidate->candidate.digest.c_str() : "";
}

double luminal_candidate_cost(const luminal_candidate *candidate) {
  return candidate ? candidate->candidate.cost : 0;
}

void luminal_candidate_free(luminal_candidate *candidate) { delete candidate; }

/// Returns the text of the candidate that `print` writes to a stream.
template <typename Print>
static luminal_status print(const char *function,
                            const luminal_session *session,
                            const luminal_candidate *candidate,
                            luminal_buffer **text, Print &&print) {
  if (!session || !candidate || !text)
    return fail(std::string(function) + ": null argument");
  if (candidate->owner != session)
    return fail(std::string(function) +
                ": the candidate belongs to another session");
  return report(const_cast<luminal_session *>(session)->context,
                LUMINAL_ERROR_COMPILE, [&]() -> llvm::LogicalResult {
                  auto written = std::make_shared<std::string>();
                  llvm::raw_string_ostream stream(*written);
                  if (mlir::failed(print(*session->session,
                                         candidate->candidate, stream)))
                    return mlir::failure();
                  Bytes bytes;
                  bytes.data =
                      reinterpret_cast<const uint8_t *>(written->data());
                  bytes.size = written->size();
                  bytes.owner = std::move(written);
                  *text = new luminal_buffer{std::move(bytes)};
                  return mlir::success();
                });
}

luminal_status luminal_session_materialise(const luminal_session *session,
                                           const luminal_candidate *candidate,
                                           luminal_buffer **text) {
  return print("luminal_session_materialise", session, candidate, text,
               [](const SaturationSession &s, const eqsat::Candidate &c,
                  llvm::raw_ostream &stream) -> llvm::LogicalResult {
                 auto module = s.materialise(c);
                 if (succeeded(module))
                   stream << **module;
                 return module;
               });
}

luminal_status luminal_session_explain(const luminal_session *session,
                                       const luminal_candidate *candidate,
                                       luminal_buffer **text) {
  return print("luminal_session_explain", session, candidate, text,
               [](const SaturationSession &s, const eqsat::Candidate &c,
                  llvm::raw_ostream &stream) -> llvm::LogicalResult {
                 auto proof = s.explain(c);
                 if (succeeded(proof))
                   stream << proof->text;
                 return proof;
               });
}

luminal_status luminal_session_set_price(luminal_session *session,
                                         const char *key, double price) {
  if (!session || !key)
    return fail("luminal_session_set_price: null argument");
  unsigned used = 0;
  if (report(session->context, LUMINAL_ERROR_ARGUMENT,
             [&]() -> llvm::LogicalResult {
               auto set = session->session->setPrice(key, price);
               if (mlir::succeeded(set))
                 used = *set;
               return set;
             }))
    return LUMINAL_ERROR;
  if (used == 0)
    return fail(std::string("luminal_session_set_price: no op has the key '") +
                key + "'");
  return LUMINAL_OK;
}
