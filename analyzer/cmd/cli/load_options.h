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
 *	struct load_choice loads = { 0 };
 *	const struct cli_option options[] = { LOAD_OPTIONS(&loads), ..., CLI_END };
 *
 *	if (!cli_parse(cli, options) || !load_options_take(&loads, cli))
 *		return cli->status;
 *	... loads_read(&read, &loads, &cli->teller, most, &err) ...
 *	load_options_release(&loads);
 */
#ifndef ANALYZER_CMD_CLI_LOAD_OPTIONS_H
#define ANALYZER_CMD_CLI_LOAD_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/whatif/predict/loads.h"

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
bool load_options_take(struct load_choice *o, struct cli *cli);
void load_options_release(struct load_choice *o);
/*
 * predictor_options: the options by which commands say how to predict a target.
 *
 *	struct predictor_options by = { 0 };
 *	const struct cli_option options[] = { PREDICTOR_OPTIONS(&by), ..., CLI_END };
 */

#define PREDICTOR_OPTIONS(o)                                                                       \
	CLI_LIST("model", 'm', "MODEL.json,...", &(o)->models,                                     \
		 "models fitted or a net calibrated on the target"),                               \
		CLI_STRING("db", 0, "FILE", &(o)->db, "or a measurement store to learn from"),     \
		CLI_STRING("campaign", 0, "NAME", &(o)->campaign,                                  \
			   "of --db, where there are several"),                                    \
		CLI_STRING("target", 0, "NAME", &(o)->target, "of --db, where there are several"), \
		CLI_LIST("set", 0, "K=V,...", &(o)->set, "variables that profiles do not say")

/*
 * Takes a simulated device that --model names as --storage would, so that *storage is its file,
 * and refuses --campaign and --target where no measurement store is given. Every command that has
 * these options calls it before it looks at them. Returns 0, or the exit status of what was
 * refused.
 */
int predictor_options_take(struct predictor_options *o, const char **storage,
			   const struct cli *cli);

#endif
