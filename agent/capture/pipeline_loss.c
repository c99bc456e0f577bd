/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_loss: enters into the ledger the requests that the source or the pipeline itself could
 * not keep.
 */
#include "agent/capture/pipeline_state.h"

void pipeline_lost(struct pipeline *p, enum loss_cause cause, uint64_t nr, uint32_t device)
{
	struct loss loss = { .cause = (uint8_t)cause,
			     .count_known = true,
			     .count = nr,
			     .begin_real_ns = p->poll.real_ns,
			     .end_real_ns = clock_real_ns(),
			     .device = device };

	if (loss.begin_real_ns > loss.end_real_ns)
		loss.begin_real_ns = loss.end_real_ns;
	p->lost[cause] += nr;
	if (p->stream)
		stream_lost(p->stream, &loss);
	log_say(p->config.log, LEVEL_WARN, "requests_lost", "where=%s count=%llu",
		loss_cause_name(cause), (unsigned long long)nr);
}

void pipeline_on_lost(void *ctx, enum loss_cause cause, uint64_t nr, uint32_t device)
{
	struct pipeline *p = ctx;
	struct traced *t;

	if (!nr)
		return;
	/* If only one device is traced, a loss of unknown device belongs to that device. */
	if (!device && p->config.source_config.nr_devices == 1)
		device = p->config.source_config.devices[0];
	t = device ? pipeline_device(p, device) : NULL;
	if (cause == LOSS_SHED)
		p->window.nr_requests += nr;
	if (t) {
		/*
		 * Requests that were shed on purpose are in the kernel's counters and thus in the
		 * profile.
		 */
		t->lost_in_window += cause == LOSS_SHED ? 0 : nr;
		t->seen.nr += nr;
		t->seen.nr_countable += nr;
	} else {
		p->devices.unplaced += nr;
		p->devices.unplaced_in_window += cause == LOSS_SHED ? 0 : nr;
		device = 0;
	}
	pipeline_lost(p, cause, nr, device);
}

void pipeline_on_gap(void *ctx, enum loss_cause cause, uint64_t begin_ns, uint32_t device)
{
	struct pipeline *p = ctx;
	uint64_t now = clock_monotonic_ns(), now_real_ns = clock_real_ns();
	uint64_t length_ns = now > begin_ns ? now - begin_ns : 0;
	struct loss loss = { .cause = (uint8_t)cause,
			     .begin_real_ns = now_real_ns - length_ns,
			     .end_real_ns = now_real_ns,
			     .device = device };

	if (p->stream)
		stream_lost(p->stream, &loss);
	log_say(p->config.log, LEVEL_WARN, "requests_perhaps_lost",
		"where=%s device=%u:%u length_s=%.3f", loss_cause_name(cause), device_major(device),
		device_minor(device), (double)length_ns / 1e9);
}
