/* SPDX-License-Identifier: Apache-2.0 */
/*
 * question_commands: what the commands that answer questions about loads share: options of the
 * target, how they begin and end, and the verbs of study.
 */
#ifndef ANALYZER_CMD_QUESTIONS_QUESTION_COMMANDS_H
#define ANALYZER_CMD_QUESTIONS_QUESTION_COMMANDS_H

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/question/question.h"

/*
 * The target of a question is predicted by models or a measurement store, or it is a simulated
 * device. what says what is done with the device: "simulate what is stored on this".
 */
#define DEVICE_OPTION(q, what)                          \
	CLI_STRING("storage", 0, "FILE", &(q)->storage, \
		   "or " what " device (blkcast storage calibrate)")
#define TARGET_OPTIONS(q, what) PREDICTOR_OPTIONS(&(q)->by), DEVICE_OPTION(q, what)
/* Objectives of response times; further members of the option may follow the help. */
#define SLO_OPTION(out, ...)	 CLI_LIST("slo", 0, "OBJECTIVE,...", out, __VA_ARGS__)
#define MEASURE_OPTION(out, ...) CLI_LIST("measure", 0, "SIZE:read=N,write=N,...", out, __VA_ARGS__)

/*
 * Parses the options, and takes the loads and the target that they choose. There are least to most
 * loads; most 0 means any number. Returns false with cli->status set if the command ends here.
 */
bool question_parse(struct cli *cli, struct question *q, const struct cli_option *options,
		    size_t least, size_t most);
/*
 * Refuses a period of the loads beside a simulated device, which simulates all stored requests.
 * Returns 0, or the exit status.
 */
int question_all_is_simulated(const struct cli *cli, const struct question *q);
/* Refuses an --overwrite that is not the path of the target. Returns 0, or the exit status. */
int question_overwrite_check(const struct cli *cli, const char *overwrite, const char *target);
/*
 * Adds the options that help to what replay/ says of the requests, the mimic or the target, which
 * is NULL where nothing runs. Returns ret, or -EINVAL where something was added.
 */
int question_run_hint(int ret, const char *target, struct err *err);
/* Shows the answer where ret is 0. Returns the exit status, which follows the verdict. */
int question_end(const struct cli *cli, const struct question *q, int ret, struct answer *a,
		 const char *report, struct err *err);

/* The verbs of blkcast study with a file of their own. Each returns an exit status. */
int study_scenario(struct cli *cli);
int study_cache(struct cli *cli);
/* Returns 1 where no mix of the loads fits the target. */
int study_mix(struct cli *cli);

#endif
