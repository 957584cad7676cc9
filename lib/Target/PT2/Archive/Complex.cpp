//===- Complex.cpp - Replaces complex by pairs of real tensors ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HLIR has no complex numbers. This rewrite replaces each complex tensor by two
// real ones, its real and imaginary part, and each node with a complex operand
// or result by ATen nodes on these:
//
//   c = view_as_complex(x)  -->  re = select(x, -1, 0), im = select(x, -1, 1)
//   d = mul(c, e)           -->  re = sub(mul(c.re, e.re), mul(c.im, e.im)),
//                                im = add(mul(c.re, e.im), mul(c.im, e.re))
//   e = unsqueeze(c, 0)     -->  re = unsqueeze(c.re, 0),
//                                im = unsqueeze(c.im, 0)
//   y = view_as_real(d)     -->  y = stack([d.re, d.im], -1)
//
// A complex weight is read as its view_as_real. A node without such a form is
// reported as unsupported.
//
//===----------------------------------------------------------------------===//

#include "Transforms.h"

using namespace luminal;
using namespace luminal::pt2;

static constexpr std::pair<int, DType> kComplexTypes[] = {
    {9, DType::F16}, {10, DType::F32}, {11, DType::F64}};

DTypeCode DTypeCode::getReal() const {
  for (auto [complex, real] : kComplexTypes)
    if (code == complex)
      return of(real);
  return *this;
}

DTypeCode DTypeCode::getComplex() const {
  for (auto [complex, real] : kComplexTypes)
    if (*this == of(real))
      return {complex};
  return *this;
}

namespace {

class Lowering : Transforms {
public:
  explicit Lowering(ExportedProgram &program) : Transforms(program) {}
  void run();

private:
  const Pair *find(const std::string &name) const {
    auto it = pairs.find(name);
    return it == pairs.end() ? nullptr : &it->second;
  }
  /// The name of one part of a complex tensor; a real tensor's own name.
  std::string partOf(const std::string &name, bool imaginary) const {
    const Pair *pair = find(name);
    return pair ? (imaginary ? pair->im : pair->re) : name;
  }
  bool isComplex(const std::string &name) const {
    auto it = program.tensors.find(name);
    return it != program.tensors.end() && it->second.dtype.isComplex();
  }
  bool hasComplex(const Argument &arg) const;
  /// Whether an operand is complex but has no parts, because the node that
  /// produces it is unsupported.
  bool readsUnknown(const Node &node) const;

  /// The parts of a complex argument; null if it is real.
  const Pair *getPair(const char *name, size_t position) const {
    return find(getTensor(name, position));
  }

  /// Duplicates the node for both parts. A real tensor that is concatenated
  /// with or selected beside complex ones has an imaginary part of zeros.
  void addParts();

  // Rewrites of nodes; false if the node does not have the form.
  bool lowerProduct();
  bool lowerEinsum();
  bool lowerSum();
  bool lowerFourier();
  bool lowerFill();
  bool lower();

  std::map<std::string, Pair> pairs;
};

/// Ops that apply to each part independently, separated by spaces.
constexpr std::string_view kOfParts =
    " _reshape_copy.default _unsafe_view.default alias.default "
    "alias_copy.default broadcast_to.default cat.default chunk.default "
    "clone.default constant_pad_nd.default contiguous.default copy.default "
    "copy_.default detach.default "
    "detach_.default "
    "diagonal.default expand.default expand_copy.default "
    "flatten.using_ints flip.default gather.default index.Tensor "
    "index_select.default lift_fresh_copy.default mT.default mean.dim "
    "movedim.int narrow.default neg.default numpy_T.default pad.default "
    "permute.default permute_copy.default positive.default repeat.default "
    "reshape.default roll.default select.int select_copy.int slice.Tensor "
    "slice_copy.Tensor slice_scatter.default split.Tensor "
    "split_with_sizes.default "
    "squeeze.default squeeze.dim squeeze.dims squeeze_copy.dim "
    "stack.default sum.default sum.dim_IntList t.default transpose.int "
    "transpose_copy.int unbind.int unflatten.int unfold.default "
    "unfold_backward.default unsqueeze.default "
    "unsqueeze_copy.default view.default view_copy.default where.self ";

} // namespace

bool Lowering::hasComplex(const Argument &arg) const {
  if (arg.namesTensors())
    for (const std::string &name : arg.names)
      if (find(name) || isComplex(name))
        return true;
  return false;
}

bool Lowering::readsUnknown(const Node &node) const {
  for (const NamedArgument &input : node.inputs)
    if (input.value.namesTensors())
      for (const std::string &name : input.value.names)
        if (!find(name) && isComplex(name))
          return true;
  return false;
}

void Lowering::addParts() {
  const std::string op = node->getOp();
  const bool takesSeveral = op == "aten.slice_scatter.default" ||
                            op == "aten.copy.default" ||
                            op == "aten.copy_.default";
  for (const Argument &output : node->outputs)
    for (const std::string &name : output.names)
      if (!name.empty())
        pairs[name] = {newName(name), newName(name)};
  for (bool imaginary : {false, true}) {
    Node made = *node;
    for (NamedArgument &input : made.inputs)
      if (input.value.namesTensors()) {
        // A real tensor beside complex ones has an imaginary part of zeros.
        const bool isJoined =
            input.name == "tensors" || takesSeveral ||
            (op == "aten.where.self" && input.name != "condition");
        for (std::string &name : input.value.names)
          name = imaginary && isJoined && !find(name)
                     ? add("zeros_like.default", {{"self", tensor(name)}},
                           program.tensors[name])
                     : partOf(name, imaginary);
      }
    for (Argument &output : made.outputs)
      for (std::string &name : output.names) {
        if (name.empty())
          continue;
        TensorMeta own = program.tensors[name];
        own.dtype = own.dtype.getReal();
        name = partOf(name, imaginary);
        program.tensors[name] = own;
      }
    nodes.push_back(std::move(made));
  }
}

/// Ops that are linear in each of two operands, one or both of which are
/// complex.
bool Lowering::lowerProduct() {
  static const std::map<std::string, std::pair<const char *, const char *>>
      rows = {{"aten.mul.Tensor", {"self", "other"}},
              {"aten.mul.Scalar", {"self", "other"}},
              {"aten.div.Tensor", {"self", "other"}},
              {"aten.mm.default", {"self", "mat2"}},
              {"aten.bmm.default", {"self", "mat2"}},
              {"aten.matmul.default", {"self", "other"}}};
  auto row = rows.find(node->getOp());
  if (row == rows.end())
    return false;
  auto [first, second] = row->second;
  const Pair *a = getPair(first, 0), *b = getPair(second, 1);
  if (!a || !b) {
    // Division of a real by a complex number is not linear in the divisor.
    if (!a && node->getOp() == "aten.div.Tensor")
      return false;
    addParts();
    return true;
  }
  if (node->getOp() == "aten.div.Tensor")
    return false;
  std::string op = node->getOp().substr(5);
  auto multiply = [&](const std::string &x, const std::string &y) {
    return tensor(
        add(op.c_str(), {{first, tensor(x)}, {second, tensor(y)}}, meta));
  };
  std::string re = addBinary("sub.Tensor", multiply(a->re, b->re),
                             multiply(a->im, b->im), meta);
  std::string im = addBinary("add.Tensor", multiply(a->re, b->im),
                             multiply(a->im, b->re), meta);
  pairs[result] = {re, im};
  return true;
}

/// With more complex operands, the sum of products has too many terms.
static constexpr unsigned kMostFactors = 4;

/// An op that is linear in each of many operands: one term for each choice of
/// the parts. Terms with an odd number of imaginary parts are imaginary.
bool Lowering::lowerEinsum() {
  if (node->getOp() != "aten.einsum.default")
    return false;
  const Argument *equation = get("equation", 0), *operands = get("tensors", 1);
  if (!equation || !operands)
    return false;
  unsigned count = 0;
  for (const std::string &name : operands->names)
    count += find(name) != nullptr;
  if (count == 0 || count > kMostFactors) {
    reason = "multiplies " + std::to_string(count) +
             " complex tensors, expected up to " + std::to_string(kMostFactors);
    return false;
  }
  std::string sums[2];
  for (unsigned choice = 0; choice < 1u << count; ++choice) {
    std::vector<std::string> parts;
    unsigned at = 0, turns = 0;
    for (const std::string &name : operands->names) {
      bool imaginary = find(name) && (choice >> at++ & 1);
      turns += imaginary;
      parts.push_back(partOf(name, imaginary));
    }
    std::string term =
        add("einsum.default",
            {{"equation", *equation}, {"tensors", tensors(std::move(parts))}},
            meta);
    std::string &sum = sums[turns % 2];
    // i^2 = -1: the sign depends on the number of imaginary parts modulo 4. The
    // first term of either sum has fewer than two.
    sum = sum.empty() ? term
                      : addBinary(turns % 4 < 2 ? "add.Tensor" : "sub.Tensor",
                                  tensor(sum), tensor(term), meta);
  }
  pairs[result] = {sums[0], sums[1]};
  return true;
}

/// Sums and differences: a real operand only affects the real part.
bool Lowering::lowerSum() {
  std::string op = node->getOp();
  bool isDifference = op == "aten.sub.Tensor";
  if (op != "aten.add.Tensor" && !isDifference)
    return false;
  const Pair *a = getPair("self", 0), *b = getPair("other", 1);
  if (a && b) {
    addParts();
    return true;
  }
  if (get("alpha", 2))
    return false;
  const Argument *self = get("self", 0), *other = get("other", 1);
  std::string re = addBinary(op.c_str() + 5, a ? tensor(a->re) : *self,
                             b ? tensor(b->re) : *other, meta);
  std::string im = a ? a->im : b->im;
  if (!a && isDifference) {
    TensorMeta own = program.tensors[im];
    im = add("neg.default", {{"self", tensor(im)}}, own);
  }
  // Broadcast to the common shape.
  im = add("expand.default",
           {{"self", tensor(im)}, {"size", integers(meta.sizes)}}, meta);
  pairs[result] = {re, im};
  return true;
}

/// Fourier transforms, as products (Transforms.cpp).
bool Lowering::lowerFourier() {
  std::string op = node->getOp();
  if (op != "aten._fft_r2c.default" && op != "aten._fft_c2c.default" &&
      op != "aten._fft_c2r.default")
    return false;
  std::string self = getTensor("self", 0);
  const Pair *pair = find(self);
  std::optional<Pair> made = lowerTransform(pair ? *pair : Pair{self, {}});
  if (!made)
    return false;
  if (made->im.empty())
    add(result, "alias.default", {{"self", tensor(made->re)}}, meta);
  else
    pairs[result] = *made;
  return true;
}

/// A real number in every element.
bool Lowering::lowerFill() {
  std::string op = node->getOp();
  if (op != "aten.full.default" && op != "aten.zeros.default")
    return false;
  const Argument *fill =
      op == "aten.full.default" ? get("fill_value", 1) : nullptr;
  if (fill && fill->kind != Argument::Int && fill->kind != Argument::Float)
    return false;
  auto part = [&](bool imaginary) {
    std::vector<NamedArgument> inputs;
    for (const NamedArgument &input : node->inputs) {
      inputs.push_back(input);
      if (&input.value == fill && imaginary)
        inputs.back().value = integer(0);
      else if (input.name == "dtype")
        inputs.back().value = type(meta.dtype.getReal());
    }
    return add(op.c_str() + 5, std::move(inputs), meta);
  };
  std::string re = part(false), im = part(true);
  pairs[result] = {re, im};
  return true;
}

/// Rewrites the current node by its op; false if it has no form.
bool Lowering::lower() {
  std::string op = node->getOp();
  if (op.rfind("aten.", 0) != 0)
    return false;
  op = op.substr(5);
  // It asserts facts about the trace only.
  if (op == "_assert_tensor_metadata.default")
    return true;
  if (kOfParts.find(" " + op + " ") != std::string_view::npos) {
    if (const Argument *fill = get("value", op == "pad.default" ? 3 : 2);
        fill && (op == "pad.default" || op == "constant_pad_nd.default") &&
        fill->kind != Argument::None) {
      reason = "pads complex numbers by another value than 0";
      bool isZero =
          (fill->kind == Argument::Int && fill->exprs[0] == Expr(0)) ||
          (fill->kind == Argument::Float && fill->doubles[0] == 0);
      if (!isZero)
        return false;
    }
    addParts();
    return true;
  }
  if (!enter(*node))
    return false;
  if (lowerProduct() || lowerEinsum() || lowerSum() || lowerFourier() ||
      lowerFill())
    return true;
  if (op == "view_as_complex.default") {
    std::string self = getTensor("self", 0);
    auto select = [&](int64_t i) {
      return add(
          "select.int",
          {{"self", tensor(self)}, {"dim", integer(-1)}, {"index", integer(i)}},
          meta);
    };
    std::string re = select(0), im = select(1);
    pairs[result] = {re, im};
    return true;
  }
  if (op == "polar.default") {
    const Argument *abs = get("abs", 0), *angle = get("angle", 1);
    if (!abs || !angle || angle->kind != Argument::Tensor)
      return false;
    auto part = [&](const char *function) {
      TensorMeta own = program.tensors[angle->names[0]];
      std::string turned = add(function, {{"self", *angle}}, own);
      return addBinary("mul.Tensor", *abs, tensor(turned), meta);
    };
    std::string re = part("cos.default"), im = part("sin.default");
    pairs[result] = {re, im};
    return true;
  }
  if (op == "complex.default") {
    auto part = [&](const char *name, size_t position) {
      return add("expand.default",
                 {{"self", tensor(getTensor(name, position))},
                  {"size", integers(meta.sizes)}},
                 meta);
    };
    std::string re = part("real", 0), im = part("imag", 1);
    pairs[result] = {re, im};
    return true;
  }
  if (op == "_to_copy.default" || op == "type_as.default" ||
      op.rfind("to.", 0) == 0) {
    std::string operand = getTensor("self", 0);
    if (operand.empty() || !meta.dtype.isComplex())
      return false;
    auto dtype = meta.dtype.getReal();
    auto copy = [&](const std::string &part) {
      return add("_to_copy.default",
                 {{"self", tensor(part)}, {"dtype", type(dtype)}}, meta);
    };
    const Pair *self = find(operand);
    std::string re = copy(self ? self->re : operand);
    std::string im =
        self ? copy(self->im)
             : add("zeros_like.default", {{"self", tensor(re)}}, meta);
    pairs[result] = {re, im};
    return true;
  }
  const Pair *self = getPair("self", 0);
  if (!self)
    return false;
  if (op == "view_as_real.default") {
    add(result, "stack.default",
        {{"tensors", tensors({self->re, self->im})}, {"dim", integer(-1)}},
        meta);
    return true;
  }
  if (op == "real.default" || op == "imag.default") {
    add(result, "alias.default",
        {{"self", tensor(op[0] == 'r' ? self->re : self->im)}}, meta);
    return true;
  }
  if (op == "conj.default" || op == "_conj.default" ||
      op == "conj_physical.default" || op == "_conj_physical.default") {
    std::string im = add("neg.default", {{"self", tensor(self->im)}}, meta);
    pairs[result] = {self->re, im};
    return true;
  }
  if (op == "mH.default" || op == "adjoint.default") {
    auto turn = [&](const std::string &part) {
      return add("mT.default", {{"self", tensor(part)}}, meta);
    };
    std::string re = turn(self->re), turned = turn(self->im);
    pairs[result] = {re, add("neg.default", {{"self", tensor(turned)}}, meta)};
    return true;
  }
  if (op == "resolve_conj.default" || op == "resolve_neg.default") {
    Pair same = *self;
    pairs[result] = same;
    return true;
  }
  if (op == "abs.default") {
    add(result, "hypot.default",
        {{"self", tensor(self->re)}, {"other", tensor(self->im)}}, meta);
    return true;
  }
  if (op == "angle.default") {
    add(result, "atan2.default",
        {{"self", tensor(self->im)}, {"other", tensor(self->re)}}, meta);
    return true;
  }
  return false;
}

/// Rewrites all nodes, then the complex weights.
void Lowering::run() {
  bool any = false;
  for (auto &[name, own] : program.tensors)
    any |= own.dtype.isComplex();
  if (!any)
    return;
  std::vector<Node> old = std::move(program.nodes);
  // Complex weights get a last dim that holds both parts of an element.
  for (const InputSpec &spec : program.inputs) {
    bool isStored = spec.kind == InputSpec::Parameter ||
                    spec.kind == InputSpec::Buffer ||
                    spec.kind == InputSpec::Constant;
    if (!isStored || !isComplex(spec.name))
      continue;
    TensorMeta part = program.tensors[spec.name];
    TensorMeta &whole = program.tensors[spec.name];
    whole.dtype = whole.dtype.getReal();
    for (Expr &stride : whole.strides)
      stride = stride * 2;
    whole.storageOffset = whole.storageOffset * 2;
    whole.sizes.push_back(2);
    whole.strides.push_back(1);
    Node at;
    at.name = spec.name;
    node = &at;
    auto select = [&](int64_t i) {
      return add("select.int",
                 {{"self", tensor(spec.name)},
                  {"dim", integer(-1)},
                  {"index", integer(i)}},
                 part);
    };
    std::string re = select(0), im = select(1);
    pairs[spec.name] = {re, im};
  }
  for (Node &own : old) {
    node = &own;
    reason.clear();
    auto isAny = [&](const auto &args, auto get) {
      for (const auto &arg : args)
        if (hasComplex(get(arg)))
          return true;
      return false;
    };
    bool isReal = !isAny(own.inputs, [](const NamedArgument &a) {
      return a.value;
    }) && !isAny(own.outputs, [](const Argument &a) { return a; });
    if (!isReal && own.refused.empty() && !readsUnknown(own) && lower())
      continue;
    if (!isReal && own.refused.empty())
      own.refused = reason.empty() ? "has complex operands or results, which "
                                     "this op does not support"
                                   : reason;
    nodes.push_back(std::move(own));
  }
  program.nodes = std::move(nodes);
}

void pt2::lowerComplex(ExportedProgram &program) { Lowering(program).run(); }
