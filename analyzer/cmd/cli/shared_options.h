/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_options: the options that several commands have, each written once: the part of a trace,
 * the loads of a question, what predicts a target, how a simulation runs, and retention. A macro
 * stands in a table in the place of its lines; a function checks what a table cannot say, and is
 * called after cli_parse().
 */
#ifndef ANALYZER_CMD_CLI_SHARED_OPTIONS_H
#define ANALYZER_CMD_CLI_SHARED_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/keep/retain.h"
#include "analyzer/store/scan/selection_told.h"
#include "analyzer/whatif/predict/loads.h"

#define REPORT_OPTION(out, help) CLI_STRING("report", 0, "FILE", out, help, .is_output = true)

/*
 * The part of a trace (store/scan/selection.h).
 *
 *	struct selection sel = { 0 };
 *	const struct cli_option options[] = { SELECTION_OPTIONS(&sel), ..., CLI_END };
 *
 *	if (!cli_parse(cli, options) || !selection_take(cli, &sel)) ...
 *	ret = selection_open(&sel, &cli->teller, &scan, &hooks, &err);
 *	...
 *	scan_close(scan);
 *	selection_release(&sel);
 */
#define SELECTION_OPTIONS(sel)                                                                    \
	CLI_STRING("store", 's', "DIR", &(sel)->dir, "a store to read instead of segment files",  \
		   .is_input = true),                                                             \
		CLI_LIST("host", 0, "HOST,...", &(sel)->hosts, "only of these hosts"),            \
		CLI_LIST("device", 'd', "DEV,...", &(sel)->devices,                               \
			 "only these devices: sda or 8:0"),                                       \
		CLI_TIME("begin", 0, "TIME", &(sel)->begin_real_ns,                               \
			 "only what completed at or after it: 2026-01-31T14:05"),                 \
		CLI_TIME("end", 0, "TIME", &(sel)->end_real_ns, "only what completed before it"), \
		CLI_LIST("cgroup", 0, "CGROUP,...", &(sel)->cgroups,                              \
			 "only of these cgroups and below: path or id"),                          \
		CLI_LIST("process", 0, "PROCESS,...", &(sel)->processes,                          \
			 "only of these: process id or command name"),                            \
		CLI_LIST("operation", 0, "OP,...", &(sel)->operations,                            \
			 "only read, write, discard, flush, other"),                              \
		CLI_FLAG("leave-out-own", 0, &(sel)->leave_out_own,                               \
			 "leave out the agent's own requests")

/*
 * Gives the selection the operands as its files. Returns false, with cli->status set, where both a
 * store and files were given, or none of them.
 */
bool selection_take(struct cli *cli, struct selection *sel);
/*
 * Ends a command whose selection has no request (selection_nothing()): returns the exit status for
 * wrong use, or CLI_DONE where the source is empty.
 */
int selection_end(struct cli *cli, const struct selection *sel);

/*
 * Loads. They are operands, files of --profile, or the devices of --store; LOAD=COUNT stands for
 * COUNT copies of the load. --host and --device choose among them, and --begin and --end choose the
 * period of a recording. load_options_take() turns all of them into operands, in that order, so
 * that a command reads only its operands, together with the selection.
 *
 *	struct load_choice loads = { 0 };
 *	const struct cli_option options[] = { LOAD_OPTIONS(&loads), ..., CLI_END };
 *
 *	if (!cli_parse(cli, options) || !load_options_take(&loads, cli))
 *		return cli->status;
 *	... loads_read(&read, &loads, &cli->teller, most, &err) ...
 *	load_options_release(&loads);
 */
#define LOAD_OPTIONS(o)                                                                        \
	CLI_STRING("store", 's', "DIR", &(o)->store, "loads: the devices of a store",          \
		   .is_input = true),                                                          \
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

/* What predicts a target: models, or a measurement store. */
#define PREDICTOR_OPTIONS(o)                                                                       \
	CLI_LIST("model", 'm', "MODEL.json,...", &(o)->models,                                     \
		 "models fitted or a net calibrated on the target"),                               \
		CLI_STRING("db", 0, "FILE", &(o)->db, "or a measurement store to learn from",      \
			   .is_input = true),                                                      \
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

/* How nets, systems and devices are simulated (struct solve_options). */
#define PRECISION_OPTION(out, help) \
	CLI_DOUBLE("precision", 'p', "P", out, help, .standard = "0.01", .above = "0", .below = "1")
#define SEED_OPTION(out) CLI_U64("seed", 's', "N", out, "of the random numbers", .standard = "1")
/* The threads of what gives the same result for any number of them. */
#define THREADS_OPTION(out)                                                               \
	CLI_UINT("threads", 0, "N", out,                                                  \
		 "the result is the same for any number; 0, the default: all processors", \
		 .from = "0", .to = "1024")
#define MAX_EVENTS_OPTION(out, most)                                                     \
	CLI_U64("max-events", 0, "N", out, "stop after N events whatever the precision", \
		.standard = most, .from = "1")
#define RUN_OPTIONS(run)                                                                          \
	CLI_UINT("replications", 0, "N", &(run)->nr_replications, "at least N", .standard = "16", \
		 .from = "2", .to = "100000"),                                                    \
		SEED_OPTION(&(run)->seed), THREADS_OPTION(&(run)->nr_threads)
#define SWEEP_OPTIONS(s)                                                                        \
	CLI_LIST("sweep", 0, "NAME=FROM:TO:STEP", &(s)->sweep,                                  \
		 "solve for each value of a parameter; of several, every combination"),         \
		CLI_STRING("checkpoint", 0, "FILE", &(s)->checkpoint,                           \
			   "of --sweep: keep every solved point there, and go on after a kill", \
			   .with = "sweep")
#define PARAMETER_OPTION(out, model) \
	CLI_LIST("set", 0, "NAME=VALUE", out, "change a parameter of the " model)
#define CAMPAIGN_OPTION(out) CLI_STRING("campaign", 0, "NAME", out, "where the store has several")
#define STRICT_OPTION(out)   CLI_FLAG("strict", 0, out, "refuse rows outside the training range")

/* Retention: `serve` and `retain` have these options. */
struct retain_options {
	double requests_s, summaries_s, window_s;
	uint64_t requests_bytes, summaries_bytes;
};

#define RETAIN_OPTIONS(o)                                                                \
	CLI_AGE("retain-requests", 0, "TIME", &(o)->requests_s,                          \
		"older requests are replaced by one profile per device and window"),     \
		CLI_SIZE("retain-requests-size", 0, "SIZE", &(o)->requests_bytes,        \
			 "likewise what came first of hosts above their share of SIZE"), \
		CLI_AGE("retain-summaries", 0, "TIME", &(o)->summaries_s,                \
			"older ones of these profiles go too"),                          \
		CLI_SIZE("retain-summaries-size", 0, "SIZE", &(o)->summaries_bytes,      \
			 "likewise the oldest, where all of them together take more"),   \
		CLI_DURATION("retain-window", 0, "TIME", &(o)->window_s, "default 1h")

/* Returns false after reporting what is wrong. */
bool retain_options_take(struct cli *cli, const struct retain_options *o,
			 struct retain_limits *out);

#endif
