//===- NodePrices.h - Measured times as prices of an e-graph's nodes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel is made of ops that an extraction chose, which passes moved, changed
// and joined. Marks in their locations say which: what a kernel takes is shared
// among its nodes as the cost model has it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_PIPELINES_NODEPRICES_H
#define LUMINAL_PIPELINES_NODEPRICES_H

#include "luminal/EqSat/Program/SaturationSession.h"

#include <map>
#include <set>

namespace luminal {

/// The nodes of one program, by their marks.
class MarkedNodes {
public:
  /// Marks what the function holds, which the session gave.
  void mark(mlir::func::FuncOp function,
            const eqsat::SaturationSession &session);
  /// The marks in the op and in all that it holds, in order.
  static std::vector<unsigned> collect(mlir::Operation *op);
  /// Takes the marks off again.
  static void unmark(mlir::Operation *op);

private:
  friend class NodePrices;
  struct Node {
    std::string key;
    /// By the cost model, and how often a call runs it.
    double price, runs;
  };
  std::vector<Node> nodes;
};

/// What nodes cost, learned from programs that were timed.
class NodePrices {
public:
  /// A kernel that ran: its nodes, and its seconds in a call.
  struct Timed {
    const std::vector<unsigned> *marks;
    double seconds;
  };
  /// Learns from the kernels of a program's call, and from the marks that are
  /// left in it at all: what is in none of the kernels runs before a call. The
  /// prices of nodes that no program had stay those of the model: so all are on
  /// its scale, which the first program sets. Of several programs the cheapest
  /// counts.
  void learn(const MarkedNodes &nodes, llvm::ArrayRef<unsigned> left,
             llvm::ArrayRef<Timed> kernels);
  /// What changed since it was last asked for, by key.
  std::vector<std::pair<std::string, double>> take();

private:
  /// Of the model's unit in a second.
  double scale = 0;
  std::map<std::string, double> prices;
  std::set<std::string> changed;
};

} // namespace luminal

#endif // LUMINAL_PIPELINES_NODEPRICES_H
