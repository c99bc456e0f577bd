/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "agent/guest/zfcp_detail.h"

void zfcp_detail_release(struct zfcp_detail *d)
{
	histogram_release(&d->channel);
	histogram_release(&d->fabric);
}

int zfcp_detail_add(struct zfcp_detail *d, const struct blktrace_zfcp *command)
{
	int ret;

	d->commands++;
	d->errors += command->is_error;
	if (command->outb_usage > d->outbound_max)
		d->outbound_max = command->outb_usage;
	if (!command->has_latency) {
		d->unmeasured += !command->is_error;
		return 0;
	}
	ret = histogram_add(&d->channel, command->channel_ns);
	return ret ? ret : histogram_add(&d->fabric, command->fabric_ns);
}

int zfcp_detail_tell(struct zfcp_detail *d, struct profile *p)
{
	struct buf json = { 0 };
	int ret;

	if (!d->commands)
		return 0;
	buf_printf(&json,
		   "{\"commands\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"unmeasured\":%" PRIu64
		   ",\"outbound_max\":%u,\"channel\":",
		   d->commands, d->errors, d->unmeasured, d->outbound_max);
	ret = profile_stage_to_json(&d->channel, &json);
	if (ret)
		goto out;
	buf_printf(&json, ",\"fabric\":");
	ret = profile_stage_to_json(&d->fabric, &json);
	if (ret)
		goto out;
	buf_printf(&json, "}");
	buf_put_u8(&json, 0);
	ret = json.error ? json.error : profile_set_detail(p, "zfcp", (char *)json.data);
out:
	buf_release(&json);
	d->commands = d->errors = d->unmeasured = 0;
	d->outbound_max = 0;
	histogram_clear(&d->channel);
	histogram_clear(&d->fabric);
	return ret;
}
