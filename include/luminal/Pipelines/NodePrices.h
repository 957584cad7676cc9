//===- NodePrices.h - Measured times as prices of an e-graph's nodes ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel consists of ops that extraction chose and that passes then moved,
// changed and fused. Marks in the locations of these ops say from which nodes
// they come: the time of a kernel is divided among its nodes in proportion to
// their prices in the cost model.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_PIPELINES_NODEPRICES_H
#define LUMINAL_PIPELINES_NODEPRICES_H

#include "luminal/EqSat/Program/SaturationSession.h"

#include <map>
#include <set>

namespace luminal {

/// The nodes of one program, numbered by their marks.
class MarkedNodes {
public:
  /// Marks the ops of a function that the session materialised.
  void mark(mlir::func::FuncOp function,
            const eqsat::SaturationSession &session);
  /// The marks in the op and in all ops nested in it, in order.
  static std::vector<unsigned> collect(mlir::Operation *op);
  /// Removes the marks.
  static void unmark(mlir::Operation *op);

private:
  friend class NodePrices;
  struct Node {
    std::string key;
    /// The price in the cost model of all runs in a call, and the number of
    /// these runs.
    double price, runs;
  };
  std::vector<Node> nodes;
};

/// Prices of nodes, learned from the measured times of programs.
class NodePrices {
public:
  /// A kernel that was timed: its nodes, and its seconds in one call.
  struct Timed {
    const std::vector<unsigned> *marks;
    double seconds;
  };
  /// Learns from the kernels of one call of a program. `left` are all marks
  /// that are left in the program; a node of these that is in no kernel runs
  /// before the call and costs nothing. Nodes that no program had keep the
  /// price of the model, so measured prices are scaled to the model's unit; the
  /// first program sets that scale. If several programs have a node, its lowest
  /// price is used.
  void learn(const MarkedNodes &nodes, llvm::ArrayRef<unsigned> left,
             llvm::ArrayRef<Timed> kernels);
  /// The prices that changed since the last call, by key.
  std::vector<std::pair<std::string, double>> take();

private:
  /// Number of units of the cost model per second.
  double scale = 0;
  std::map<std::string, double> prices;
  std::set<std::string> changed;
};

} // namespace luminal

#endif // LUMINAL_PIPELINES_NODEPRICES_H
