//===- Recurrent.cpp - LSTM, GRU and plain recurrent layers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps are unrolled, so the sequence's length must be constant. The products
// with the inputs are computed for all steps at once.
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

namespace {
enum class Cell { LSTM, GRU, Tanh, Relu };

/// The parameters of one layer in one direction.
struct Weights {
  Value input, hidden;
  std::optional<Value> inputBias, hiddenBias, projection;
};
struct State {
  Value hidden;
  std::optional<Value> cell; ///< of an LSTM
};
} // namespace

static Value plus(OpCall &o, Value x, std::optional<Value> bias) {
  return bias ? o.c.add(x, o.broadcastTo(*bias, o.extents(x))) : x;
}

/// Part k of `parts` equal parts along the last dim.
static Value part(OpCall &o, Value x, unsigned k, unsigned parts) {
  unsigned last = o.rank(x) - 1;
  int64_t n = *o.extents(x)[last].asConstant() / parts;
  return o.c.slice(x, last, Expr(int64_t(k) * n), Expr(n));
}

/// The next state. `gates`, [batch, gates], is the input's contribution.
static State step(OpCall &o, Cell cell, Value gates, const State &state,
                  const Weights &w) {
  Composer &c = o.c;
  Value fromHidden = c.linear(state.hidden, w.hidden);
  if (cell == Cell::GRU) {
    Value h = plus(o, fromHidden, w.hiddenBias);
    auto gate = [&](unsigned k) {
      return c.sigmoid(c.add(part(o, gates, k, 3), part(o, h, k, 3)));
    };
    Value reset = gate(0), update = gate(1);
    Value fresh =
        c.tanh(c.add(part(o, gates, 2, 3), c.mul(reset, part(o, h, 2, 3))));
    Value change = c.mul(update, c.sub(state.hidden, fresh));
    return {c.add(fresh, change), {}};
  }
  Value sum = plus(o, c.add(gates, fromHidden), w.hiddenBias);
  if (cell != Cell::LSTM)
    return {cell == Cell::Tanh ? c.tanh(sum) : c.relu(sum), {}};
  Value in = c.sigmoid(part(o, sum, 0, 4)),
        forget = c.sigmoid(part(o, sum, 1, 4)),
        fresh = c.tanh(part(o, sum, 2, 4)), out = c.sigmoid(part(o, sum, 3, 4));
  Value kept = c.add(c.mul(forget, *state.cell), c.mul(in, fresh));
  Value hidden = c.mul(out, c.tanh(kept));
  return {w.projection ? c.linear(hidden, *w.projection) : hidden, kept};
}

/// Checks that the parameters match an input and a state of these widths.
static Status checkWeights(OpCall &o, Cell cell, const Weights &w,
                           const Expr &in, const State &state) {
  int64_t gates = cell == Cell::LSTM ? 4 : cell == Cell::GRU ? 3 : 1;
  auto width = o.extents(state.cell.value_or(state.hidden)).back();
  Expr hidden = o.extents(state.hidden).back();
  auto fits = [&](std::optional<Value> v, ArrayRef<Expr> shape) {
    if (!v)
      return true;
    bool same =
        o.rank(*v) == shape.size() && o.element(*v) == o.element(state.hidden);
    for (unsigned i = 0; same && i < shape.size(); ++i)
      same = o.agree(o.extents(*v)[i], shape[i]);
    return same;
  };
  Expr all = width * Expr(gates);
  if (!width.asConstant() || !fits(w.input, {all, in}) ||
      !fits(w.hidden, {all, hidden}) || !fits(w.inputBias, {all}) ||
      !fits(w.hiddenBias, {all}) || !fits(w.projection, {hidden, width}) ||
      (!w.projection && !o.agree(hidden, width)))
    return o.fail("the parameters do not fit the input and the state");
  return {};
}

/// All steps of one layer in one direction over [time, batch, in].
static Value run(OpCall &o, Cell cell, Value x, State &state, const Weights &w,
                 int64_t length, bool backward) {
  Composer &c = o.c;
  Value gates = plus(o, c.linear(x, w.input), w.inputBias);
  SmallVector<Value> outputs(length);
  for (int64_t i = 0; i < length; ++i) {
    int64_t t = backward ? length - 1 - i : i;
    Value row = c.squeeze(c.slice(gates, 0, Expr(t), Expr(1)), 0);
    state = step(o, cell, row, state, w);
    outputs[t] = c.unsqueeze(state.hidden, 0);
  }
  return concatenate(o, outputs, 0);
}

/// The number of steps, each of which is unrolled.
static Result<int64_t> knownLength(OpCall &o, const Expr &extent) {
  auto length = extent.asConstant();
  if (!length)
    return o.fail("the sequence's length " + extent.str() +
                  " is known only at run time");
  if (*length == 0)
    return o.fail("the sequence is empty");
  if (*length > kMaxListed)
    return o.fail("the sequence has more than " + Twine(kMaxListed) +
                  " steps, which would be unrolled");
  return *length;
}

template <Cell cell>
static Status recurrent(OpCall &o) {
  Composer &c = o.c;
  constexpr bool isLSTM = cell == Cell::LSTM;
  Value x = o.tensor("input");
  SmallVector<Value> params = o.tensors("params"), states;
  if (isLSTM)
    states = o.tensors("hx");
  else
    states = {o.tensor("hx")};
  bool biases = o.flag("has_biases"), bidirectional = o.flag("bidirectional"),
       batchFirst = o.flag("batch_first");
  int64_t layers = o.integer("num_layers");
  if (o.flag("train") && o.real("dropout") != 0)
    return o.fail("draws random numbers (train is true)");
  o.ignore({"dropout"});
  Type type = o.element(x), wide = o.opmath(type);
  if (!isa<FloatType>(type) || o.rank(x) != 3 ||
      states.size() != (isLSTM ? 2 : 1))
    return o.fail("takes floats [time, batch, channel] and their states");
  if (layers <= 0 || layers > kMaxRepeats)
    return o.fail("has no layers, or more than " + Twine(kMaxRepeats));
  int64_t directions = bidirectional ? 2 : 1, count = layers * directions;
  for (Value v : states)
    if (o.rank(v) != 3 || o.element(v) != type ||
        !o.extents(v)[0].isConstant(count) || !o.extents(v)[2].asConstant())
      return o.fail("a state does not fit the layers");
  bool projected = isLSTM && !o.provablyEqual(o.extents(states[0])[2],
                                              o.extents(states[1])[2]);
  size_t each = 2 + (biases ? 2 : 0) + (projected ? 1 : 0);
  if (params.size() != each * count)
    return o.fail("has another number of parameters than the layers take");
  if (batchFirst)
    x = c.permute(x, {1, 0, 2});
  LUMINAL_TRY(length, knownLength(o, o.extents(x)[0]));
  for (Value &v : states) {
    SmallVector<Expr> shape = o.extents(v);
    shape[1] = o.extents(x)[1];
    if (!o.agree(o.extents(v), shape))
      return o.fail("a state does not fit the batch");
    v = c.broadcastTo(v, shape);
  }

  x = c.cast(x, wide);
  SmallVector<Value> hidden, cells;
  for (int64_t layer = 0; layer < layers; ++layer) {
    SmallVector<Value> sides;
    for (int64_t d = 0; d < directions; ++d) {
      int64_t k = layer * directions + d;
      auto param = [&](size_t i) { return c.cast(params[k * each + i], wide); };
      Weights w{param(0), param(1), {}, {}, {}};
      if (biases)
        w.inputBias = param(2), w.hiddenBias = param(3);
      if (projected)
        w.projection = param(each - 1);
      auto initial = [&](Value v) {
        return c.cast(c.squeeze(c.slice(v, 0, Expr(k), Expr(1)), 0), wide);
      };
      State state{initial(states[0]), {}};
      if (isLSTM)
        state.cell = initial(states[1]);
      LUMINAL_CHECK(checkWeights(o, cell, w, o.extents(x)[2], state));
      sides.push_back(run(o, cell, x, state, w, length, d == 1));
      hidden.push_back(c.unsqueeze(state.hidden, 0));
      if (isLSTM)
        cells.push_back(c.unsqueeze(*state.cell, 0));
    }
    x = concatenate(o, sides, 2);
  }
  if (batchFirst)
    x = c.permute(x, {1, 0, 2});
  Value output = c.cast(x, type),
        last = c.cast(concatenate(o, hidden, 0), type);
  if (isLSTM)
    return o.ret({output, last, c.cast(concatenate(o, cells, 0), type)});
  return o.ret({output, last});
}

/// One step over [batch, in].
template <Cell cell>
static Status recurrentCell(OpCall &o) {
  Composer &c = o.c;
  constexpr bool isLSTM = cell == Cell::LSTM;
  Value x = o.tensor("input");
  SmallVector<Value> states;
  if (isLSTM)
    states = o.tensors("hx");
  else
    states = {o.tensor("hx")};
  Type type = o.element(x), wide = o.opmath(type);
  if (!isa<FloatType>(type) || o.rank(x) != 2 ||
      states.size() != (isLSTM ? 2 : 1))
    return o.fail("takes floats [batch, channel] and their states");
  for (Value &v : states) {
    if (o.rank(v) != 2 || o.element(v) != type ||
        !o.extents(v)[1].asConstant() ||
        !o.agree(o.extents(v)[0], o.extents(x)[0]))
      return o.fail("a state does not fit the batch");
    v = c.broadcastTo(v, {o.extents(x)[0], o.extents(v)[1]});
  }
  auto bias = [&](StringRef name) {
    auto v = o.tensorOrNone(name);
    return v ? std::optional(c.cast(*v, wide)) : v;
  };
  Value input = c.cast(o.tensor("w_ih"), wide),
        hidden = c.cast(o.tensor("w_hh"), wide);
  auto inputBias = bias("b_ih"), hiddenBias = bias("b_hh");
  Weights w{input, hidden, inputBias, hiddenBias, {}};
  State state{c.cast(states[0], wide), {}};
  if (isLSTM)
    state.cell = c.cast(states[1], wide);
  x = c.cast(x, wide);
  LUMINAL_CHECK(checkWeights(o, cell, w, o.extents(x)[1], state));
  Value gates = plus(o, c.linear(x, w.input), w.inputBias);
  state = step(o, cell, gates, state, w);
  if (isLSTM)
    return o.ret({c.cast(state.hidden, type), c.cast(*state.cell, type)});
  return o.ret(c.cast(state.hidden, type));
}

/// One layer of an LSTM in one direction, in the form of PyTorch's CPU backend.
static Status mkldnnLayer(OpCall &o) {
  Composer &c = o.c;
  Value x = o.tensor("input"), hx = o.tensor("hx_"), cx = o.tensor("cx_");
  bool reverse = o.flag("reverse");
  // The other arguments follow from the operands, or concern the layers around.
  o.ignore({"hidden_size", "num_layers", "has_biases", "bidirectional", "train",
            "batch_first"});
  constexpr int64_t kLSTM = 2;
  if (o.integer("mode") != kLSTM || !o.integers("batch_sizes").empty() ||
      o.flag("batch_first"))
    return o.fail("takes LSTM of sequences of one length, time first");
  Type type = o.element(x), wide = o.opmath(type);
  auto isState = [&](Value v) {
    unsigned rank = o.rank(v);
    return (rank == 2 || (rank == 3 && o.extents(v)[0].isConstant(1))) &&
           o.element(v) == type && o.extents(v).back().asConstant() &&
           o.provablyEqual(o.extents(v)[rank - 2], o.extents(x)[1]);
  };
  if (!isa<FloatType>(type) || o.rank(x) != 3 || !isState(hx) || !isState(cx))
    return o.fail("takes floats [time, batch, channel] and their states");
  LUMINAL_TRY(length, knownLength(o, o.extents(x)[0]));
  auto initial = [&](Value v) {
    return c.cast(o.rank(v) == 3 ? c.squeeze(v, 0) : v, wide);
  };
  auto weight = [&](StringRef name) { return c.cast(o.tensor(name), wide); };
  Weights w{weight("weight0"),
            weight("weight1"),
            weight("weight2"),
            weight("weight3"),
            {}};
  State state{initial(hx), initial(cx)};
  x = c.cast(x, wide);
  LUMINAL_CHECK(checkWeights(o, Cell::LSTM, w, o.extents(x)[2], state));
  Value output = run(o, Cell::LSTM, x, state, w, length, reverse);
  auto last = [&](Value v, Value like) {
    return c.cast(o.rank(like) == 3 ? c.unsqueeze(v, 0) : v, type);
  };
  return o.retFirst(
      {c.cast(output, type), last(state.hidden, hx), last(*state.cell, cx)});
}

llvm::ArrayRef<OpRow> pt2::getRecurrentOps() {
#define LUMINAL_LAYERS                                                         \
  "Tensor[] params, bool has_biases, int num_layers, float dropout, "          \
  "bool train, bool bidirectional, bool batch_first)"
#define LUMINAL_CELL                                                           \
  "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)"
  static const OpRow rows[] = {
      {"lstm.input(Tensor input, Tensor[] hx, " LUMINAL_LAYERS,
       recurrent<Cell::LSTM>},
      {"gru.input(Tensor input, Tensor hx, " LUMINAL_LAYERS,
       recurrent<Cell::GRU>},
      {"rnn_tanh.input(Tensor input, Tensor hx, " LUMINAL_LAYERS,
       recurrent<Cell::Tanh>},
      {"rnn_relu.input(Tensor input, Tensor hx, " LUMINAL_LAYERS,
       recurrent<Cell::Relu>},
      {"lstm_cell(Tensor input, Tensor[] hx, " LUMINAL_CELL,
       recurrentCell<Cell::LSTM>},
      {"gru_cell(Tensor input, Tensor hx, " LUMINAL_CELL,
       recurrentCell<Cell::GRU>},
      {"rnn_tanh_cell(Tensor input, Tensor hx, " LUMINAL_CELL,
       recurrentCell<Cell::Tanh>},
      {"rnn_relu_cell(Tensor input, Tensor hx, " LUMINAL_CELL,
       recurrentCell<Cell::Relu>},
      {"mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, "
       "Tensor weight2, Tensor weight3, Tensor hx_, Tensor cx_, bool reverse, "
       "int[] batch_sizes, int mode, int hidden_size, int num_layers, "
       "bool has_biases, bool bidirectional, bool batch_first, bool train)",
       mkldnnLayer},
  };
  return rows;
}
