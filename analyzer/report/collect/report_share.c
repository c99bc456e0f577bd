// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/collect/report_share.h"

#include "analyzer/models/num/ranks.h"

static int report_share_each(void *ctx, const char *json, size_t len)
{
	struct report_share *s = ctx;
	struct profile p;
	int ret;

	profile_init(&p);
	ret = profile_from_json(json, len, &p, NULL);
	if (!ret)
		ret = s->each(s->ctx, &p);
	profile_release(&p);
	return ret;
}

void report_share_init(struct report_share *s, int (*each)(void *ctx, struct profile *p), void *ctx)
{
	*s = (struct report_share){ .is_shared = ranks_nr() > 1, .each = each, .ctx = ctx };
	share_init(&s->share, 0, report_share_each, s);
}

void report_share_release(struct report_share *s)
{
	share_release(&s->share);
}

int report_share_take(void *ctx, struct profile *p)
{
	struct report_share *s = ctx;

	return s->is_shared ? share_take(&s->share, p) : s->each(s->ctx, p);
}

int report_share_replay(struct report_share *s, struct scan *scan, struct replay_config *config,
			struct retained *retained, struct err *err)
{
	int ret = 0;

	if (s->is_shared) {
		config->keeps = share_keeps;
		config->keeps_ctx = &s->share;
		config->room_used = &s->share.room;
		ret = share_begin(&s->share, scan);
	}
	if (!ret)
		ret = replay(scan, config, err);
	if (!ret)
		ret = retained_emit(retained);
	return ret || !s->is_shared ? ret : share_end(&s->share);
}

bool report_share_is_done(const struct report_share *s)
{
	return s->is_shared && ranks_own();
}
