/* SPDX-License-Identifier: Apache-2.0 */
/* retain_options: declares the options of retention that `serve` and `retain` share. */
#ifndef ANALYZER_CMD_CLI_RETAIN_OPTIONS_H
#define ANALYZER_CMD_CLI_RETAIN_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/keep/retain.h"

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
