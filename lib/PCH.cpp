//===- PCH.cpp - The only source of LuminalPCH; see PCH.h -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
