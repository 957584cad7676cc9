//===- CallsFuzzer.cpp - Any bytes as calls of the C interface -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each input is a sequence of calls on a few live handles, with any arguments
// that a C program can pass: null handles, invalid kinds, ranks and
// extents that do not fit, misaligned and shared memory, calls in any order.
// All memory that is passed is an allocation of exactly the stated size,
// so that AddressSanitizer sees every access beyond it, and it is freed as soon
// as the header says that it may be. A call that succeeds has its numbers
// checked.
//
//===----------------------------------------------------------------------===//

#include "luminal-c/Luminal.h"
#include "luminal/Runtime/ArtifactFile.h"
#include "luminal/Runtime/CpuFeatures.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace luminal;
using namespace luminal::runtime;
using Kind = BufferSpec::Kind;

//===----------------------------------------------------------------------===//
// The artifacts
//===----------------------------------------------------------------------===//

namespace {
struct Program {
  Manifest m;
  std::vector<std::vector<float>> values; ///< Of the weights.

  uint32_t buffer(Kind kind, Expr bytes = 0) {
    m.buffers.push_back({kind, 0, bytes, 0});
    return static_cast<uint32_t>(m.buffers.size() - 1);
  }
  template <typename Spec>
  static Spec spec(const char *name, std::vector<Expr> shape, uint32_t buffer,
                   DType dtype = DType::F32) {
    Spec result;
    result.name = name;
    result.dtype = dtype;
    result.shape = std::move(shape);
    result.buffer = buffer;
    return result;
  }
  uint32_t input(const char *name, std::vector<Expr> shape,
                 DType dtype = DType::F32) {
    uint32_t b = buffer(Kind::Input);
    m.inputs.push_back(spec<InputSpec>(name, std::move(shape), b, dtype));
    return b;
  }
  uint32_t state(const char *name, std::optional<uint32_t> initial) {
    uint32_t b = input(name, {4});
    m.inputs.back().state = true;
    m.inputs.back().initial = initial;
    output(name, {4}, b);
    m.outputs.back().name += "_next";
    m.outputs.back().updates = static_cast<uint32_t>(m.inputs.size() - 1);
    return b;
  }
  void output(const char *name, std::vector<Expr> shape, uint32_t b) {
    m.outputs.push_back(spec<OutputSpec>(name, std::move(shape), b));
  }
  uint32_t weight(const char *name, std::vector<float> data, bool used) {
    WeightSpec w;
    w.name = name;
    w.shape = {static_cast<int64_t>(data.size())};
    w.bytes = data.size() * sizeof(float);
    if (used)
      w.buffer = buffer(Kind::Weight);
    m.weights.push_back(w);
    values.push_back(std::move(data));
    return w.buffer.value_or(0);
  }
  void step(const char *kernel, std::vector<uint32_t> buffers, Expr work) {
    StepSpec s;
    s.kernel = s.name = kernel;
    s.buffers = std::move(buffers);
    std::get<CPULaunch>(s.launch).work = work;
    m.steps.push_back(s);
  }
};

/// y = (x + w) * b over [n, 4]; count += x's first row; counted = count.
Program rows() {
  Program p;
  p.m.symbols = {{"k", {4, 4}}, {"n", {1, 8}}};
  Expr n = Expr::symbol("n"), k = Expr::symbol("k");
  uint32_t x = p.input("x", {n, k}), w = p.input("w", {n, 4});
  uint32_t b = p.weight("b", {1, 2, 3, 4}, true);
  p.weight("zero", {5, 6, 7, 8}, false);
  uint32_t count = p.state("count", 1);
  uint32_t sum = p.buffer(Kind::Arena, n * 16), y = p.buffer(Kind::Output);
  p.m.arenaBytes = n * 16;
  p.output("y", {n, 4}, y);
  p.output("counted", {4}, count);
  p.step("add_f32", {x, w, sum}, n * 4);
  p.step("scale_rows_f32", {sum, b, y}, n);
  p.step("accumulate_f32", {x, count}, 4);
  p.m.weightsEmbedded = true;
  return p;
}

/// mine += v and own += v, then z[i] = table[index[i]], which may fail; the
/// weights must be bound.
Program gathers() {
  Program p;
  p.m.symbols = {{"a", {0, 16}}, {"j", {0, 16}}};
  Expr a = Expr::symbol("a"), j = Expr::symbol("j");
  uint32_t table = p.input("table", {a}),
           index = p.input("index", {j}, DType::I64), v = p.input("v", {4});
  uint32_t mine = p.state("mine", std::nullopt);
  p.weight("first", {1, 2, 3, 4}, false);
  uint32_t own = p.state("own", 0), z = p.buffer(Kind::Output);
  p.output("z", {j}, z);
  p.step("accumulate_f32", {v, mine}, 4);
  p.step("accumulate_f32", {v, own}, 4);
  p.step("gather_f32", {table, index, z}, j);
  return p;
}

/// An extent that must be solved for its symbol, an empty tensor, an output
/// that is an input, and sizes that leave every range.
Program sizes() {
  Program p;
  p.m.symbols = {{"s", {0, std::nullopt}}};
  Expr s = Expr::symbol("s");
  uint32_t x = p.input("x", {s * 2 + 1}), scalar = p.input("scalar", {});
  p.input("none", {0, s * 2 + 1});
  uint32_t y = p.buffer(Kind::Output), copy = p.buffer(Kind::Output);
  p.output("y", {s * 2 + 1}, y);
  p.output("same", {s * 2 + 1}, x);
  p.output("copy", {}, copy);
  p.step("increment_f32", {x, y}, s * 2 + 1);
  std::get<CPULaunch>(p.m.steps.back().launch).scratch = s * s * s * 4 + 4;
  p.step("copy_f32", {scalar, copy}, 1);
  p.m.arenaBytes = s * s * 8;
  return p;
}

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Stored {
  std::string path, bytes;
};

const std::vector<Stored> &artifacts() {
  static const std::vector<Stored> stored = [] {
    std::vector<Stored> result;
    std::string object = readFile(LUMINAL_TEST_KERNELS);
    for (Program p : {rows(), gathers(), sizes()}) {
      p.m.producer = "fuzz";
      p.m.target.arch = hostArch();
      ArtifactParts parts{p.m, {{"host.so", object}}, "", {}};
      if (p.m.weightsEmbedded)
        for (const std::vector<float> &w : p.values)
          parts.weights.emplace_back(reinterpret_cast<const char *>(w.data()),
                                     w.size() * sizeof(float));
      // A file without a name: nothing is left behind, whatever happens.
      int file = ::memfd_create("artifact", 0);
      std::string path = "/proc/self/fd/" + std::to_string(file);
      if (Status status = writeArtifact(std::move(parts), path); !status) {
        std::fprintf(stderr, "%s\n", status.error().message.c_str());
        std::abort();
      }
      result.push_back({path, readFile(path)});
    }
    return result;
  }();
  return stored;
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "calls: %s (%s)\n", what, luminal_last_error());
  __builtin_trap();
}

class Bytewise {
public:
  Bytewise(const uint8_t *data, size_t size) : at(data), end(data + size) {}
  bool done() const { return at == end; }
  uint8_t byte() { return at == end ? 0 : *at++; }
  unsigned below(unsigned n) { return byte() % n; }
  bool oneIn(unsigned n) { return below(n) == n - 1; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value = value << 8 | byte();
    return value;
  }
  /// Mostly small, sometimes anything.
  template <typename T>
  T number(unsigned small) {
    static constexpr uint64_t edges[] = {
        UINT64_MAX,          uint64_t(INT64_MAX),
        uint64_t(INT64_MIN), uint64_t(1) << 62,
        uint64_t(1) << 56,   UINT32_MAX,
        uint64_t(1) << 31,   1048575};
    switch (below(24)) {
    case 22:
      return static_cast<T>(edges[below(8)]);
    case 23:
      return static_cast<T>(word());
    default:
      return static_cast<T>(below(small));
    }
  }

private:
  const uint8_t *at, *end;
};

/// Memory of exactly `size` bytes from an address that is `shift` bytes off.
struct Block {
  Block(size_t size, unsigned shift)
      : memory(static_cast<uint8_t *>(std::malloc(size + shift + (size == 0)))),
        data(memory + shift), size(size) {
    std::memset(memory, 0, size + shift);
  }
  Block(const Block &) = delete;
  ~Block() { std::free(memory); }
  uint8_t *memory, *data;
  size_t size;
};

struct Binding {
  std::shared_ptr<Block> block;
  const uint8_t *memory = nullptr;
  size_t bytes = 0;
  /// Less memory than the shape needs: such a context must not run.
  bool lies = false;
};

struct Handle {
  luminal_artifact *artifact = nullptr;
  unsigned program = 0;
  bool shared = false; ///< Of all inputs: loading takes longer than many calls.

  void free() {
    if (!shared)
      luminal_artifact_free(artifact);
    *this = {};
  }
};

struct Calls {
  luminal_context *context = nullptr;
  unsigned program = 0;
  std::map<std::pair<luminal_kind, size_t>, Binding> bound;
};

class Session {
public:
  Session(const uint8_t *data, size_t size) : in(data, size) {}
  ~Session() {
    for (Handle &handle : handles)
      handle.free();
    for (Calls &calls : contexts)
      luminal_context_free(calls.context);
  }
  void go() {
    for (Calls &calls : contexts) {
      handles[0] = loaded(in.below(3));
      create(calls, handles[0]);
    }
    for (int n = 0; n < 400 && !in.done(); ++n)
      one();
  }

private:
  /// Success, or an error with a message.
  static bool succeeded(luminal_status status) {
    if (status == LUMINAL_OK)
      return true;
    require(status == LUMINAL_ERROR, "a status that is none");
    require(*luminal_last_error() != 0, "an error without a message");
    return false;
  }
  template <typename Fn>
  static void fails(Fn call, const char *what) {
    require(!succeeded(call()), what);
  }

  luminal_kind kind() { return in.number<luminal_kind>(4); }
  size_t index() { return in.number<size_t>(3); }

  static Handle loaded(unsigned program) {
    static luminal_artifact *all[3] = {};
    if (!all[program])
      require(!luminal_load(artifacts()[program].path.c_str(), nullptr,
                            &all[program]),
              "an artifact cannot be loaded");
    return {all[program], program, true};
  }

  void one() {
    Handle &handle = handles[in.below(2)];
    Calls &calls = contexts[in.below(3)];
    switch (in.below(32)) {
    case 0:
      handle.free();
      if (in.oneIn(4))
        return load(handle, in.below(3));
      handle = loaded(in.below(3));
      return;
    case 1:
      luminal_context_free(calls.context);
      calls = {};
      return create(calls, handle);
    case 2:
      return info(handle);
    case 3:
    case 4:
      return shape(calls);
    case 5:
    case 6:
      return data(calls);
    case 7:
      if (succeeded(luminal_reset(calls.context)))
        require(calls.context, "a null context was reset");
      return;
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
      return run(calls);
    default:
      return bind(calls);
    }
  }

  void load(Handle &handle, unsigned program) {
    const Stored &stored = artifacts()[program];
    luminal_load_options options = {sizeof options, nullptr};
    if (in.oneIn(8))
      options.struct_size = in.number<size_t>(16);
    if (in.oneIn(8))
      options.weights_path = stored.path.c_str();
    const luminal_load_options *given = in.oneIn(2) ? &options : nullptr;
    luminal_artifact *artifact = nullptr,
                     **out = in.oneIn(16) ? nullptr : &artifact;
    luminal_status status;
    if (in.oneIn(2)) {
      size_t size = stored.bytes.size();
      if (in.oneIn(4))
        size -= std::min<size_t>(in.number<size_t>(64), size);
      std::unique_ptr<uint8_t[]> copy(new uint8_t[size]);
      std::memcpy(copy.get(), stored.bytes.data(), size);
      // The bytes may be freed when the call returns.
      status = luminal_load_bytes(in.oneIn(16) ? nullptr : copy.get(), size,
                                  given, out);
    } else {
      status = luminal_load(in.oneIn(16) ? nullptr : stored.path.c_str(), given,
                            out);
    }
    require(succeeded(status) == (artifact != nullptr),
            "a result without success, or no result");
    handle = {artifact, program, false};
  }

  void create(Calls &calls, const Handle &handle) {
    luminal_context *context = nullptr,
                    **out = in.oneIn(16) ? nullptr : &context;
    bool ok = succeeded(
        luminal_context_create(handle.artifact, in.number<uint32_t>(4), out));
    require(ok == (context != nullptr),
            "a result without success, or no result");
    calls.context = context;
    calls.program = handle.program;
  }

  void info(const Handle &handle) {
    luminal_kind k = kind();
    size_t i = index(), count = luminal_count(handle.artifact, k);
    auto given = std::make_unique<luminal_tensor_info>();
    std::memset(given.get(), 0, sizeof *given);
    given->struct_size = in.oneIn(8) ? in.number<size_t>(64) : sizeof *given;
    const bool sized = given->struct_size >= sizeof *given;
    bool ok = succeeded(luminal_info(handle.artifact, k, i,
                                     in.oneIn(16) ? nullptr : given.get()));
    require(!ok || (sized && i < count), "information about nothing");
    if (!ok) {
      require(!given->name && !given->shape, "a result without success");
      return;
    }
    // Everything it points to can be read.
    size_t read = std::strlen(given->name);
    for (size_t axis = 0; axis < given->rank; ++axis)
      read += std::strlen(given->shape_text[axis]) +
              static_cast<size_t>(given->shape[axis] >= -1);
    require(read > 0, "a tensor without a name");
  }

  /// The rank of a tensor of a context, or none.
  std::optional<size_t> rankOf(const Calls &calls, luminal_kind k, size_t i) {
    static const std::vector<std::vector<size_t>> ranks[3] = {
        {{2, 2}, {2, 1}, {1, 1}, {1}},
        {{1, 1, 1, 1}, {1}, {1}, {1}},
        {{1, 0, 2}, {1, 1, 0}, {}, {}}};
    if (!calls.context || k < 0 || k > 3 || i >= ranks[calls.program][k].size())
      return std::nullopt;
    return ranks[calls.program][k][i];
  }

  void shape(Calls &calls) {
    luminal_kind k = kind();
    size_t i = index();
    std::optional<size_t> rank = rankOf(calls, k, i);
    size_t stated = rank && !in.oneIn(8) ? *rank : in.number<size_t>(4);
    // Space for the output if the rank is right, and none otherwise.
    size_t room = rank == stated ? stated : 0;
    std::unique_ptr<int64_t[]> extents(new int64_t[room]);
    bool ok = succeeded(luminal_shape(calls.context, k, i, stated,
                                      in.oneIn(16) ? nullptr : extents.get()));
    require(!ok || rank == stated, "a shape of another rank");
  }

  /// Reads every byte, and so shows that it may be read.
  static std::vector<float> read(const void *data, size_t floats) {
    std::vector<float> values(floats);
    if (floats > 0)
      std::memcpy(values.data(), data, floats * sizeof(float));
    return values;
  }

  /// The elements of an output or a state, if available.
  std::optional<std::vector<float>> values(Calls &calls, luminal_kind k,
                                           size_t i) {
    const void *data = nullptr;
    size_t rank = *rankOf(calls, k, i);
    std::unique_ptr<int64_t[]> extents(new int64_t[rank]);
    if (!succeeded(luminal_shape(calls.context, k, i, rank, extents.get())) ||
        !succeeded(luminal_data(calls.context, k, i, &data)))
      return std::nullopt;
    size_t count = 1;
    for (size_t axis = 0; axis < rank; ++axis)
      count *= static_cast<size_t>(extents[axis]);
    return read(data, count);
  }

  void data(Calls &calls) {
    luminal_kind k = kind();
    size_t i = index();
    std::optional<size_t> rank = rankOf(calls, k, i);
    const void *found = &found;
    bool ok = succeeded(
        luminal_data(calls.context, k, i, in.oneIn(16) ? nullptr : &found));
    require(ok || found == &found, "a result without success");
    require(!ok || rank, "data of no tensor");
    if (ok)
      (void)values(calls, k, i);
  }

  /// An extent with which calls tend to succeed.
  static int64_t usualExtent(unsigned program, luminal_kind k, size_t i,
                             size_t axis, size_t rank) {
    if (program == 2)
      return rank == 2 && axis == 0 ? 0 : 3;
    bool four = program == 0
                    ? axis == 1 || rank == 1
                    : k >= LUMINAL_WEIGHT || (k == LUMINAL_INPUT && i >= 2);
    return four ? 4 : 2;
  }

  void bind(Calls &calls) {
    luminal_kind k = kind();
    size_t i = index();
    std::optional<size_t> rank = rankOf(calls, k, i);
    size_t stated = rank && !in.oneIn(8) ? *rank : in.number<size_t>(4);
    luminal_dtype dtype = calls.program == 1 && k == LUMINAL_INPUT && i == 1
                              ? LUMINAL_I64
                              : LUMINAL_F32;
    if (in.oneIn(12))
      dtype = in.number<luminal_dtype>(11);
    const size_t element = dtype == LUMINAL_I64 ? 8 : 4;

    // As many extents as may be read.
    const size_t room = rank == stated ? stated : 0;
    std::unique_ptr<int64_t[]> shape(new int64_t[room]),
        strides(new int64_t[room]);
    uint64_t count = 1;
    bool small = true, negative = false;
    for (size_t axis = 0; axis < room; ++axis) {
      shape[axis] = in.oneIn(3) ? in.number<int64_t>(in.oneIn(4) ? 12 : 5)
                                : usualExtent(calls.program, k, i, axis, room);
      small &= shape[axis] >= 0 && shape[axis] <= 64;
      negative |= shape[axis] < 0;
      count *= static_cast<uint64_t>(shape[axis]);
    }
    uint64_t stride = 1;
    for (size_t axis = room; axis-- > 0;) {
      strides[axis] = static_cast<int64_t>(stride);
      stride *= static_cast<uint64_t>(shape[axis]);
      if (in.oneIn(16))
        strides[axis] = in.number<int64_t>(8);
    }
    // Invalid tensors are refused before their memory is accessed. Sizes of
    // the third program have no bound but memory.
    size_t bytes = small ? static_cast<size_t>(count) * element : 0;
    Binding binding;
    binding.bytes = bytes;
    binding.lies = !small && !negative && calls.program == 2;
    uint8_t *memory = nullptr;
    if (in.oneIn(6) && !calls.bound.empty()) {
      // Shared with another tensor, if it is large enough.
      auto other = calls.bound.begin();
      std::advance(other, in.below(unsigned(calls.bound.size())));
      size_t offset = in.below(3) * 4;
      if (other->second.block && other->second.block->size >= bytes + offset) {
        binding.block = other->second.block;
        memory = binding.block->data + offset;
      }
    }
    if (!memory) {
      binding.block =
          std::make_shared<Block>(bytes, in.oneIn(3) ? in.below(16) : 0);
      memory = binding.block->data;
    }
    if (memory == binding.block->data)
      for (size_t at = 0; at + element <= bytes; at += element) {
        if (element == 8) {
          int64_t value = in.below(3);
          std::memcpy(memory + at, &value, 8);
        } else {
          float value = static_cast<float>(in.below(5));
          std::memcpy(memory + at, &value, 4);
        }
      }
    binding.memory = memory;
    const bool noShape = in.oneIn(12), noData = in.oneIn(12);
    bool ok =
        succeeded(luminal_bind(calls.context, k, i, noData ? nullptr : memory,
                               dtype, stated, noShape ? nullptr : shape.get(),
                               in.oneIn(2) ? strides.get() : nullptr));
    require(!ok || rank, "a binding of no tensor");
    if (!ok)
      return; // The new memory goes, the old one is still bound.
    require(noData || rank == stated, "a binding of another rank");
    // Previously bound memory is not read again.
    if (noData)
      binding = {};
    calls.bound[{k, i}] = std::move(binding);
  }

  /// The elements that the caller bound, or the artifact's.
  std::vector<float> bound(Calls &calls, luminal_kind k, size_t i,
                           std::vector<float> otherwise = {}) {
    auto it = calls.bound.find({k, i});
    if (it == calls.bound.end() || !it->second.block)
      return otherwise;
    return read(it->second.memory, it->second.bytes / sizeof(float));
  }
  /// Whether two tensors of a context lie in one allocation.
  static bool shares(const Calls &calls) {
    for (auto a = calls.bound.begin(); a != calls.bound.end(); ++a)
      for (auto b = std::next(a); b != calls.bound.end(); ++b)
        if (a->second.block && a->second.block == b->second.block)
          return true;
    return false;
  }

  void run(Calls &calls) {
    if (!calls.context)
      return fails([&] { return luminal_run(nullptr); }, "a run of nothing");
    for (const auto &[place, binding] : calls.bound)
      if (binding.lies)
        return;
    // The sanitizer checks shared memory; values are not compared.
    if (calls.program != 0 || shares(calls)) {
      (void)succeeded(luminal_run(calls.context));
      return;
    }
    std::vector<float> x = bound(calls, LUMINAL_INPUT, 0),
                       w = bound(calls, LUMINAL_INPUT, 1),
                       b = bound(calls, LUMINAL_WEIGHT, 0, {1, 2, 3, 4});
    std::optional<std::vector<float>> before = values(calls, LUMINAL_STATE, 0);
    if (!succeeded(luminal_run(calls.context)))
      return;
    std::optional<std::vector<float>> y = values(calls, LUMINAL_OUTPUT, 0),
                                      counted =
                                          values(calls, LUMINAL_OUTPUT, 1),
                                      count = values(calls, LUMINAL_STATE, 0);
    require(before && y && counted && count, "a call without results");
    require(y->size() == x.size() && x.size() == w.size() && *counted == *count,
            "results of another size");
    for (size_t e = 0; e < y->size(); ++e)
      require((*y)[e] == (x[e] + w[e]) * b[e % 4], "a wrong number");
    for (size_t e = 0; e < 4; ++e)
      require((*count)[e] == (*before)[e] + x[e], "a wrong state");
  }

  Bytewise in;
  Handle handles[2];
  Calls contexts[3];
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Session(data, size).go();
  return 0;
}
