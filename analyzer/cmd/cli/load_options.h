/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_options: the options by which commands choose loads. They are the same in all these
 * commands.
 *
 * Loads are operands, files of --profile, or the devices of --store; LOAD=COUNT stands for COUNT
 * copies of the load. --host and --device choose among them, and --begin and --end choose the
 * period of a recording. After cli_parse() load_options_take() turns all of them into operands,
 * in that order, so that a command reads only its operands, together with the selection.
 *
 *	struct load_options loads = { 0 };
 *	const struct cli_option options[] = { LOAD_OPTIONS(&loads), ..., CLI_END };
 *
 *	if (!cli_parse(cli, options) || !load_options_take(&loads, cli))
 *		return cli->status;
 *	... load_options_read(&loads, cli, cli->argv[i], &set, &err) ...
 *	load_options_release(&loads);
 */
#ifndef ANALYZER_CMD_CLI_LOAD_OPTIONS_H
#define ANALYZER_CMD_CLI_LOAD_OPTIONS_H

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/store/scan/selection.h"
#include "analyzer/whatif/predict/predictor.h"
#include "analyzer/whatif/study/study.h"

struct load_options {
	const char *store;
	struct word_list profiles;
	struct selection sel;
	char **argv; /* owned: the operands and the values of the options */
};

#define LOAD_OPTIONS(o)                                                                        \
	CLI_STRING("store", 's', "DIR", &(o)->store, "loads: the devices of a store"),         \
		CLI_LIST("profile", 0, "FILE,...", &(o)->profiles,                             \
			 "loads: profiles, like operands"),                                    \
		CLI_LIST("host", 0, "HOST,...", &(o)->sel.hosts, "only loads of these hosts"), \
		CLI_LIST("device", 'd', "DEV,...", &(o)->sel.devices,                          \
			 "only loads of these devices: sda or 8:0"),                           \
		CLI_TIME("begin", 0, "TIME", &(o)->sel.begin_real_ns,                          \
			 "of recordings, only what completed at or after it"),                 \
		CLI_TIME("end", 0, "TIME", &(o)->sel.end_real_ns,                              \
			 "of recordings, only what completed before it")

/* Returns false where memory ran out; cli->status is then set. */
bool load_options_take(struct load_options *o, struct cli *cli);
void load_options_release(struct load_options *o);
/*
 * Calls profile_set_load() for what the options choose. Returns -EINVAL where they choose nothing;
 * err then names the devices that exist.
 */
int load_options_read(const struct load_options *o, const struct cli *cli, const char *path,
		      struct profile_set *set, struct err *err);

#define LOAD_COPIES_MAX PREDICTOR_LOADS_MAX /* copies of one load */

/* Loads that were read, in the order of the operands. A zeroed struct is empty. */
struct loads {
	struct profile_set *sets;	     /* owned; one per operand */
	const struct profile_group **groups; /* owned; the profiles of each load, in sets */
	const char **paths; /* owned; the operand of each load, without its count */
	size_t *copy_of;    /* owned; by load: the first of its copies, which may be itself */
	size_t nr_sets, nr;
	size_t cap_sets, cap_groups, cap_paths, cap_copy_of;
};

/*
 * Separates "PATH=COUNT". *len becomes the length of the path, and *count 1 where there is no
 * count; the path of a file that exists has none. Returns -EINVAL for a count that is no whole
 * number of `least` to LOAD_COPIES_MAX.
 */
int load_operand_count(const char *text, size_t least, size_t *len, size_t *count, struct err *err);

/*
 * Adds the loads of one operand, with their copies, which loads_read() does for all operands.
 * Returns as load_options_read(), or -EINVAL where there are more than `most` loads then.
 */
int loads_add(struct loads *l, const struct load_options *o, const struct cli *cli,
	      const char *operand, size_t most, struct err *err);
int loads_read(struct loads *l, const struct load_options *o, const struct cli *cli, size_t most,
	       struct err *err);
/* Adds the loads to a study, which has room for them. */
void loads_study(const struct loads *l, struct study *s);
void loads_release(struct loads *l);
/*
 * Prints a line on the values that are missing from a load's profile (enum load_missing), if there
 * are any.
 */
void load_options_note(const struct cli *cli, const char *name, unsigned int missing);

/*
 * predictor_options: the options by which commands say how to predict a target.
 *
 *	struct predictor_options by = { 0 };
 *	const struct cli_option options[] = { PREDICTOR_OPTIONS(&by), ..., CLI_END };
 */

struct predictor_options {
	struct word_list models, set;
	const char *db, *campaign, *target;
};

#define PREDICTOR_OPTIONS(o)                                                                       \
	CLI_LIST("model", 'm', "MODEL.json,...", &(o)->models,                                     \
		 "models fitted or a net calibrated on the target"),                               \
		CLI_STRING("db", 0, "FILE", &(o)->db, "or a measurement store to learn from"),     \
		CLI_STRING("campaign", 0, "NAME", &(o)->campaign,                                  \
			   "of --db, where there are several"),                                    \
		CLI_STRING("target", 0, "NAME", &(o)->target, "of --db, where there are several"), \
		CLI_LIST("set", 0, "K=V,...", &(o)->set, "variables that profiles do not say")

/* Returns how many ways of predicting were given: --model, --db. */
static inline int predictor_options_given(const struct predictor_options *o)
{
	return (o->models.nr > 0) + (o->db != NULL);
}

/*
 * Takes a simulated device that --model names as --storage would, so that *storage is its file,
 * and refuses --campaign and --target where no measurement store is given. Every command that has
 * these options calls it before it looks at them. Returns 0, or the exit status of what was
 * refused.
 */
int predictor_options_take(struct predictor_options *o, const char **storage,
			   const struct cli *cli);

/*
 * Reads what the options name into p, which is zeroed before and must be released in every case. o
 * must outlive p. What they name stands at the foot of the command's page.
 */
int predictor_open(struct predictor *p, const struct predictor_options *o, const struct cli *cli,
		   struct err *err);

#endif
