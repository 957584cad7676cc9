/*===- objects.h - Calls by objects of another library, in C --------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#ifndef LUMINAL_TEST_CAPI_INPUTS_OBJECTS_H
#define LUMINAL_TEST_CAPI_INPUTS_OBJECTS_H

#include "check.h"
#include <string.h>

/* The call fails, and its message begins with `where` and contains `what`. */
#define FAILS(call, where, what)                                               \
  do {                                                                         \
    CHECK((call) == LUMINAL_ERROR);                                            \
    CHECK(strncmp(luminal_last_error(), where, strlen(where)) == 0);           \
    CHECK(strstr(luminal_last_error(), what));                                 \
    CHECK(!strstr(luminal_last_error(), "loc("));                              \
    CHECK(!strchr(luminal_last_error(), '\n'));                                \
  } while (0)

/* A tensor of another library: what a call is told of it is `handle`. */
typedef struct Object {
  int32_t count;
  float *handle;
} Object;

/* Where it lies; fails where it has no memory. */
int32_t readHandle(void *handle, void **data);

/* Of the artifact of dynamic.mlir. */
void callOnObjects(const luminal_artifact *artifact);

#endif /* LUMINAL_TEST_CAPI_INPUTS_OBJECTS_H */
