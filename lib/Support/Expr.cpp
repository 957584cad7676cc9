//===- Expr.cpp - Normal forms of integer expressions ---------------------===//

#include "luminal/Support/Expr.h"
