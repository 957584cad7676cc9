//===- Replies.h - What the language server adds to MLIR's answers --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server takes no name, and shows of an op under the cursor its
// generic form only. Its messages pass through here: the answer to `initialize`
// gets this server's name and version, a hover over an op of Luminal's dialects
// the op's entry of the reference (`ninja luminal-doc`).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TOOLS_LUMINAL_LSP_SERVER_REPLIES_H
#define LUMINAL_TOOLS_LUMINAL_LSP_SERVER_REPLIES_H

#include <string>
#include <string_view>
#include <thread>

/// A message of the server, a JSON text, as it is sent on.
std::string completeReply(std::string_view message);

/// While it lives, what is written to standard output passes through
/// completeReply. The destructor sends on what is left.
class ReplyFilter {
public:
  ReplyFilter();
  ~ReplyFilter();
  ReplyFilter(const ReplyFilter &) = delete;
  ReplyFilter &operator=(const ReplyFilter &) = delete;

  /// False where the system gave no pipe: nothing passes then.
  explicit operator bool() const { return client >= 0; }

private:
  int client = -1;
  std::thread sender;
};

#endif // LUMINAL_TOOLS_LUMINAL_LSP_SERVER_REPLIES_H
