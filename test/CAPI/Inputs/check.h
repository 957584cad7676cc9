/*===- check.h - A condition that must hold, with the last error ----------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include "luminal-c/Luminal.h"
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition,       \
              luminal_last_error());                                           \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)
