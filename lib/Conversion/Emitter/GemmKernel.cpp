//===- GemmKernel.cpp - Kernels of one matrix product ---------------------===//

#include "Kernels.h"

using namespace luminal;
using namespace mlir;

WorkShape luminal::emitGemmKernel(Emitter &e, const WorkLoop &loop) {
  return emitMapKernel(e, loop);
}
