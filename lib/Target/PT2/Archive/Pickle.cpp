//===- Pickle.cpp - Tensors of a torch.save file, read as data ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Pickle.h"
#include <cstring>
#include <deque>
#include <optional>

using namespace luminal;
using namespace luminal::pt2;

namespace {
constexpr size_t kMaxValues = 1 << 20;

/// Index of a value in one table. Values refer to each other by index, so no
/// nesting, sharing or cycle in a hostile file can exhaust the stack.
using Id = uint32_t;

struct PickleValue {
  enum Kind {
    None,
    Bool,
    Int,
    Float,
    String,
    Tuple,
    List,
    Dict,
    Global,
    Storage,
    Tensor,
    Mark
  } kind = None;
  int64_t integer = 0;
  std::string text; // String, Global, key of a Storage
  // Tuple, List; alternating keys and values of a Dict
  std::vector<Id> elements;
  int dtype = 0; // Storage, Tensor
  PickledTensor tensor;
};

/// The dtype code of a torch storage class; 0 if unknown.
int storageDType(std::string_view global) {
  static constexpr std::pair<std::string_view, int> names[] = {
      {"torch.ByteStorage", 1},
      {"torch.CharStorage", 2},
      {"torch.ShortStorage", 3},
      {"torch.IntStorage", 4},
      {"torch.LongStorage", 5},
      {"torch.HalfStorage", 6},
      {"torch.FloatStorage", 7},
      {"torch.DoubleStorage", 8},
      {"torch.BoolStorage", 12},
      {"torch.BFloat16Storage", 13},
      {"torch.float8_e4m3fn", 29},
      {"torch.float8_e5m2", 30},
      {"torch.uint16", 28},
      {"torch.uint32", 34},
      {"torch.uint64", 35},
      {"torch.float32", 7},
      {"torch.float16", 6},
      {"torch.bfloat16", 13},
      {"torch.float64", 8},
      {"torch.int64", 5},
      {"torch.int32", 4},
      {"torch.int16", 3},
      {"torch.int8", 2},
      {"torch.uint8", 1},
      {"torch.bool", 12},
      {"torch.UntypedStorage", -1},
      {"torch.storage.UntypedStorage", -1}};
  for (auto [name, dtype] : names)
    if (name == global)
      return dtype;
  return 0;
}

class Unpickler {
public:
  explicit Unpickler(std::string_view text) : text(text) {}

  Result<std::map<std::string, PickledTensor>> readDictionary();
  Result<std::vector<PickledTensor>> readLeaves();

private:
  /// Runs the pickle and returns its only value.
  Result<Id> run();
  Status step(uint8_t opcode);
  Status reduce();
  Status persistentId();
  Result<PickledTensor> rebuildTensor(const PickleValue &args, bool v3);

  bool take(size_t n, std::string_view &out) {
    if (text.size() - at < n)
      return false;
    out = text.substr(at, n);
    at += n;
    return true;
  }
  std::optional<uint64_t> unsignedInt(unsigned n) {
    std::string_view bytes;
    if (!take(n, bytes))
      return std::nullopt;
    uint64_t v = 0;
    for (unsigned i = 0; i < n; ++i)
      v |= uint64_t(uint8_t(bytes[i])) << (8 * i);
    return v;
  }
  void push(PickleValue value) {
    values.push_back(std::move(value));
    stack.push_back(static_cast<Id>(values.size() - 1));
  }
  void pushKind(PickleValue::Kind kind, int64_t integer = 0) {
    PickleValue v;
    v.kind = kind;
    v.integer = integer;
    push(std::move(v));
  }
  void pushText(PickleValue::Kind kind, std::string t) {
    PickleValue v;
    v.kind = kind;
    v.text = std::move(t);
    push(std::move(v));
  }
  /// Pops everything above the last mark, and the mark.
  bool popMark(std::vector<Id> &out) {
    size_t i = stack.size();
    while (i > 0 && values[stack[i - 1]].kind != PickleValue::Mark)
      --i;
    if (i == 0)
      return false;
    out.assign(stack.begin() + i, stack.end());
    stack.resize(i - 1);
    return true;
  }
  bool pop(Id &out) {
    if (stack.empty() || values[stack.back()].kind == PickleValue::Mark)
      return false;
    out = stack.back();
    stack.pop_back();
    return true;
  }
  Status underflow() const { return Error("takes a value that is not there"); }
  Status truncated() const { return Error("ends in the middle of a value"); }

  std::string_view text;
  size_t at = 0;
  std::deque<PickleValue> values;
  std::vector<Id> stack;
  std::map<uint64_t, Id> memo;
  uint64_t memoized = 0;
};

Status Unpickler::step(uint8_t opcode) {
  auto string = [&](unsigned sizeBytes) -> Status {
    auto n = unsignedInt(sizeBytes);
    std::string_view s;
    if (!n || !take(*n, s))
      return truncated();
    pushText(PickleValue::String, std::string(s));
    return {};
  };
  auto put = [&](std::optional<uint64_t> key) -> Status {
    if (!key)
      return truncated();
    if (stack.empty() || values[stack.back()].kind == PickleValue::Mark)
      return underflow();
    memo[*key] = stack.back();
    return {};
  };
  auto get = [&](std::optional<uint64_t> key) -> Status {
    if (!key)
      return truncated();
    auto it = memo.find(*key);
    if (it == memo.end())
      return Error("reads a memo entry that was not written");
    stack.push_back(it->second);
    return {};
  };
  auto tuple = [&](unsigned n) -> Status {
    PickleValue v;
    v.kind = PickleValue::Tuple;
    v.elements.resize(n);
    for (unsigned i = n; i-- > 0;)
      if (!pop(v.elements[i]))
        return underflow();
    push(std::move(v));
    return {};
  };
  auto extend = [&](PickleValue::Kind kind,
                    const std::vector<Id> &items) -> Status {
    if (stack.empty() || values[stack.back()].kind != kind)
      return Error("adds elements to something other than a container");
    if (kind == PickleValue::Dict && items.size() % 2)
      return Error("adds a key without a value");
    auto &elements = values[stack.back()].elements;
    elements.insert(elements.end(), items.begin(), items.end());
    return {};
  };

  switch (opcode) {
  case 0x80: // PROTO
    if (auto v = unsignedInt(1); !v || *v < 2 || *v > 5)
      return Error("has an unknown protocol");
    return {};
  case 0x95: // FRAME
    return unsignedInt(8) ? Status() : truncated();
  case '}':
    return pushKind(PickleValue::Dict), Status();
  case ']':
    return pushKind(PickleValue::List), Status();
  case ')':
    return pushKind(PickleValue::Tuple), Status();
  case '(':
    return pushKind(PickleValue::Mark), Status();
  case 'N':
    return pushKind(PickleValue::None), Status();
  case 0x88:
    return pushKind(PickleValue::Bool, 1), Status();
  case 0x89:
    return pushKind(PickleValue::Bool, 0), Status();
  case 'J': // BININT
    if (auto v = unsignedInt(4))
      return pushKind(PickleValue::Int, static_cast<int32_t>(*v)), Status();
    return truncated();
  case 'K': // BININT1
  case 'M': // BININT2
    if (auto v = unsignedInt(opcode == 'K' ? 1 : 2))
      return pushKind(PickleValue::Int, static_cast<int64_t>(*v)), Status();
    return truncated();
  case 0x8a: { // LONG1
    auto n = unsignedInt(1);
    if (!n)
      return truncated();
    if (*n > 8)
      return Error("holds an integer of more than 64 bits");
    auto v = unsignedInt(static_cast<unsigned>(*n));
    if (!v)
      return truncated();
    uint64_t bits = *v;
    if (*n > 0 && *n < 8 && (bits >> (8 * *n - 1)))
      bits |= ~uint64_t(0) << (8 * *n);
    return pushKind(PickleValue::Int, static_cast<int64_t>(bits)), Status();
  }
  case 'G': // BINFLOAT
    if (!unsignedInt(8))
      return truncated();
    return pushKind(PickleValue::Float), Status();
  case 'X': // BINUNICODE
    return string(4);
  case 0x8c: // SHORT_BINUNICODE
    return string(1);
  case 'q':
    return put(unsignedInt(1));
  case 'r':
    return put(unsignedInt(4));
  case 0x94: // MEMOIZE
    return put(memoized++);
  case 'h':
    return get(unsignedInt(1));
  case 'j':
    return get(unsignedInt(4));
  case 0x85:
    return tuple(1);
  case 0x86:
    return tuple(2);
  case 0x87:
    return tuple(3);
  case 't': {
    PickleValue v;
    v.kind = PickleValue::Tuple;
    if (!popMark(v.elements))
      return underflow();
    push(std::move(v));
    return {};
  }
  case 'a':
  case 'e':
  case 's':
  case 'u': {
    std::vector<Id> items;
    bool dict = opcode == 's' || opcode == 'u';
    if (opcode == 'e' || opcode == 'u') {
      if (!popMark(items))
        return underflow();
    } else {
      items.resize(dict ? 2 : 1);
      for (size_t i = items.size(); i-- > 0;)
        if (!pop(items[i]))
          return underflow();
    }
    return extend(dict ? PickleValue::Dict : PickleValue::List, items);
  }
  case 'c': { // GLOBAL
    size_t first = text.find('\n', at);
    size_t second =
        first == std::string_view::npos ? first : text.find('\n', first + 1);
    if (second == std::string_view::npos)
      return truncated();
    std::string module(text.substr(at, first - at));
    pushText(PickleValue::Global,
             module + "." +
                 std::string(text.substr(first + 1, second - first - 1)));
    at = second + 1;
    return {};
  }
  case 0x93: { // STACK_GLOBAL
    Id name, module;
    if (!pop(name) || !pop(module))
      return underflow();
    if (values[name].kind != PickleValue::String ||
        values[module].kind != PickleValue::String)
      return Error("names a global by something other than strings");
    pushText(PickleValue::Global,
             values[module].text + "." + values[name].text);
    return {};
  }
  case 'Q':
    return persistentId();
  case 'R':
    return reduce();
  case 'b': { // BUILD: attributes of a dictionary (a state_dict's _metadata)
    Id state;
    if (!pop(state))
      return underflow();
    if (stack.empty() || values[stack.back()].kind != PickleValue::Dict)
      return Error("sets attributes of something other than a dictionary");
    return {};
  }
  default: {
    static const char digits[] = "0123456789abcdef";
    return Error(std::string("uses opcode 0x") + digits[opcode >> 4] +
                 digits[opcode & 15] + ", which plain tensors do not need");
  }
  }
}

/// ('storage', class, key, location, number of elements)
Status Unpickler::persistentId() {
  Id id;
  if (!pop(id))
    return underflow();
  const PickleValue &v = values[id];
  if (v.kind != PickleValue::Tuple || v.elements.size() < 5)
    return Error("has a persistent id that is not a storage");
  const PickleValue &tag = values[v.elements[0]], &cls = values[v.elements[1]],
                    &key = values[v.elements[2]];
  if (tag.kind != PickleValue::String || tag.text != "storage" ||
      cls.kind != PickleValue::Global || key.kind != PickleValue::String)
    return Error("has a persistent id that is not a storage");
  PickleValue storage;
  storage.kind = PickleValue::Storage;
  storage.dtype = storageDType(cls.text);
  if (!storage.dtype)
    return Error("names the unknown storage class '" + cls.text + "'");
  storage.text = key.text;
  if (key.text.empty() ||
      key.text.find_first_not_of("0123456789") != std::string::npos)
    return Error("names a storage by something other than a number");
  push(std::move(storage));
  return {};
}

Result<PickledTensor> Unpickler::rebuildTensor(const PickleValue &args,
                                               bool v3) {
  auto ints = [&](Id id, std::vector<int64_t> &out) {
    const PickleValue &v = values[id];
    if (v.kind != PickleValue::Tuple)
      return false;
    for (Id e : v.elements) {
      if (values[e].kind != PickleValue::Int || values[e].integer < 0)
        return false;
      out.push_back(values[e].integer);
    }
    return true;
  };
  if (args.kind != PickleValue::Tuple || args.elements.size() < (v3 ? 7u : 6u))
    return Error("rebuilds a tensor from too few arguments");
  const PickleValue &storage = values[args.elements[0]],
                    &offset = values[args.elements[1]];
  PickledTensor t;
  if (storage.kind != PickleValue::Storage || offset.kind != PickleValue::Int ||
      offset.integer < 0 || !ints(args.elements[2], t.sizes) ||
      !ints(args.elements[3], t.strides) || t.sizes.size() != t.strides.size())
    return Error("rebuilds a tensor from arguments of wrong kinds");
  t.storageKey = storage.text;
  t.offset = offset.integer;
  t.dtype = storage.dtype;
  if (v3) {
    const PickleValue &dtype = values[args.elements[6]];
    t.dtype = dtype.kind == PickleValue::Global ? storageDType(dtype.text) : 0;
  }
  if (t.dtype <= 0)
    return Error("rebuilds a tensor of unknown dtype");
  return t;
}

Status Unpickler::reduce() {
  Id argsId, callee;
  if (!pop(argsId) || !pop(callee))
    return underflow();
  const PickleValue &args = values[argsId];
  if (values[callee].kind != PickleValue::Global)
    return Error("calls something other than a global");
  const std::string &name = values[callee].text;
  if (name == "collections.OrderedDict" && args.kind == PickleValue::Tuple &&
      args.elements.empty())
    return pushKind(PickleValue::Dict), Status();
  if (name == "torch._utils._rebuild_tensor_v2" ||
      name == "torch._utils._rebuild_tensor_v3") {
    LUMINAL_TRY(tensor, rebuildTensor(args, name.back() == '3'));
    PickleValue v;
    v.kind = PickleValue::Tensor;
    v.tensor = std::move(tensor);
    push(std::move(v));
    return {};
  }
  if (name == "torch._utils._rebuild_parameter") {
    if (args.kind != PickleValue::Tuple || args.elements.empty() ||
        values[args.elements[0]].kind != PickleValue::Tensor)
      return Error("rebuilds a parameter from something other than a tensor");
    stack.push_back(args.elements[0]);
    return {};
  }
  return Error("calls '" + name + "', and a pickle is read as data only");
}

Result<Id> Unpickler::run() {
  while (true) {
    if (at >= text.size())
      return Error("pickle has no end");
    size_t where = at;
    uint8_t opcode = static_cast<uint8_t>(text[at++]);
    if (opcode == '.')
      break;
    if (values.size() > kMaxValues || stack.size() > kMaxValues)
      return Error("pickle holds more than 1048576 values");
    if (Status status = step(opcode); !status)
      return Error("pickle " + status.takeError().message + " (byte " +
                   std::to_string(where) + ")");
  }
  if (stack.size() != 1)
    return Error("pickle ends with other than one value");
  return stack[0];
}

Result<std::map<std::string, PickledTensor>> Unpickler::readDictionary() {
  LUMINAL_TRY(id, run());
  std::map<std::string, PickledTensor> result;
  const PickleValue &top = values[id];
  if (top.kind == PickleValue::Tensor) {
    result.emplace("", top.tensor);
    return result;
  }
  if (top.kind != PickleValue::Dict)
    return Error("pickle holds neither a tensor nor a dictionary of tensors");
  for (size_t i = 0; i < top.elements.size(); i += 2) {
    const PickleValue &key = values[top.elements[i]],
                      &value = values[top.elements[i + 1]];
    if (key.kind != PickleValue::String)
      return Error("pickle has a key that is not a string");
    if (value.kind != PickleValue::Tensor)
      return Error("pickle holds something other than a tensor under '" +
                   key.text + "'");
    result[key.text] = value.tensor;
  }
  return result;
}

Result<std::vector<PickledTensor>> Unpickler::readLeaves() {
  LUMINAL_TRY(top, run());
  std::vector<PickledTensor> leaves;
  // A value may be in several containers, or in itself: limit the number of
  // visits.
  std::vector<Id> open = {top};
  for (size_t visited = 0; !open.empty(); ++visited) {
    if (visited > kMaxValues || open.size() > kMaxValues)
      return Error("pickle holds more than 1048576 values");
    const PickleValue &value = values[open.back()];
    open.pop_back();
    if (value.kind == PickleValue::Tensor)
      leaves.push_back(value.tensor);
    // In reverse, so that the first element is on top; of a dictionary, only
    // the values.
    const size_t stride = value.kind == PickleValue::Dict ? 2 : 1;
    for (size_t i = value.elements.size(); i >= stride; i -= stride)
      open.push_back(value.elements[i - 1]);
  }
  return leaves;
}
} // namespace

Result<std::map<std::string, PickledTensor>>
pt2::unpickleTensors(std::string_view pickle) {
  return Unpickler(pickle).readDictionary();
}

Result<std::vector<PickledTensor>>
pt2::unpickleLeaves(std::string_view pickle) {
  return Unpickler(pickle).readLeaves();
}
