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

#include "ComplexMath.h"

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

class Lowering : ComplexMath {
public:
  explicit Lowering(ExportedProgram &program) : ComplexMath(program) {}
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

  /// One part of a number.
  static Argument partOf(const Argument &arg, bool imaginary) {
    if (arg.kind == Argument::Complex)
      return number(arg.doubles[imaginary]);
    return imaginary ? integer(0) : arg;
  }
  /// A tensor or number; std::nullopt for other arguments and symbols.
  std::optional<Parts> getParts(const char *name, size_t position) const;
  /// The same, with the parts cast to the type of the result's.
  std::optional<Parts> getCast(const char *name, size_t position);
  /// The operand; a real one with an imaginary part of zeros.
  static Parts widen(const Parts &x) {
    return x.im ? x : Parts(x.re, integer(0));
  }

  /// Duplicates the node for both parts. `isJoined`: a real operand, as one
  /// that is concatenated with complex ones, has an imaginary part of zeros;
  /// else it belongs to both parts.
  void addParts(bool isJoined);

  // Rewrites of nodes; false if the node does not have the form.
  bool lowerMatrixProduct(const std::string &op);
  bool lowerEinsum();
  bool lowerScaledSum(const std::string &op);
  bool lowerArithmetic(const std::string &op);
  bool lowerComparison(const std::string &op);
  bool lowerFourier();
  bool lower();

  std::map<std::string, Pair> pairs;
};

/// Ops that apply to each part independently, separated by spaces.
constexpr std::string_view kOfParts =
    " _reshape_copy.default _unsafe_view.default alias.default "
    "alias_copy.default atleast_1d.default atleast_2d.default "
    "atleast_3d.default broadcast_to.default cat.default chunk.default "
    "clone.default concat.default concatenate.default constant_pad_nd.default "
    "contiguous.default copy.default copy_.default cumsum.default "
    "detach.default detach_.default diag.default diag_embed.default "
    "diagonal.default diagonal_copy.default diagonal_scatter.default "
    "empty.memory_format empty_like.default "
    "expand.default expand_as.default expand_copy.default flatten.using_ints "
    "flip.default fliplr.default flipud.default full.default "
    "full_like.default gather.default hsplit.int index.Tensor "
    "index_add.default index_copy.default index_fill.int_Scalar "
    "index_put.default index_select.default lift_fresh_copy.default mT.default "
    "masked_fill.Scalar masked_fill.Tensor masked_scatter.default mean.default "
    "mean.dim movedim.int movedim.intlist narrow.default neg.default "
    "new_empty.default new_full.default new_ones.default new_zeros.default "
    "numpy_T.default "
    "ones.default ones_like.default pad.default permute.default "
    "permute_copy.default positive.default ravel.default repeat.default "
    "repeat_interleave.self_int reshape.default reshape_as.default "
    "roll.default rot90.default scalar_tensor.default scatter.src "
    "scatter.value scatter_add.default select.int select_copy.int "
    "select_scatter.default slice.Tensor slice_copy.Tensor "
    "slice_scatter.default split.Tensor split_with_sizes.default "
    "squeeze.default squeeze.dim squeeze.dims squeeze_copy.dim stack.default "
    "sum.default sum.dim_IntList swapaxes.default swapdims.default t.default "
    "take_along_dim.default tensor_split.indices tensor_split.sections "
    "tile.default trace.default transpose.int transpose_copy.int tril.default "
    "triu.default unbind.int unflatten.int unfold.default "
    "unfold_backward.default unsafe_chunk.default unsafe_split.Tensor "
    "unsqueeze.default unsqueeze_copy.default view.default view_as.default "
    "view_copy.default vsplit.int where.self zeros.default zeros_like.default ";

/// Functions of the absolute values, separated by spaces.
constexpr std::string_view kOfMagnitudes =
    " linalg_vector_norm.default norm.Scalar norm.ScalarOpt_dim ";

bool contains(std::string_view words, const std::string &op) {
  return words.find(" " + op + " ") != std::string_view::npos;
}

/// Whether a tensor argument of an op of parts has elements of the result.
bool holdsElements(const std::string &argument) {
  return argument != "condition" && argument != "index" &&
         argument != "indices" && argument != "mask";
}

/// Whether a number with this name is an element of the result.
bool isElement(const std::string &argument) {
  return argument == "value" || argument == "fill_value" || argument == "s";
}

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

void Lowering::addParts(bool isJoined) {
  for (const Argument &output : node->outputs)
    for (const std::string &name : output.names)
      if (!name.empty())
        pairs[name] = {newName(name), newName(name)};
  for (bool imaginary : {false, true}) {
    Node made = *node;
    for (NamedArgument &input : made.inputs) {
      if (input.value.namesTensors())
        for (std::string &name : input.value.names)
          name = imaginary && isJoined && holdsElements(input.name) &&
                         !name.empty() && !find(name)
                     ? Transforms::add("zeros_like.default",
                                       {{"self", tensor(name)}},
                                       program.tensors[name])
                     : partOf(name, imaginary);
      else if (isJoined && isElement(input.name))
        input.value = partOf(input.value, imaginary);
      else if (input.value.kind == Argument::ScalarType)
        input.value =
            type(DTypeCode{int(*input.value.exprs[0].asConstant())}.getReal());
    }
    // The imaginary part of 1 is 0.
    if (size_t at = made.target.find("ones");
        imaginary && at != std::string::npos)
      made.target.replace(at, 4, "zeros");
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

std::optional<Parts> Lowering::getParts(const char *name,
                                        size_t position) const {
  const Argument *arg = get(name, position);
  if (!arg)
    return std::nullopt;
  if (arg->kind == Argument::Tensor) {
    const Pair *pair = find(arg->names[0]);
    return pair ? partsOf(*pair) : Parts(*arg);
  }
  if (arg->kind == Argument::Complex)
    return Parts(partOf(*arg, false), partOf(*arg, true));
  const bool isKnown =
      arg->kind == Argument::Float ||
      (arg->kind == Argument::Int && arg->exprs[0].asConstant());
  return isKnown ? std::optional(Parts(*arg)) : std::nullopt;
}

std::optional<Parts> Lowering::getCast(const char *name, size_t position) {
  std::optional<Parts> parts = getParts(name, position);
  auto cast = [&](Argument &part) {
    if (isNumber(part))
      return;
    TensorMeta own = program.tensors[part.names[0]];
    const DTypeCode dtype = meta.dtype.getReal();
    if (own.dtype == dtype)
      return;
    own.dtype = dtype;
    part = tensor(Transforms::add(
        "_to_copy.default", {{"self", part}, {"dtype", type(dtype)}}, own));
  };
  if (parts) {
    cast(parts->re);
    if (parts->im)
      cast(*parts->im);
  }
  return parts;
}

/// Ops that are linear in each of two tensors, and ops that add another tensor
/// to such a product.
bool Lowering::lowerMatrixProduct(const std::string &op) {
  struct Row {
    /// Names of the operands.
    const char *first, *second, *added = nullptr;
    /// The product alone; null for the op itself.
    const char *product = nullptr, *productFirst = nullptr,
               *productSecond = nullptr;
  };
  static const std::map<std::string, Row> rows = {
      {"mm", {"self", "mat2"}},
      {"bmm", {"self", "mat2"}},
      {"matmul", {"self", "other"}},
      {"mv", {"self", "vec"}},
      {"dot", {"self", "tensor"}},
      {"vdot", {"self", "other"}},
      {"inner", {"self", "other"}},
      {"outer", {"self", "vec2"}},
      {"tensordot", {"self", "other"}},
      {"linear", {"input", "weight", "bias"}},
      {"addmm", {"mat1", "mat2", "self", "mm.default", "self", "mat2"}},
      {"addmv", {"mat", "vec", "self", "mv.default", "self", "vec"}},
      {"addr", {"vec1", "vec2", "self", "outer.default", "self", "vec2"}},
      {"baddbmm", {"batch1", "batch2", "self", "bmm.default", "self", "mat2"}}};
  auto found = rows.find(op);
  if (found == rows.end())
    return false;
  const Row &row = found->second;
  std::string a, b;
  std::optional<Argument> added;
  std::vector<NamedArgument> rest;
  for (const NamedArgument &input : node->inputs) {
    const bool isTensor = input.value.kind == Argument::Tensor;
    if (input.name == row.first && isTensor)
      a = input.value.names[0];
    else if (input.name == row.second && isTensor)
      b = input.value.names[0];
    else if (row.added && input.name == row.added)
      added = isTensor ? std::optional(input.value) : std::nullopt;
    else if (input.name != "alpha" && input.name != "beta")
      rest.push_back(input);
  }
  if (a.empty() || b.empty())
    return false;
  const std::string product =
      row.product ? row.product : node->getOp().substr(5);
  auto multiply = [&](bool isImaginaryA, bool isImaginaryB) {
    std::vector<NamedArgument> inputs = {
        {row.product ? row.productFirst : row.first,
         tensor(partOf(a, isImaginaryA))},
        {row.product ? row.productSecond : row.second,
         tensor(partOf(b, isImaginaryB))}};
    inputs.insert(inputs.end(), rest.begin(), rest.end());
    return tensor(Transforms::add(product.c_str(), std::move(inputs), meta));
  };
  auto combine = [&](bool isSum, const Argument &x, const Argument &y) {
    return tensor(addBinary(isSum ? "add.Tensor" : "sub.Tensor", x, y, meta));
  };
  // vdot multiplies by the conjugate of its first operand.
  const bool isConjugated = op == "vdot";
  std::optional<Parts> made;
  if (find(a) && find(b)) {
    Argument both = multiply(true, true), first = multiply(true, false);
    made = Parts(combine(isConjugated, multiply(false, false), both),
                 combine(!isConjugated, multiply(false, true), first));
  } else if (find(a)) {
    made = Parts(multiply(false, false), multiply(true, false));
    if (isConjugated)
      made->im =
          tensor(Transforms::add("neg.default", {{"self", *made->im}}, meta));
  } else if (find(b)) {
    made = Parts(multiply(false, false), multiply(false, true));
  } else {
    made = Parts(multiply(false, false));
  }
  auto scale = [&](const Parts &x, const char *name) -> std::optional<Parts> {
    if (!get(name, node->inputs.size()))
      return x;
    std::optional<Parts> factor = getParts(name, node->inputs.size());
    if (!factor)
      return std::nullopt;
    return x.im || factor->im ? partsOf(ComplexMath::multiply(x, *factor))
                              : Parts(binary("mul.Tensor", x.re, factor->re));
  };
  made = scale(*made, "alpha");
  if (!made)
    return false;
  if (added) {
    const Pair *pair = find(added->names[0]);
    std::optional<Parts> other =
        scale(pair ? partsOf(*pair) : Parts(*added), "beta");
    if (!other)
      return false;
    made = partsOf(add(*other, *made));
  }
  pairs[result] = {made->re.names[0], made->im->names[0]};
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

/// addcmul and addcdiv: a product or quotient that is scaled and added.
bool Lowering::lowerScaledSum(const std::string &op) {
  const bool isProduct = op == "addcmul";
  if (!isProduct && op != "addcdiv")
    return false;
  std::optional<Parts> a = getCast("self", 0), x = getCast("tensor1", 1),
                       y = getCast("tensor2", 2), factor = getCast("value", 3);
  if (!a || !x || !y || (get("value", 3) && !factor))
    return false;
  Parts made =
      partsOf(isProduct ? multiply(widen(*x), *y) : divide(widen(*x), *y));
  if (factor)
    made = partsOf(multiply(made, *factor));
  pairs[result] = add(*a, made);
  return true;
}

/// Elementwise ops of two operands, each of them a tensor or a number.
bool Lowering::lowerArithmetic(const std::string &op) {
  const bool isProduct = op == "mul" || op == "multiply",
             isQuotient = op == "div" || op == "divide" || op == "true_divide",
             isPower = op == "pow", isSum = op == "add",
             isReversed = op == "rsub",
             isDifference = op == "sub" || op == "subtract" || isReversed;
  if (!isProduct && !isQuotient && !isPower && !isSum && !isDifference)
    return false;
  // Complex quotients are not rounded.
  if (isQuotient && get("rounding_mode", 2))
    return false;
  std::optional<Parts> a = getCast("self", 0),
                       b = getCast(isPower ? "exponent" : "other", 1);
  if (!a || !b || (!a->im && !b->im))
    return false;
  if ((isSum || isDifference) && get("alpha", 2)) {
    // It belongs to the second operand of the call.
    std::optional<Parts> alpha = getCast("alpha", 2);
    if (!alpha)
      return false;
    Parts &scaled = isReversed ? *a : *b;
    scaled = partsOf(multiply(widen(scaled), *alpha));
  }
  pairs[result] = isProduct    ? multiply(*a, *b)
                  : isQuotient ? divide(*a, *b)
                  : isPower    ? power(*a, *b)
                  : isSum      ? add(*a, *b)
                  : isReversed ? subtract(*b, *a)
                               : subtract(*a, *b);
  return true;
}

/// Whether numbers are equal, and tests of one number.
bool Lowering::lowerComparison(const std::string &op) {
  TensorMeta own = meta;
  auto combine = [&](const char *op, const Argument &x, const Argument &y) {
    add(result, op, {{"self", x}, {"other", y}}, own);
    return true;
  };
  if (op == "eq" || op == "ne") {
    std::optional<Parts> a = getParts("self", 0), b = getParts("other", 1);
    // A real tensor is not compared with a complex number.
    if (!a || !b || (!a->im && isNumber(b->re)))
      return false;
    const std::string name = op + ".Tensor";
    auto compare = [&](const Argument &x, const Argument &y) {
      return isNumber(x) ? binary(name.c_str(), y, x)
                         : binary(name.c_str(), x, y);
    };
    Argument zero = integer(0), re = compare(a->re, b->re),
             im = compare(a->im ? *a->im : zero, b->im ? *b->im : zero);
    return combine(op == "eq" ? "logical_and.default" : "logical_or.default",
                   re, im);
  }
  const Pair *self = getPair("self", 0);
  if (!self)
    return false;
  auto test = [&](const std::string &part) {
    return tensor(Transforms::add((op + ".default").c_str(),
                                  {{"self", tensor(part)}}, own));
  };
  if (op == "isnan" || op == "isinf")
    return combine("logical_or.default", test(self->re), test(self->im));
  if (op == "isfinite" || op == "logical_not")
    return combine("logical_and.default", test(self->re), test(self->im));
  if (op == "isreal") {
    add(result, "eq.Scalar",
        {{"self", tensor(self->im)}, {"other", integer(0)}}, own);
    return true;
  }
  return false;
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

/// Rewrites the current node by its op; false if it has no form.
bool Lowering::lower() {
  std::string op = node->getOp();
  if (op.rfind("aten.", 0) != 0)
    return false;
  op = op.substr(5);
  // It asserts facts about the trace only.
  if (op == "_assert_tensor_metadata.default")
    return true;
  if (contains(kOfParts, op)) {
    addParts(/*isJoined=*/true);
    return true;
  }
  if (!enter(*node))
    return false;
  // Overloads of these ops differ in the kinds of their operands only.
  const std::string stem = op.substr(0, op.find('.'));
  if (lowerMatrixProduct(stem) || lowerEinsum() || lowerScaledSum(stem) ||
      lowerArithmetic(stem) || lowerComparison(stem) || lowerFourier())
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
    if (operand.empty())
      return false;
    auto dtype = meta.dtype.getReal();
    auto copy = [&](const std::string &part) {
      return add("_to_copy.default",
                 {{"self", tensor(part)}, {"dtype", type(dtype)}}, meta);
    };
    const Pair *self = find(operand);
    // The imaginary part is discarded.
    if (!meta.dtype.isComplex()) {
      if (self)
        add(result, "_to_copy.default",
            {{"self", tensor(self->re)}, {"dtype", type(dtype)}}, meta);
      return self != nullptr;
    }
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
  if (Function function = findFunction(stem)) {
    pairs[result] = (this->*function)(*self);
    return true;
  }
  if (contains(kOfMagnitudes, op)) {
    Node made = *node;
    for (NamedArgument &input : made.inputs)
      if (input.name == "self")
        input.value = tensor(magnitude(*self));
    nodes.push_back(std::move(made));
    return true;
  }
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
