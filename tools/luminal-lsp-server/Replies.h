//===- Replies.h - Edits MLIR's language server replies -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server has no setting for its name, and shows only the
// generic form of an op under the cursor. This filter edits its messages: it
// adds this server's name and version to the reply to `initialize`, and the
// op's entry of the reference (`ninja luminal-doc`) to a hover over an op of
// Luminal's dialects.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TOOLS_LUMINAL_LSP_SERVER_REPLIES_H
#define LUMINAL_TOOLS_LUMINAL_LSP_SERVER_REPLIES_H

#include <string>
#include <string_view>
#include <thread>

/// Returns a message of the server (JSON) as it is to be forwarded.
std::string completeReply(std::string_view message);

/// While it lives, text written to standard output passes through
/// completeReply. The destructor forwards the rest.
class ReplyFilter {
public:
  ReplyFilter();
  ~ReplyFilter();
  ReplyFilter(const ReplyFilter &) = delete;
  ReplyFilter &operator=(const ReplyFilter &) = delete;

  /// False if no pipe could be created: nothing is forwarded then.
  explicit operator bool() const { return client >= 0; }

private:
  int client = -1;
  std::thread sender;
};

#endif // LUMINAL_TOOLS_LUMINAL_LSP_SERVER_REPLIES_H
