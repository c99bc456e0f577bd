// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/store/index/catalog_state.h"

static void column_text(sqlite3_stmt *s, int at, char *out, size_t bytes)
{
	const unsigned char *text = sqlite3_column_text(s, at);

	snprintf(out, bytes, "%s", text ? (const char *)text : "");
}

static uint64_t column_u64(sqlite3_stmt *s, int at)
{
	return (uint64_t)sqlite3_column_int64(s, at);
}

static void column_name(sqlite3_stmt *s, struct segment_name *n)
{
	column_text(s, 0, n->host, sizeof(n->host));
	column_text(s, 1, n->boot_id, sizeof(n->boot_id));
	n->epoch = column_u64(s, 2);
	n->sequence = column_u64(s, 3);
}

/*
 * Steps through the rows of a statement and hands each to row(). It ends the statement in every
 * case.
 */
static int catalog_each_whole(struct catalog *c, sqlite3_stmt *s,
			      int (*row)(sqlite3_stmt *s, void *visitor), void *visitor,
			      struct err *err)
{
	int code, ret = 0;

	if (!s)
		return -EIO;
	while (ret == 0 && (code = sqlite3_step(s)) != SQLITE_DONE) {
		if (code != SQLITE_ROW)
			ret = catalog_fail(c, err);
		else
			ret = row(s, visitor);
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret;
}

struct segment_visitor {
	int (*visit)(void *ctx, const struct segment_facts *f);
	void *ctx;
};

static int segment_row(sqlite3_stmt *s, void *visitor)
{
	struct segment_visitor *v = visitor;
	struct segment_facts f = { .file_bytes = column_u64(s, 5) };

	column_name(s, &f.name);
	if (sqlite3_column_bytes(s, 4) == sizeof(f.hash.bytes))
		memcpy(f.hash.bytes, sqlite3_column_blob(s, 4), sizeof(f.hash.bytes));
	f.nr_requests = column_u64(s, 6);
	f.nr_captured = column_u64(s, 7);
	f.source = (uint8_t)sqlite3_column_int(s, 8);
	f.layer = (uint8_t)sqlite3_column_int(s, 9);
	f.begin = (struct clock_anchor){ column_u64(s, 10), column_u64(s, 11), column_u64(s, 12) };
	f.end = (struct clock_anchor){ column_u64(s, 13), column_u64(s, 14), column_u64(s, 15) };
	f.first_real_ns = column_u64(s, 16);
	f.last_real_ns = column_u64(s, 17);
	f.generation = column_u64(s, 19);
	f.received_real_ns = column_u64(s, 25);
	f.nr_untimed = column_u64(s, 26);
	f.is_kept_back = sqlite3_column_int(s, 27);
	if (f.generation) {
		f.name.sequence = ~f.name.sequence;
		f.last_sequence = column_u64(s, 18);
		f.nr_segments = column_u64(s, 20);
		f.segment_bytes = column_u64(s, 21);
		f.nr_dropped = column_u64(s, 22);
		f.dropped_begin_real_ns = column_u64(s, 23);
		f.dropped_end_real_ns = column_u64(s, 24);
	}
	return v->visit(v->ctx, &f);
}

int catalog_each_segment(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
			 void *ctx, struct err *err)
{
	struct segment_visitor v = { visit, ctx };

	return catalog_each_whole(c, catalog_statement(c, EACH_SEGMENT, err), segment_row, &v, err);
}

int catalog_each_segment_after(struct catalog *c, const struct segment_name *n,
			       int (*visit)(void *ctx, const struct segment_facts *f), void *ctx,
			       struct err *err)
{
	struct segment_visitor v = { visit, ctx };
	/* the caller's own name may change with each visit, so it is copied */
	struct segment_name from;
	sqlite3_stmt *s;

	if (!n)
		return catalog_each_segment(c, visit, ctx, err);
	from = *n;
	s = catalog_statement(c, EACH_SEGMENT_AFTER, err);
	if (s) {
		sqlite3_bind_text(s, 1, from.host, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, from.boot_id, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 3, (sqlite3_int64)from.epoch);
		sqlite3_bind_int64(s, 4, (sqlite3_int64)from.sequence);
	}
	return catalog_each_whole(c, s, segment_row, &v, err);
}

struct span_visitor {
	int (*visit)(void *ctx, const struct catalog_span *span);
	void *ctx;
};

static int span_row(sqlite3_stmt *s, void *visitor)
{
	struct span_visitor *v = visitor;
	const struct catalog_span span = { .sequence = column_u64(s, 0),
					   .begin_real_ns = column_u64(s, 1),
					   .end_real_ns = column_u64(s, 2),
					   .received_real_ns = column_u64(s, 3),
					   .nr_requests = column_u64(s, 4) };

	return v->visit(v->ctx, &span);
}

int catalog_each_span(struct catalog *c, const struct segment_name *n,
		      int (*visit)(void *ctx, const struct catalog_span *span), void *ctx,
		      struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, EACH_SPAN, err);
	struct span_visitor v = { visit, ctx };
	/* the caller's own name may change with each visit, so it is copied */
	const struct segment_name from = *n;

	if (s) {
		sqlite3_bind_text(s, 1, from.host, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, from.boot_id, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 3, (sqlite3_int64)from.epoch);
		sqlite3_bind_int64(s, 4, (sqlite3_int64)from.sequence);
	}
	return catalog_each_whole(c, s, span_row, &v, err);
}

int catalog_each_summary(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
			 void *ctx, struct err *err)
{
	struct segment_visitor v = { visit, ctx };

	return catalog_each_whole(c, catalog_statement(c, EACH_SUMMARY, err), segment_row, &v, err);
}

int catalog_each_summary_of(struct catalog *c, const struct segment_name *n,
			    int (*visit)(void *ctx, const struct segment_facts *f), void *ctx,
			    struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, EACH_SUMMARY_OF, err);
	struct segment_visitor v = { visit, ctx };
	struct segment_name from = *n;

	if (s) {
		sqlite3_bind_text(s, 1, from.host, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, from.boot_id, -1, SQLITE_STATIC);
		sqlite3_bind_int64(s, 3, (sqlite3_int64)from.epoch);
	}
	return catalog_each_whole(c, s, segment_row, &v, err);
}

int catalog_each_kept(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
		      void *ctx, struct err *err)
{
	struct segment_visitor v = { visit, ctx };

	return catalog_each_whole(c, catalog_statement(c, EACH_KEPT, err), segment_row, &v, err);
}

int catalog_find_summary(struct catalog *c, const struct segment_name *n, uint64_t *first,
			 uint64_t *generation, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, FIND_SUMMARY, err);
	int code, ret = 0;

	if (!s)
		return -EIO;
	sqlite3_bind_text(s, 1, n->host, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, n->boot_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)n->epoch);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)~n->sequence);
	code = sqlite3_step(s);
	if (code == SQLITE_ROW && column_u64(s, 1) >= n->sequence) {
		*first = ~column_u64(s, 0);
		*generation = column_u64(s, 2);
		ret = 1;
	} else if (code != SQLITE_ROW && code != SQLITE_DONE) {
		ret = catalog_fail(c, err);
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret;
}

struct device_visitor {
	int (*visit)(void *ctx, const struct segment_name *n, const struct device_facts *d);
	void *ctx;
};

static int device_row(sqlite3_stmt *s, void *visitor)
{
	struct device_visitor *v = visitor;
	struct segment_name n;
	struct device_facts d = { .device = (uint32_t)sqlite3_column_int64(s, 4) };

	column_name(s, &n);
	column_text(s, 5, d.name, sizeof(d.name));
	d.size_bytes = column_u64(s, 6);
	for (int op = 0; op < NR_OPERATIONS; op++) {
		d.requests[op] = column_u64(s, 7 + op);
		d.bytes[op] = column_u64(s, 7 + NR_OPERATIONS + op);
	}
	return v->visit(v->ctx, &n, &d);
}

int catalog_each_device(struct catalog *c,
			int (*visit)(void *ctx, const struct segment_name *n,
				     const struct device_facts *d),
			void *ctx, struct err *err)
{
	struct device_visitor v = { visit, ctx };

	return catalog_each_whole(c, catalog_statement(c, EACH_DEVICE, err), device_row, &v, err);
}

struct loss_visitor {
	int (*visit)(void *ctx, const struct segment_name *n, const struct loss *l);
	void *ctx;
};

static int loss_row(sqlite3_stmt *s, void *visitor)
{
	struct loss_visitor *v = visitor;
	struct segment_name n;
	struct loss l = {
		.cause = (uint8_t)sqlite3_column_int(s, 4),
		.count = column_u64(s, 5),
		.count_known = sqlite3_column_int(s, 6) != 0,
		.device = (uint32_t)sqlite3_column_int64(s, 7),
		.begin_real_ns = column_u64(s, 8),
		.end_real_ns = column_u64(s, 9),
	};

	column_name(s, &n);
	return v->visit(v->ctx, &n, &l);
}

int catalog_each_loss(struct catalog *c,
		      int (*visit)(void *ctx, const struct segment_name *n, const struct loss *l),
		      void *ctx, struct err *err)
{
	struct loss_visitor v = { visit, ctx };

	return catalog_each_whole(c, catalog_statement(c, EACH_LOSS, err), loss_row, &v, err);
}

struct damaged_visitor {
	int (*visit)(void *ctx, const char *path, bool is_unread, const char *why);
	void *ctx;
};

static int damaged_row(sqlite3_stmt *s, void *visitor)
{
	struct damaged_visitor *v = visitor;

	return v->visit(v->ctx, (const char *)sqlite3_column_text(s, 0),
			sqlite3_column_int64(s, 1) == CATALOG_UNREAD,
			(const char *)sqlite3_column_text(s, 2));
}

int catalog_each_damaged(struct catalog *c,
			 int (*visit)(void *ctx, const char *path, bool is_unread, const char *why),
			 void *ctx, struct err *err)
{
	struct damaged_visitor v = { visit, ctx };

	return catalog_each_whole(c, catalog_statement(c, EACH_DAMAGED, err), damaged_row, &v, err);
}

static void bind_stream(sqlite3_stmt *s, const struct segment_name *n)
{
	sqlite3_bind_text(s, 1, n->host, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, n->boot_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)n->epoch);
}

/* Ends a statement whose last step gave code. Returns 0 or -errno. */
static int end_statement(struct catalog *c, sqlite3_stmt *s, int code, struct err *err)
{
	int ret = code == SQLITE_ROW || code == SQLITE_DONE ? 0 : catalog_fail(c, err);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret;
}

int catalog_stream(struct catalog *c, struct segment_name *n, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, HIGHEST_OF_STREAM, err);
	uint64_t highest = 0;
	int code, ret, found = 0;

	if (!s)
		return -EIO;
	bind_stream(s, n);
	/*
	 * Takes the highest sequence of the segments and of the summaries. Summaries are stored as
	 * complements, so the last one comes first.
	 */
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		uint64_t last = column_u64(s, 0);

		highest = last > highest ? last : highest;
		found = 1;
	}
	ret = end_statement(c, s, code, err);
	if (ret < 0)
		return ret;
	n->sequence = highest;
	return found;
}

int catalog_next_stream(struct catalog *c, struct segment_name *n, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, NEXT_STREAM, err);
	struct segment_name next = *n;
	int code, ret;

	if (!s)
		return -EIO;
	bind_stream(s, n);
	code = sqlite3_step(s);
	if (code == SQLITE_ROW) {
		snprintf(next.boot_id, sizeof(next.boot_id), "%s", sqlite3_column_text(s, 0));
		next.epoch = column_u64(s, 1);
	}
	ret = end_statement(c, s, code, err);
	if (ret < 0 || code != SQLITE_ROW)
		return ret;
	*n = next;
	return catalog_stream(c, n, err);
}

void catalog_pass_stream(struct segment_name *n)
{
	size_t len = strlen(n->boot_id);

	n->sequence = 0;
	if (n->epoch < SEGMENT_EPOCH_MAX) {
		n->epoch++;
		return;
	}
	/* The next boot id: 0x01 sorts before every character that a boot id may have. */
	n->epoch = 0;
	if (len + 1 < sizeof(n->boot_id))
		memcpy(n->boot_id + len, "\x01", 2);
	else
		n->boot_id[len - 1]++;
}
