//===- Result.h - A value or an error -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Luminal is built without exceptions, and the runtime without LLVM: a function
// that can fail on bad input returns a Result. An Error is one sentence in
// lower case, without a full stop, that begins with the location (file, member,
// JSON path).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_SUPPORT_RESULT_H
#define LUMINAL_SUPPORT_RESULT_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace luminal {

/// The reason of a failure, as one sentence.
struct Error {
  std::string message;
  explicit Error(std::string message) : message(std::move(message)) {}
  /// The same error with outer context: "context: message".
  Error within(const std::string &context) && {
    return Error(context + ": " + message);
  }
};

template <typename T>
class [[nodiscard]] Result {
public:
  /*implicit*/ Result(T value)
      : storage(std::in_place_index<0>, std::move(value)) {}
  /*implicit*/ Result(Error error)
      : storage(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() {
    assert(*this && "no value");
    return *std::get_if<0>(&storage);
  }
  const T &operator*() const {
    assert(*this && "no value");
    return *std::get_if<0>(&storage);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }
  const Error &error() const {
    assert(!*this && "no error");
    return *std::get_if<1>(&storage);
  }
  Error takeError() { return std::move(*std::get_if<1>(&storage)); }

private:
  std::variant<T, Error> storage;
};

/// Success, or an Error.
class [[nodiscard]] Status {
public:
  Status() : failed(false) {}
  /*implicit*/ Status(Error error)
      : failed(true), reason(std::move(error.message)) {}
  explicit operator bool() const { return !failed; }
  Error error() const { return Error(reason); }
  Error takeError() { return Error(std::move(reason)); }

private:
  bool failed;
  std::string reason;
};

} // namespace luminal

/// Declares `var` as the value of a Result expression, or returns its error.
#define LUMINAL_TRY(var, expr)                                                 \
  auto var##OrError = (expr);                                                  \
  if (!var##OrError)                                                           \
    return var##OrError.takeError();                                           \
  auto &var = *var##OrError

/// Returns the error of a Status expression, if it is one.
#define LUMINAL_CHECK(expr)                                                    \
  do {                                                                         \
    if (auto status = (expr); !status)                                         \
      return status.takeError();                                               \
  } while (false)

#endif // LUMINAL_SUPPORT_RESULT_H
