/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_options: declares the options that simulations of nets and of architectures share (struct
 * solve_options).
 */
#ifndef ANALYZER_CMD_MODELS_RUN_OPTIONS_H
#define ANALYZER_CMD_MODELS_RUN_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"

#define RUN_PRECISION .standard = "0.01", .above = "0", .below = "1"

/* The threads of what gives the same result for any number of them. */
#define THREADS_OPTION(out)                                                               \
	CLI_UINT("threads", 0, "N", out,                                                  \
		 "the result is the same for any number; 0, the default: all processors", \
		 .from = "0", .to = "1024")

#define RUN_OPTIONS(run)                                                                           \
	CLI_UINT("replications", 0, "N", &(run)->nr_replications, "at least N", .standard = "16",  \
		 .from = "2", .to = "100000"),                                                     \
		CLI_U64("seed", 's', "N", &(run)->seed, "of the random numbers", .standard = "1"), \
		THREADS_OPTION(&(run)->nr_threads)

#define SWEEP_OPTIONS(s)                                                                        \
	CLI_LIST("sweep", 0, "NAME=FROM:TO:STEP", &(s)->sweep,                                  \
		 "solve for each value of a parameter; of several, every combination"),         \
		CLI_STRING("checkpoint", 0, "FILE", &(s)->checkpoint,                           \
			   "of --sweep: keep every solved point there, and go on after a kill", \
			   .with = "sweep")

#endif
