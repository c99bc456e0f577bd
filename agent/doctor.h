/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor: what this machine offers an agent, why, and what --source auto would choose.
 */
#ifndef AGENT_DOCTOR_H
#define AGENT_DOCTOR_H

#include <stdio.h>

/* Prints the findings to out, one a line. Returns 0 where some source works, else 1. */
int doctor_run(FILE *out);

#endif
