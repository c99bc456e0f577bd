/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_begin: takes over from the run before. It compares the requests that that run had seen
 * with the durable ones and with the kernel's counts, and declares the difference as losses of this
 * run.
 */
#include <pthread.h>
#include <string.h>

#include "agent/spool/account.h"
#include "agent/spool/account_half.h"
#include "agent/spool/account_state.h"

static const struct capture_half nothing_seen;

/* Returns the period between the last entry of the run before and now. */
static struct loss gap_of(const struct capture_half *old, uint64_t now_real_ns)
{
	struct loss gap = { .count_known = true, .begin_real_ns = old->realtime_ns };

	gap.end_real_ns = now_real_ns;
	if (gap.begin_real_ns > now_real_ns) /* the clock was set back */
		gap.begin_real_ns = now_real_ns;
	return gap;
}

static void declare_died(struct account *a, struct stream_half *s, const struct capture_half *old,
			 uint64_t now_real_ns)
{
	struct loss loss = gap_of(old, now_real_ns);
	uint64_t left = 0;

	loss.cause = LOSS_AGENT_DIED;
	loss.end_real_ns = loss.begin_real_ns;
	for (uint32_t i = 0; i < old->nr_devices; i++)
		left += old->devices[i].nr;
	for (uint32_t i = 0; i < s->accounted.nr; i++)
		left -= s->accounted.count[i] < left ? s->accounted.count[i] : left;
	/*
	 * The sum is correct even where devices beyond the bound were counted together differently.
	 */
	for (uint32_t i = 0; i < old->nr_devices; i++) {
		uint64_t accounted = counts_get(&s->accounted, old->devices[i].device);

		loss.device = old->devices[i].device;
		loss.count = old->devices[i].nr > accounted ? old->devices[i].nr - accounted : 0;
		loss.count = loss.count < left ? loss.count : left;
		left -= loss.count;
		account_keep_loss(a, s, &loss);
	}
}

/*
 * How far a run can be ahead of the kernel's count without a defect. Requests can be seen to end
 * before the kernel has counted them, when a base is read, or the kernel can have counted them
 * already when the run's own base is read. There is at most one such request for each thread and
 * CPU that ends requests at these instants.
 */
#define NEAR_MAX 64

/*
 * Declares the requests that the kernel counted on a device beyond those that the run before had
 * seen. *unplaced is the number of lost requests of unknown device that these numbers still
 * contain. *base receives a base that makes up for requests which were seen but not counted yet
 * when the last base was read.
 */
static void declare_unwatched(struct account *a, struct stream_half *s,
			      const struct seen_device *old, struct loss loss,
			      struct account_base *base, uint64_t *unplaced)
{
	uint64_t counted = base->completed - old->base;
	uint64_t ahead = old->nr_countable > counted ? old->nr_countable - counted : 0;

	loss.cause = LOSS_NOT_WATCHED;
	loss.device = base->device;
	if (base->completed < old->base || (ahead > NEAR_MAX && ahead > counted)) {
		/* The device was replaced, or its statistics were switched off for a while. */
		loss.count_known = false;
	} else if (ahead) {
		base->completed += ahead;
	} else {
		uint64_t placed;

		loss.count = counted - old->nr_countable;
		placed = loss.count < *unplaced ? loss.count : *unplaced;
		loss.count -= placed;
		*unplaced -= placed;
	}
	account_keep_loss(a, s, &loss);
}

/* Fills the new capture half with this run's bases, and declares what the old half lacks. */
static void take_over(struct account *a, struct stream_half *s, const struct capture_half *old,
		      struct capture_half *new, const struct account_base *bases, size_t nr)
{
	const struct seen_device *others = account_find_seen(old, 0);
	bool compares = a->watches_all && old->watches_all;
	uint64_t unplaced = others ? others->nr : 0;

	for (size_t i = 0; i < nr && new->nr_devices < ACCOUNT_MAX_DEVICES; i++) {
		const struct seen_device *seen = account_find_seen(old, bases[i].device);
		struct account_base base = bases[i];
		struct loss gap = gap_of(old, new->realtime_ns);

		if (seen && seen->has_base && compares) {
			declare_unwatched(a, s, seen, gap, &base, &unplaced);
		} else if (seen) {
			gap.cause = LOSS_NOT_WATCHED;
			gap.device = base.device;
			gap.count_known = false;
			account_keep_loss(a, s, &gap);
		}
		new->devices[new->nr_devices++] = (struct seen_device){ .device = base.device,
									.has_base = 1,
									.base = base.completed };
	}
}

/* Declares a gap of unknown content that begins at the last entry of the run before. */
static void declare_unknown(struct account *a, struct stream_half *s, enum loss_cause cause,
			    struct loss gap)
{
	(void)a;
	gap.cause = (uint8_t)cause;
	gap.count = 0;
	gap.count_known = false;
	account_keep_loss(a, s, &gap);
}

/* Declares all losses that the run before leaves to this one. */
static void declare_all(struct account *a, struct stream_half *s, const struct capture_half *old,
			struct capture_half *new, const struct account_base *bases, size_t nr)
{
	bool has_run = s->seal.epoch != 0;
	struct loss gap = gap_of(old, new->realtime_ns);

	if (a->is_damaged || (a->is_other_machine && has_run)) {
		gap.begin_real_ns = a->damaged_since_ns < gap.end_real_ns ? a->damaged_since_ns
									  : gap.end_real_ns;
		if (a->is_other_machine)
			s->nr_losses = 0;
		declare_unknown(a, s, a->is_damaged ? LOSS_AGENT_DIED : LOSS_NOT_WATCHED, gap);
	}
	if (a->is_other_machine || (a->is_damaged && !old->realtime_ns)) {
		take_over(a, s, &nothing_seen, new, bases, nr);
	} else if (has_run && strcmp(s->boot_id, a->boot_id)) {
		declare_died(a, s, old, new->realtime_ns);
		/*
		 * The machine has booted meanwhile, so only the time of the gap is known and not
		 * its content.
		 */
		declare_unknown(a, s, LOSS_NOT_WATCHED, gap);
		take_over(a, s, &nothing_seen, new, bases, nr);
	} else {
		if (has_run)
			declare_died(a, s, old, new->realtime_ns);
		take_over(a, s, old, new, bases, nr);
	}
}

void account_begin(struct account *a, uint64_t epoch, uint64_t realtime_ns,
		   const struct account_base *bases, size_t nr)
{
	struct capture_half old, *new;
	struct stream_half *s;

	pthread_mutex_lock(&a->copies.lock);
	old = a->has_begun ? *copies_capture(&a->copies) : *a->found;
	s = copies_edit_stream(&a->copies);
	for (uint32_t i = 0; i < s->nr_losses; i++)
		s->losses[i].carried_by = ACCOUNT_NOT_CARRIED;
	new = copies_edit_capture(&a->copies);
	*new = (struct capture_half){ .realtime_ns = realtime_ns,
				      .watches_all = a->watches_all,
				      .seal.epoch = epoch };
	declare_all(a, s, &old, new, bases, nr);
	s->accounted.nr = 0;
	s->is_prepared = s->is_acknowledged = 0;
	s->seal.epoch = epoch;
	s->identity = a->identity;
	memcpy(s->boot_id, a->boot_id, SEGMENT_NAME_BYTES);
	/*
	 * If the agent dies between these two calls, the stream's copy still names the other epoch,
	 * whose capture copy remains.
	 */
	copies_publish_capture(&a->copies);
	copies_publish_stream(&a->copies);
	a->has_begun = true;
	a->is_damaged = a->is_other_machine = false;
	pthread_mutex_unlock(&a->copies.lock);
	copies_sync(&a->copies); /* a power cut from here on leaves a gap that is reported */
}
