//===- PCH.cpp - The only source of LuminalPCH; see PCH.h -----------------===//
