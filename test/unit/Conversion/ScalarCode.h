//===- ScalarCode.h - Scalar functions, compiled for a test ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_CONVERSION_SCALARCODE_H
#define LUMINAL_TEST_UNIT_CONVERSION_SCALARCODE_H

#include "Jit.h"
#include "luminal/Conversion/ScalarMath.h"
#include "gtest/gtest.h"

#include <functional>

namespace luminal {

constexpr int kLanes = 16;

/// A function of one or two operands, compiled at two widths: `run(out, x, y)`
/// does kLanes elements or one.
class Compiled {
public:
  using Run = void (*)(void *out, const void *x, const void *y);
  Run vector = nullptr, scalar = nullptr;

  using Body = std::function<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                         mlir::Value, mlir::Value)>;
  Compiled(llvm::StringRef name,
           llvm::function_ref<mlir::Type(mlir::Builder &)> in, const Body &body)
      : jit([&](mlir::ImplicitLocOpBuilder &b) {
          using namespace mlir;
          for (bool isVector : {true, false})
            addFunction(b, isVector ? "vector" : "scalar", 3,
                        [&](ValueRange arguments) {
                          auto shaped = [&](Type t) {
                            return isVector ? Type(VectorType::get({kLanes}, t))
                                            : t;
                          };
                          auto load = [&](int i) {
                            return LLVM::LoadOp::create(b, shaped(in(b)),
                                                        arguments[i], 1);
                          };
                          LLVM::StoreOp::create(b, body(b, load(1), load(2)),
                                                arguments[0], 1);
                        });
        }) {
    vector = jit.lookup<Run>("vector");
    scalar = jit.lookup<Run>("scalar");
    EXPECT_TRUE(vector && scalar) << "lowering of " << name.str() << " failed";
  }

private:
  Jit jit;
};

} // namespace luminal

#endif // LUMINAL_TEST_UNIT_CONVERSION_SCALARCODE_H
