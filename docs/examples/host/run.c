/*===- run.c - Runs an artifact by the C interface ------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

#include <luminal-c/Luminal.h>
#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: run-c MODEL.lum\n");
    return 2;
  }
  float x[2][4] = {{1, 2, 3, 4}, {0.5f, 0, -0.5f, 1}}, y[2];
  luminal_artifact *artifact = NULL;
  luminal_context *context = NULL;
  luminal_status status = luminal_load(argv[1], NULL, &artifact);
  if (!status)
    status = luminal_context_create(artifact, 0, &context);
  if (!status)
    status = luminal_bind(context, LUMINAL_INPUT, 0, x, LUMINAL_F32, 2,
                          (int64_t[]){2, 4}, NULL);
  if (!status)
    status = luminal_bind(context, LUMINAL_OUTPUT, 0, y, LUMINAL_F32, 1,
                          (int64_t[]){2}, NULL);
  if (!status)
    status = luminal_run(context);
  if (status)
    fprintf(stderr, "%s\n", luminal_last_error());
  else
    printf("%g %g\n", y[0], y[1]);
  luminal_context_free(context);
  luminal_artifact_free(artifact);
  return status ? 2 : 0;
}
