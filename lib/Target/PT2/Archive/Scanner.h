//===- Scanner.h - Tokens of the expressions in an archive ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_SCANNER_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_SCANNER_H

#include "luminal/Support/Result.h"

#include <cctype>
#include <charconv>
#include <string_view>

namespace luminal::pt2 {

/// Takes tokens off the front of a text, ignoring spaces between them. Errors
/// name the position of the character.
class Scanner {
public:
  explicit Scanner(std::string_view text) : text(text) {}

  static bool isNameChar(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  }

  Error fail(const std::string &expected) const {
    return Error("expected " + expected + " at character " +
                 std::to_string(at));
  }
  void skip() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  /// Fails if anything is left.
  Status end() {
    skip();
    if (at != text.size())
      return fail("the end");
    return {};
  }
  bool eat(std::string_view token) {
    skip();
    if (text.substr(at, token.size()) != token)
      return false;
    at += token.size();
    return true;
  }
  /// Like `eat`, but the word must not be the prefix of a longer name.
  bool eatWord(std::string_view word) {
    size_t before = at;
    if (eat(word) && (at == text.size() || !isNameChar(text[at])))
      return true;
    at = before;
    return false;
  }
  Status need(std::string_view token) {
    if (!eat(token))
      return fail("'" + std::string(token) + "'");
    return {};
  }
  /// Takes letters, digits and underscores; empty if there are none.
  std::string_view name() {
    skip();
    size_t begin = at;
    while (at < text.size() && isNameChar(text[at]))
      ++at;
    return text.substr(begin, at - begin);
  }
  Result<int64_t> integer() {
    skip();
    int64_t value = 0;
    auto [end, error] =
        std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc())
      return fail("a 64-bit integer");
    at = end - text.data();
    return value;
  }

protected:
  std::string_view text;
  /// Position of the first character that was not taken.
  size_t at = 0;
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_SCANNER_H
