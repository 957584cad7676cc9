//===- ScanCode.cpp - The code of a scan's states -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScanCode.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace mlir;

namespace {
class Code : public ScanCode {
public:
  Code(ImplicitLocOpBuilder &b, Type from, Type to, Type carried)
      : b(b), from(from), to(to), carried(carried) {}

  State getElement(Value x, Value) const override {
    return {cast(x, from, carried)};
  }
  State getResults(ArrayRef<Value> state) const override {
    return {cast(state[0], carried, to)};
  }

protected:
  Value cast(Value x, Type a, Type b2) const {
    return a == b2 ? x : emitCast(b, x, a, b2);
  }
  Value number(Type type, double v) const {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, v));
  }
  Value integer(Type type, int64_t v) const {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, v));
  }
  Value select(Value condition, Value x, Value y) const {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) const {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value either(Value x, Value y) const { return arith::OrIOp::create(b, x, y); }
  Value both(Value x, Value y) const { return arith::AndIOp::create(b, x, y); }
  static constexpr double kInf = std::numeric_limits<double>::infinity();

  ImplicitLocOpBuilder &b;
  Type from, to;
  /// The type in which the state's first value is computed.
  Type carried;
};

/// A cumulative sum or product.
class Accumulation : public Code {
public:
  Accumulation(ImplicitLocOpBuilder &b, Type from, Type to, Type carried,
               bool isProduct)
      : Code(b, from, to, carried), isProduct(isProduct) {}

  State getIdentity() const override {
    return {isa<FloatType>(carried) ? number(carried, isProduct)
                                    : integer(carried, isProduct)};
  }
  State merge(ArrayRef<Value> x, ArrayRef<Value> y) const override {
    if (isa<FloatType>(carried))
      return {isProduct ? Value(arith::MulFOp::create(b, x[0], y[0]))
                        : Value(arith::AddFOp::create(b, x[0], y[0]))};
    return {isProduct ? Value(arith::MulIOp::create(b, x[0], y[0]))
                      : Value(arith::AddIOp::create(b, x[0], y[0]))};
  }

private:
  bool isProduct;
};

/// The running extremum; with `positions` also the last position of it, -1 if
/// there are no elements. NaN is beyond every number.
class Extremum : public Code {
public:
  Extremum(ImplicitLocOpBuilder &b, Type from, Type to, Type carried,
           bool isLargest, bool positions)
      : Code(b, from, to, carried), isLargest(isLargest), positions(positions) {
  }

  State getIdentity() const override {
    State state;
    if (isa<FloatType>(carried)) {
      state.push_back(number(carried, isLargest ? -kInf : kInf));
    } else {
      unsigned bits = carried.getIntOrFloatBitWidth();
      APInt least = isLargest ? APInt::getSignedMinValue(bits)
                              : APInt::getSignedMaxValue(bits);
      state.push_back(
          arith::ConstantOp::create(b, b.getIntegerAttr(carried, least)));
    }
    if (positions)
      state.push_back(integer(b.getI64Type(), -1));
    return state;
  }
  State getElement(Value x, Value place) const override {
    State state = {cast(x, from, carried)};
    if (positions)
      state.push_back(place);
    return state;
  }
  State merge(ArrayRef<Value> x, ArrayRef<Value> y) const override {
    Value isBeyond, isEqual;
    if (isa<FloatType>(carried)) {
      using arith::CmpFPredicate;
      Value nanX = compare(CmpFPredicate::UNO, x[0], x[0]),
            nanY = compare(CmpFPredicate::UNO, y[0], y[0]);
      // Unordered comparisons count as beyond; an earlier NaN stays.
      isBeyond = compare(isLargest ? CmpFPredicate::UGT : CmpFPredicate::ULT,
                         y[0], x[0]);
      Value no = arith::ConstantOp::create(b, b.getBoolAttr(false));
      isBeyond = select(nanX, no, isBeyond);
      isEqual =
          either(compare(CmpFPredicate::OEQ, x[0], y[0]), both(nanX, nanY));
    } else {
      using arith::CmpIPredicate;
      isBeyond = compare(isLargest ? CmpIPredicate::sgt : CmpIPredicate::slt,
                         y[0], x[0]);
      isEqual = compare(CmpIPredicate::eq, x[0], y[0]);
    }
    State state = {select(isBeyond, y[0], x[0])};
    if (positions)
      state.push_back(select(isEqual, arith::MaxSIOp::create(b, x[1], y[1]),
                             select(isBeyond, y[1], x[1])));
    return state;
  }
  State getResults(ArrayRef<Value> state) const override {
    // The extremum has the element type.
    Value extremum = cast(state[0], carried, from);
    return positions ? State{state[1], extremum} : State{extremum};
  }

private:
  bool isLargest, positions;
};

/// The running maximum, and the sum of exponentials relative to it.
class LogSumExp : public Code {
public:
  using Code::Code;

  State getIdentity() const override {
    return {number(carried, -kInf), number(carried, 0)};
  }
  State getElement(Value x, Value) const override {
    return {cast(x, from, carried), number(carried, 1)};
  }
  State merge(ArrayRef<Value> x, ArrayRef<Value> y) const override {
    Value most = emitMax(b, x[0], y[0]);
    // Equal infinities have no difference: the factor is 1.
    auto scale = [&](ArrayRef<Value> state) -> Value {
      Value difference = arith::SubFOp::create(b, state[0], most);
      Value factor = emitFn(b, llir::Fn::Exp, difference, carried);
      factor = select(compare(arith::CmpFPredicate::OEQ, state[0], most),
                      number(carried, 1), factor);
      return arith::MulFOp::create(b, state[1], factor);
    };
    return {most, arith::AddFOp::create(b, scale(x), scale(y))};
  }
  State getResults(ArrayRef<Value> state) const override {
    Value log = emitFn(b, llir::Fn::Log, state[1], carried);
    return {cast(arith::AddFOp::create(b, state[0], log), carried, to)};
  }
};
} // namespace

std::unique_ptr<ScanCode> luminal::makeScanCode(ImplicitLocOpBuilder &b,
                                                llir::ScanKind kind, Type from,
                                                Type to, bool positions) {
  Type carried = llir::getScanStates(kind, from, to, positions)[0];
  switch (kind) {
  case llir::ScanKind::Sum:
  case llir::ScanKind::Product:
    return std::make_unique<Accumulation>(b, from, to, carried,
                                          kind == llir::ScanKind::Product);
  case llir::ScanKind::Max:
  case llir::ScanKind::Min:
    return std::make_unique<Extremum>(b, from, to, carried,
                                      kind == llir::ScanKind::Max, positions);
  case llir::ScanKind::LogSumExp:
    return std::make_unique<LogSumExp>(b, from, to, carried);
  }
  llvm_unreachable("a kind of scan");
}
