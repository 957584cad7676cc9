#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
echo "no such function"
exit 1
