/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor: reports which sources and privileges this machine offers an agent, why, and which source
 * "auto" would choose.
 */
#ifndef AGENT_DOCTOR_H
#define AGENT_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints the findings to out, one a line, or as one JSON object {"findings": [{"what", "verdict",
 * "detail"}], "chosen_source": NAME or null}; "verdict" ("yes", "no") is left out where there is
 * none. Returns 0 where some source works, else 1.
 */
int doctor_run(FILE *out, bool is_json);

#endif
