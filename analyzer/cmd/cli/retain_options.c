/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cmd/cli/retain_options.h"

#include <math.h>

#define MAX_S 3e9 /* 95 years */

static uint64_t to_ns(double seconds)
{
	return (uint64_t)llround(seconds * 1e9);
}

bool retain_options_take(struct cli *cli, const struct retain_options *o, struct retain_limits *out)
{
	const char *wrong = NULL;

	if (o->requests_s != 0 && !(o->requests_s >= 1 && o->requests_s <= MAX_S))
		wrong = "--retain-requests: expected 1s to 95 years";
	else if (o->summaries_s != 0 && !(o->summaries_s >= 1 && o->summaries_s <= MAX_S))
		wrong = "--retain-summaries: expected 1s to 95 years";
	else if (o->summaries_s != 0 && o->summaries_s < o->requests_s)
		wrong = "--retain-summaries: expected no less than --retain-requests";
	else if (o->window_s != 0 && !(o->window_s >= 1 && o->window_s <= 366 * 86400.0))
		wrong = "--retain-window: expected 1s to a year";
	if (wrong) {
		cli->status = cli_usage(cli, "%s", wrong);
		return false;
	}
	*out = (struct retain_limits){
		.requests_ns = to_ns(o->requests_s),
		.requests_bytes = o->requests_bytes,
		.summaries_ns = to_ns(o->summaries_s),
		.summaries_bytes = o->summaries_bytes,
		.window_ns = to_ns(o->window_s),
	};
	return true;
}
