//===- Team.cpp - Thread groups -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Thread groups. Consecutive vectors of a row go to consecutive threads, so
// that accesses coalesce. The states of a reduction are merged within a warp by
// shuffles at distance 16, 8, ... 1 (of several states, each thread of a pair
// takes half), then across the warps of a block through shared memory, in warp
// order. Every thread gets the result, and its bits depend only on the
// schedule.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Utils/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value>
Emitter::teamLoop(unsigned dim, const Span &span, unsigned width,
                  unsigned unroll, ValueRange init,
                  function_ref<SmallVector<Value>(ValueRange)> body,
                  function_ref<void(unsigned)> load) {
  Team saved = team;
  Lane outer = lane;
  // Loops inside the body are not distributed again.
  team = Team();
  int64_t round = int64_t(width) * saved.count;
  Value n = add(span.lo, span.length), step = constant(round);
  Value offset = mul(saved.member, constant(width));
  auto atDim = [&](unsigned dim, Value begin, unsigned u, Value count) {
    setDim(dim, add(add(begin, constant(u * round)), offset));
    if (width > 1)
      setLane(dim, width, count);
  };
  auto at = [&](Value begin, unsigned u, Value count) {
    atDim(dim, begin, u, count);
  };
  SmallVector<unsigned> ownDims;
  for (unsigned u = 0; load && u < unroll; ++u)
    ownDims.push_back(addDim(getExtents()[dim]));
  // Full rounds, `unroll` at a time.
  Value block = constant(round * unroll),
        whole = sub(n, remU(span.length, block));
  SmallVector<Value> state(init);
  state = forLoop(span.lo, whole, block, state,
                  [&](Value begin, ValueRange carried) {
                    SmallVector<Value> next(carried);
                    for (auto [u, own] : llvm::enumerate(ownDims)) {
                      atDim(own, begin, u, {});
                      load(own);
                    }
                    for (unsigned u = 0; u < unroll; ++u) {
                      MemoScope scope(*this);
                      at(begin, u, {});
                      next = body(next);
                    }
                    return next;
                  });
  // Remaining rounds, in which some threads have no vector or a partial one.
  if (!isWhole(span, round * unroll)) {
    bool isPartial = width > 1 && !isWhole(span, width);
    state =
        forLoop(whole, n, step, state, [&](Value begin, ValueRange carried) {
          clearLane();
          Value position = add(begin, offset);
          auto take = [&] {
            Value count;
            if (isPartial)
              count = minS(sub(n, position), constant(width));
            at(begin, 0, count);
            return body(carried);
          };
          SmallVector<Value> same(carried);
          return ifElse(less(position, n), carried.getTypes(), take,
                        [&] { return same; });
        });
  }
  lane = outer;
  team = saved;
  return state;
}

void Emitter::byOneMember(function_ref<void()> body) {
  if (team.count == 1)
    return body();
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        team.member, constant(0));
  ifThen(isFirst, body);
}

Value Emitter::shareFlag(Value flag) {
  if (team.count == 1)
    return flag;
  if (team.count <= team.warp) {
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          team.member, constant(0));
    Value known = arith::AndIOp::create(b, isFirst, flag);
    // The vote distributes the flag but does not order memory.
    Value shared = NVVM::VoteSyncOp::create(b, b.getI1Type(), team.mask, known,
                                            NVVM::VoteSyncKind::any);
    NVVM::SyncWarpOp::create(b, team.mask);
    return shared;
  }
  Type i8 = b.getI8Type();
  Value memory = makeShared(i8, 1);
  // All threads are done with the memory's previous contents.
  NVVM::Barrier0Op::create(b);
  byOneMember([&] {
    LLVM::StoreOp::create(b, arith::ExtUIOp::create(b, i8, flag), memory, 1);
  });
  NVVM::Barrier0Op::create(b);
  return arith::TruncIOp::create(b, b.getI1Type(),
                                 LLVM::LoadOp::create(b, i8, memory, 1));
}

Value Emitter::countLeading(Value flag, const Team &team) {
  if (team.count == 1)
    return arith::ExtUIOp::create(b, b.getI64Type(), flag);
  Type i32 = b.getI32Type();
  Value flags = NVVM::VoteSyncOp::create(b, i32, team.mask, flag,
                                         NVVM::VoteSyncKind::ballot);
  Value others = arith::XOrIOp::create(
      b, flags, arith::ConstantOp::create(b, b.getI32IntegerAttr(-1)));
  Value count = LLVM::CountTrailingZerosOp::create(b, i32, others,
                                                   /*is_zero_poison=*/false);
  return arith::ExtUIOp::create(b, b.getI64Type(), count);
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

/// `v` of the thread of the warp that `distance` (i32) and `kind` select.
static Value exchange(ImplicitLocOpBuilder &b, Value v, Value mask,
                      Value distance, NVVM::ShflKind kind) {
  Type type = v.getType(), i32 = b.getI32Type();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  if (type != integer)
    v = arith::BitcastOp::create(b, integer, v);
  auto number = [&](Type type, int64_t n) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, n));
  };
  auto word = [&](Value x) -> Value {
    // Threads whose source would be out of range keep their own value.
    const int64_t clamp = kind == NVVM::ShflKind::up ? 0 : 31;
    return NVVM::ShflOp::create(b, i32, mask, x, distance, number(i32, clamp),
                                kind, UnitAttr());
  };
  if (bits < 32) {
    v = arith::TruncIOp::create(b, integer,
                                word(arith::ExtUIOp::create(b, i32, v)));
  } else if (bits == 32) {
    v = word(v);
  } else {
    Value shift = number(integer, 32);
    Value low = word(arith::TruncIOp::create(b, i32, v));
    Value high = word(
        arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, v, shift)));
    low = arith::ExtUIOp::create(b, integer, low);
    high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, integer, high),
                                 shift);
    v = arith::OrIOp::create(b, low, high);
  }
  return type == integer ? v : Value(arith::BitcastOp::create(b, type, v));
}

Value Emitter::getOfNeighbour(Value v, unsigned distance) {
  auto number = [&](int32_t n) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(n));
  };
  return exchange(b, v, number(-1), number(int32_t(distance)),
                  NVVM::ShflKind::bfly);
}

/// Adds a global variable of shared memory before the function.
static Value addShared(Emitter &e, Type type, LLVM::Linkage linkage,
                       unsigned alignment) {
  ImplicitLocOpBuilder &b = e.b;
  Operation *parent = b.getBlock()->getParentOp();
  auto function = dyn_cast<LLVM::LLVMFuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<LLVM::LLVMFuncOp>();
  constexpr unsigned space =
      static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  std::string name =
      (function.getSymName() + "_shared_" + Twine(e.globals.size())).str();
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function);
    global = LLVM::GlobalOp::create(b, type, /*isConstant=*/false, linkage,
                                    name, Attribute(), alignment, space);
  }
  e.globals.push_back(global);
  // LLVM infers the address space again from the cast.
  return LLVM::AddrSpaceCastOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()),
      LLVM::AddressOfOp::create(b, global));
}

void Emitter::setResidents(int64_t blocks) {
  // Not for one of several kernels in a function.
  if (auto function = dyn_cast<LLVM::LLVMFuncOp>(b.getBlock()->getParentOp()))
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      b.getI32IntegerAttr(static_cast<int32_t>(blocks)));
}

Value Emitter::makeShared(Type element, int64_t count) {
  constexpr int64_t kAlignment = 16;
  if (sharedMemory) {
    Value begin = address(sharedMemory, constant(sharedTaken), b.getI8Type());
    const int64_t bytes = count * element.getIntOrFloatBitWidth() / 8;
    sharedTaken += llvm::alignTo(bytes, kAlignment);
    return begin;
  }
  return addShared(*this, LLVM::LLVMArrayType::get(element, count),
                   LLVM::Linkage::Internal, kAlignment);
}

Value Emitter::makeLaunchShared() {
  return addShared(*this, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                   LLVM::Linkage::External, llir::kLaunchSharedAlignment);
}

SmallVector<Value> luminal::emitPTX(ImplicitLocOpBuilder &b, StringRef text,
                                    ValueRange args, StringRef constraints,
                                    ArrayRef<Type> results) {
  TypeRange none;
  Type all = LLVM::LLVMStructType::getLiteral(b.getContext(), results);
  auto call = LLVM::InlineAsmOp::create(
      b, results.empty() ? none : TypeRange(all), args, text, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> values;
  for (size_t i = 0; i < results.size(); ++i)
    values.push_back(
        LLVM::ExtractValueOp::create(b, call.getResult(0), int64_t(i)));
  return values;
}

Value luminal::makeThreadMemory(Emitter &e, Type type, int64_t count) {
  OpBuilder::InsertionGuard guard(e.b);
  Operation *function = e.b.getBlock()->getParentOp();
  if (!isa<LLVM::LLVMFuncOp>(function))
    function = function->getParentOfType<LLVM::LLVMFuncOp>();
  e.b.setInsertionPointToStart(
      &cast<LLVM::LLVMFuncOp>(function).getBody().front());
  return LLVM::AllocaOp::create(e.b,
                                LLVM::LLVMPointerType::get(e.b.getContext()),
                                type, e.constant(count), /*alignment=*/16);
}

Value luminal::getThreadMask(Emitter &e, Value thread, unsigned count) {
  ImplicitLocOpBuilder &b = e.b;
  const unsigned warp = e.machine.warpThreads;
  if (count >= warp)
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(-1));
  Value inWarp = e.remU(thread, e.constant(warp));
  Value first = e.sub(inWarp, e.remU(thread, e.constant(count)));
  Value bits = arith::ConstantOp::create(
      b, b.getI32IntegerAttr(int32_t((uint32_t(1) << count) - 1)));
  return arith::ShLIOp::create(
      b, bits, arith::TruncIOp::create(b, b.getI32Type(), first));
}

SmallVector<SmallVector<Value>>
Emitter::computeInParts(int64_t parts,
                        function_ref<SmallVector<Value>(Value)> compute) {
  Team whole = team;
  const auto count = static_cast<unsigned>(whole.count / parts);
  Value number = divU(whole.member, constant(count));
  team = {count, remU(whole.member, constant(count)), whole.warp,
          getThreadMask(*this, whole.member, count), number};
  SmallVector<Value> own = compute(number);
  SmallVector<Value> memory;
  for (Value v : own)
    memory.push_back(makeShared(getStorageType(v.getType()), parts));
  auto slot = [&](size_t i, Value part) -> Value {
    return LLVM::GEPOp::create(b, memory[i].getType(),
                               getStorageType(own[i].getType()), memory[i],
                               ArrayRef<LLVM::GEPArg>{part});
  };
  // All threads are done with the memory's previous contents.
  NVVM::Barrier0Op::create(b);
  byOneMember([&] {
    for (auto [i, v] : llvm::enumerate(own))
      LLVM::StoreOp::create(b, toStorage(v, v.getType()), slot(i, number));
  });
  team = whole;
  NVVM::Barrier0Op::create(b);
  SmallVector<SmallVector<Value>> all;
  for (int64_t part = 0; part < parts; ++part) {
    SmallVector<Value> &values = all.emplace_back();
    for (auto [i, v] : llvm::enumerate(own))
      values.push_back(
          fromStorage(LLVM::LoadOp::create(b, getStorageType(v.getType()),
                                           slot(i, constant(part))),
                      v.getType()));
  }
  return all;
}

SmallVector<Value> Emitter::mergeTeam(ReductionEmissionOpInterface op,
                                      SmallVector<Value> state) {
  SmallVector<Value> states[] = {std::move(state)};
  mergeTeam(op, states);
  return std::move(states[0]);
}

namespace {
/// States of one op that are merged together: a power of two of them, at most
/// the number of the group's threads in a warp.
struct MergedStates {
  ReductionEmissionOpInterface op;
  MutableArrayRef<SmallVector<Value>> states;
  /// After the exchange within a warp, thread i holds the merged state i /
  /// each.
  SmallVector<Value> own;
  unsigned each = 1;
  /// Shared memory for each value of a state, for all warps, state by state.
  SmallVector<std::pair<Type, Value>> memory;
};
} // namespace

/// The threads of a warp exchange halves of their states, so that each merges
/// half as many at every distance, and then merge the remaining one.
static void mergeWarp(Emitter &e, MergedStates &m, Value member,
                      unsigned inWarp) {
  ImplicitLocOpBuilder &b = e.b;
  SmallVector<SmallVector<Value>> have(m.states.begin(), m.states.end());
  m.each = inWarp / have.size();
  for (unsigned distance = inWarp / 2; distance > 0; distance /= 2) {
    Value far =
        arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(distance)));
    size_t half = have.size() / 2;
    Value isUpper;
    if (half) {
      Value bit = arith::AndIOp::create(b, member, e.constant(distance));
      isUpper = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit,
                                      e.constant(0));
    }
    for (size_t i = 0; i < std::max<size_t>(1, half); ++i) {
      SmallVector<Value> kept = have[i], other;
      for (size_t k = 0; k < kept.size(); ++k) {
        Value sent = kept[k];
        if (half) {
          Value upper = have[i + half][k];
          kept[k] = arith::SelectOp::create(b, isUpper, upper, sent);
          sent = arith::SelectOp::create(b, isUpper, sent, upper);
        }
        other.push_back(
            exchange(b, sent, e.team.mask, far, NVVM::ShflKind::bfly));
      }
      have[i] = m.op.emitMerge(b, kept, other);
    }
    have.resize(std::max<size_t>(1, half));
  }
  m.own = std::move(have[0]);
}

void Emitter::mergeTeam(ArrayRef<ReductionEmissionOpInterface> ops,
                        MutableArrayRef<SmallVector<Value>> states) {
  unsigned inWarp = std::min(team.count, team.warp);
  SmallVector<MergedStates> merged;
  for (size_t i = 0; i < ops.size();) {
    size_t count = 1;
    while (i + count < ops.size() && ops[i + count] == ops[i])
      ++count;
    count = llvm::bit_floor(std::min<size_t>(count, inWarp));
    merged.push_back({ops[i], states.slice(i, count), {}, 1, {}});
    i += count;
  }
  Value inLane = team.count > team.warp ? remU(team.member, constant(team.warp))
                                        : team.member;
  for (MergedStates &m : merged)
    mergeWarp(*this, m, inLane, inWarp);
  Type i32 = b.getI32Type();
  if (team.count <= team.warp) {
    for (MergedStates &m : merged) {
      if (m.states.size() == 1) {
        m.states[0] = m.own;
        continue;
      }
      Value thread = NVVM::ThreadIdXOp::create(b, i32);
      Value lanes =
          arith::ConstantOp::create(b, b.getI32IntegerAttr(team.warp - 1));
      Value first =
          arith::SubIOp::create(b, arith::AndIOp::create(b, thread, lanes),
                                arith::TruncIOp::create(b, i32, team.member));
      for (auto [i, state] : llvm::enumerate(m.states)) {
        Value from = arith::AddIOp::create(
            b, first,
            arith::ConstantOp::create(
                b, b.getI32IntegerAttr(int32_t(i * m.each))));
        for (auto [v, own] : llvm::zip_equal(state, m.own))
          v = exchange(b, own, team.mask, from, NVVM::ShflKind::idx);
      }
    }
    return;
  }
  // One slot for each state, warp and value.
  int64_t warps = team.count / team.warp;
  Value warp = divU(team.member, constant(team.warp));
  auto slot = [&](const std::pair<Type, Value> &memory, Value number) -> Value {
    return LLVM::GEPOp::create(b, memory.second.getType(),
                               getStorageType(memory.first), memory.second,
                               ArrayRef<LLVM::GEPArg>{number});
  };
  for (MergedStates &m : merged)
    for (Type type :
         cast<llir::ReductionOpInterface>(m.op.getOperation()).getStateTypes())
      m.memory.push_back(
          {type, makeShared(getStorageType(type), warps * m.states.size())});
  // All threads are done with the memory's previous contents.
  NVVM::Barrier0Op::create(b);
  for (MergedStates &m : merged) {
    Value each = constant(m.each);
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          remU(inLane, each), constant(0));
    ifThen(isFirst, [&] {
      Value number = add(mul(divU(inLane, each), constant(warps)), warp);
      for (auto [memory, v] : llvm::zip_equal(m.memory, m.own))
        LLVM::StoreOp::create(b, toStorage(v, memory.first),
                              slot(memory, number));
    });
  }
  NVVM::Barrier0Op::create(b);
  for (MergedStates &m : merged)
    for (auto [i, state] : llvm::enumerate(m.states)) {
      auto read = [&, i = int64_t(i)](int64_t number) {
        SmallVector<Value> values;
        for (const auto &memory : m.memory)
          values.push_back(fromStorage(
              LLVM::LoadOp::create(b, getStorageType(memory.first),
                                   slot(memory, constant(i * warps + number))),
              memory.first));
        return values;
      };
      state = read(0);
      for (int64_t number = 1; number < warps; ++number)
        state = m.op.emitMerge(b, state, read(number));
    }
}

Emitter::TeamScan Emitter::scanTeam(SmallVector<Value> state,
                                    ArrayRef<Value> identity, MergeFn merge) {
  if (team.count == 1)
    return {SmallVector<Value>(identity), state};
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(
        b, b.getI32IntegerAttr(static_cast<int32_t>(n)));
  };
  auto fromBelow = [&](ArrayRef<Value> values, int64_t distance) {
    return llvm::map_to_vector(values, [&](Value v) {
      return exchange(b, v, team.mask, number(distance), NVVM::ShflKind::up);
    });
  };
  auto choose = [&](Value condition, ArrayRef<Value> x, ArrayRef<Value> y) {
    SmallVector<Value> chosen;
    for (auto [a, b2] : llvm::zip_equal(x, y))
      chosen.push_back(arith::SelectOp::create(b, condition, a, b2));
    return chosen;
  };
  assert(team.count % team.warp == 0 && "whole warps exchange");
  Value inLane = remU(team.member, constant(team.warp));
  for (unsigned distance = 1; distance < team.warp; distance *= 2) {
    SmallVector<Value> below = fromBelow(state, distance);
    Value hasBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, inLane,
                                           constant(distance));
    state = choose(hasBelow, merge(below, state), state);
  }
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inLane, constant(0));
  SmallVector<Value> before = choose(isFirst, identity, fromBelow(state, 1));
  if (team.count == team.warp)
    return {before, llvm::map_to_vector(state, [&](Value v) {
              return exchange(b, v, team.mask, number(team.warp - 1),
                              NVVM::ShflKind::idx);
            })};
  // One slot for each warp and value.
  const int64_t warps = team.count / team.warp;
  Value warp = divU(team.member, constant(team.warp));
  SmallVector<Value> memory;
  for (Value v : state)
    memory.push_back(makeShared(v.getType(), warps));
  auto getBytes = [](Value v) {
    return v.getType().getIntOrFloatBitWidth() / 8;
  };
  // All threads are done with the memory of an earlier scan.
  NVVM::Barrier0Op::create(b);
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inLane,
                                       constant(team.warp - 1));
  ifThen(isLast, [&] {
    for (auto [v, base] : llvm::zip_equal(state, memory))
      LLVM::StoreOp::create(b, v, address(base, warp, v.getType()),
                            getBytes(v));
  });
  NVVM::Barrier0Op::create(b);
  SmallVector<Value> all(identity), ofWarps(identity);
  for (int64_t w = 0; w < warps; ++w) {
    SmallVector<Value> next;
    for (auto [v, base] : llvm::zip_equal(state, memory))
      next.push_back(LLVM::LoadOp::create(
          b, v.getType(), address(base, constant(w), v.getType()),
          getBytes(v)));
    Value isBefore =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, constant(w), warp);
    all = w == 0 ? next : merge(all, next);
    // Keep the total of the warps before this one.
    ofWarps = choose(isBefore, all, ofWarps);
  }
  return {merge(ofWarps, before), all};
}
