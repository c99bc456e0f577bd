/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenarios: the configurations of Noorshams (2015), chapter 7: those its models are calibrated
 * on and those they are judged by. GB and KB are powers of two there.
 *
 * Where the thesis leaves a choice: sweeps of the file set without clients or sizes named use 50
 * and 100 clients and 4 and 8 KB; the 60 representative configurations of 7.5.4 and all
 * "completely random" ones are drawn by the seed given; clients of tables 7.3 and 7.4 are per
 * virtual machine; file sets of the scheduling scenarios are 1.25 GB in all, divided like those
 * of tables 7.3 and 7.4.
 */
#ifndef SUS_SCENARIOS_H
#define SUS_SCENARIOS_H

#include <stdio.h>

#include "tests/system-under-study/sus_load.h"

struct scenario {
	const char *name;
	void (*make)(struct rng *r, int (*put)(void *ctx, const struct load *l), void *ctx);
	const char *what;
};

extern const struct scenario scenarios[];
extern const unsigned nr_scenarios;

/* "4k", "1.25g" and the like never come here: bytes of a file set in whole files, at least one. */
uint32_t scenario_files(double gigabytes);

#endif
