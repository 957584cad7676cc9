//===- HLIRAttrs.td - Attributes and enums of HLIR ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_HLIR_IR_HLIRATTRS
#define LUMINAL_DIALECT_HLIR_IR_HLIRATTRS

include "luminal/Dialect/HLIR/IR/HLIRBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

class HLIR_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<HLIR_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

/// An attribute whose arrays hold reference-counted expressions. Its storage (HLIRAttrs.cpp) owns them and has a
/// destructor.
class HLIR_OwningAttr<string name, string attrMnemonic, list<Trait> traits = []> : HLIR_Attr<name, attrMnemonic, traits> {
  let genStorageClass = 0;
}

def HLIR_DimsAttr : HLIR_OwningAttr<"Dims", "dims", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "the extents of the dynamic dims of a tensor type, in order";
  let description = [{
    The encoding of a ranked tensor type: one expression over symbols for each `?`, in order. A constant extent must be
    a static dim.

    Example: `tensor<?x16x?xf32, #hlir.dims<s0, 2 * s0 + 1>>`
  }];
  let parameters = (ins ArrayRefParameter<"::luminal::Expr">:$exprs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def HLIR_MapAttr : HLIR_OwningAttr<"Map", "map"> {
  let summary = "a map from an index space to another: one expression for each result";
  let description = [{
    Maps a result index (`d0, d1, ...`) to a source index. Expressions use the dims and the program's symbols. Maps are
    built in normal form for the extents of the index space (`MapAttr::getSimplified`), so that equal maps are one
    attribute.

    Example: `#hlir.map<(d0, d1) -> (d1, d0 floordiv s0)>`
  }];
  let parameters = (ins "unsigned":$numDims, ArrayRefParameter<"::luminal::Expr">:$results);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the map in its normal form: every result is simplified under 0 <= d_i < extents[i] and the ranges of the
    /// scope's symbols. (A dim of extent 1 becomes 0, but an identity map is kept as the identity.)
    static MapAttr getSimplified(::mlir::MLIRContext *context, ::llvm::ArrayRef<::luminal::Expr> results,
                                 const ::luminal::Assumptions &assumptions);
    static MapAttr getIdentity(::mlir::MLIRContext *context, unsigned rank);
    bool isIdentity() const;
    /// Returns whether a result depends on the dim.
    bool usesDim(unsigned dim) const;
    /// Returns the composition of this map and `inner`: this map takes a result index to an intermediate index, and
    /// `inner` takes that to a source index. The result is not simplified.
    ::llvm::SmallVector<::luminal::Expr> composeResults(MapAttr inner) const;
  }];
}

def HLIR_SymbolsAttr : HLIR_OwningAttr<"Symbols", "symbols"> {
  let summary = "the symbols of a function and their inclusive ranges";
  let description = [{
    An attribute of the function, `hlir.symbols`, sorted by name. `hi` is absent if the symbol is unbounded.

    Example: `#hlir.symbols<s0 in [1, 4096], s1 in [0, ]>`
  }];
  let parameters = (ins ArrayRefParameter<"::luminal::hlir::SymbolEntry">:$entries);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def HLIR_RequirementAttr : HLIR_Attr<"Requirement", "requirement"> {
  let summary = "an inequality of symbols on which a program's indices depend";
  let description = [{
    `lesser <= greater` must hold, and both must not overflow, unless an extent of `over` is 0. `hlir.requires` of a
    function or schedule lists the requirements that the compiler could not prove. They are checked when the symbols are
    bound; `what` describes the error and its place in the program.

    Example: `#hlir.requirement<lesser = m, greater = n, over = (m), "f.mlir:2:8: 'hlir.view' reads dim 0 of extent n">`
  }];
  // A map without dims holds the expressions: lesser, greater, and the extents.
  let parameters = (ins "::luminal::hlir::MapAttr":$values, StringRefParameter<>:$what);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static RequirementAttr get(::mlir::MLIRContext *context, const ::luminal::Requirement &requirement);
    ::luminal::Requirement getRequirement() const;
  }];
}

def HLIR_Combine : I32EnumAttr<"Combine", "how scatter combines an update with the old element", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Max", 2, "max">]> {
  let cppNamespace = "::luminal::hlir";
  let genSpecializedAttr = 0;
}
/// `#hlir.combine<add>`.
def HLIR_CombineAttr : EnumAttr<HLIR_Dialect, HLIR_Combine, "combine"> { let assemblyFormat = "`<` $value `>`"; }

#endif // LUMINAL_DIALECT_HLIR_IR_HLIRATTRS
