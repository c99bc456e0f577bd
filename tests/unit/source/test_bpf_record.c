/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "agent/source/bpf/bpf_record.h"
#include "tests/support/tap.h"

#define TIMES (REQUEST_NO_ARRIVAL | REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION)

/* A kernel whose numbers are its own: none may be taken for granted. */
static struct kernel_btf kernel(void)
{
	struct kernel_btf k = { .sync = 1u << 11,
				.meta = 1u << 12,
				.readahead = 1u << 13,
				.fua = 1u << 14,
				.preflush = 1u << 15 };

	memset(k.operation, OPERATION_OTHER, sizeof(k.operation));
	k.operation[0] = OPERATION_READ;
	k.operation[1] = OPERATION_WRITE;
	k.operation[7] = OPERATION_WRITE;
	k.operation_flags[7] = KERNEL_ZONE_APPEND;
	k.operation_flags[34] = KERNEL_PASSTHROUGH;
	return k;
}

static struct request record(const struct event_request *e)
{
	const struct kernel_btf k = kernel();
	struct request r;

	bpf_record_request(&r, e, &k, LAYER_DEVICE);
	ok(!request_check(&r));
	return r;
}

static void whole(void)
{
	const struct event_request e = { .kind = EVENT_REQUEST,
					 .flags = EVENT_KERNEL_THREAD,
					 .requeues = 3,
					 .cmd_flags = 1 | 1u << 11 | 1u << 14,
					 .arrival_ns = 100,
					 .dispatch_ns = 110,
					 .completion_ns = 150,
					 .sector = 8,
					 .cgroup_id = 42,
					 .bytes = 4096,
					 .tid = 6,
					 .pid = 5,
					 .error = 10, /* BLK_STS_IOERR */
					 .device = 7 << 20 | 1 };
	struct request r = record(&e);

	ok_eq(r.arrival_ns, 100);
	ok_eq(r.dispatch_ns, 110);
	ok_eq(r.completion_ns, 150);
	ok_eq(r.sector, 8);
	ok_eq(r.bytes, 4096);
	ok_eq(r.cgroup_id, 42);
	ok_eq(r.tid, 6);
	ok_eq(r.pid, 5);
	ok_eq(r.device, device_make(7, 1));
	ok_eq(r.error, EIO);
	ok_eq(r.requeues, 3);
	ok_eq(r.operation, OPERATION_WRITE);
	ok_eq(r.source, SOURCE_BPF);
	ok_eq(r.flags, REQUEST_SYNC | REQUEST_FUA | REQUEST_KERNEL_THREAD);
}

/* What is not known is never a time made up without saying so. */
static void times(void)
{
	static const struct {
		uint64_t arrival, dispatch; /* of the event; it ends at 150 */
		uint64_t arrival_ns, dispatch_ns;
		uint32_t flags;
	} cases[] = {
		{ 100, 110, 100, 110, 0 },
		{ 100, 100, 100, 100, 0 },
		{ 150, 150, 150, 150, 0 },
		{ 100, 0, 100, 100, REQUEST_NO_DISPATCH },
		{ 0, 110, 110, 110, REQUEST_NO_ARRIVAL },
		{ 0, 0, 150, 150, REQUEST_NO_ARRIVAL | REQUEST_NO_DISPATCH },
		{ 100, 99, 100, 100, REQUEST_NO_DISPATCH },  /* noted in an earlier life */
		{ 100, 151, 100, 100, REQUEST_NO_DISPATCH }, /* noted for the next one */
		{ 151, 110, 110, 110, REQUEST_NO_ARRIVAL },
		{ 151, 152, 150, 150, REQUEST_NO_ARRIVAL | REQUEST_NO_DISPATCH },
	};

	for (size_t i = 0; i < TAP_NR(cases); i++) {
		const struct event_request e = { .arrival_ns = cases[i].arrival,
						 .dispatch_ns = cases[i].dispatch,
						 .completion_ns = 150,
						 .bytes = 512 };
		struct request r = record(&e);

		ok_eq(r.arrival_ns, cases[i].arrival_ns);
		ok_eq(r.dispatch_ns, cases[i].dispatch_ns);
		ok_eq(r.completion_ns, 150);
		if (!ok_eq(r.flags & TIMES, cases[i].flags))
			tap_note("case %zu", i);
	}
}

static void unfinished(void)
{
	struct event_request e = { .flags = EVENT_NO_COMPLETION, .arrival_ns = 100, .bytes = 512 };
	struct request r = record(&e);

	ok(r.arrival_ns > 100); /* since boot: it counts from now */
	ok(r.arrival_ns == r.dispatch_ns && r.dispatch_ns == r.completion_ns);
	ok_eq(r.flags & TIMES, REQUEST_NO_COMPLETION | REQUEST_NO_DISPATCH);
	e.arrival_ns = 0;
	ok_eq(record(&e).flags & TIMES, TIMES);
}

static void nobody(void)
{
	const struct event_request e = { .arrival_ns = 1, .dispatch_ns = 1, .completion_ns = 1 };

	ok_eq(record(&e).flags, REQUEST_NO_ISSUER | REQUEST_NO_CGROUP);
}

static void operations(void)
{
	struct event_request e = { .cmd_flags = 1 | 1u << 15, .sector = 77 };

	ok_eq(record(&e).operation, OPERATION_FLUSH);
	ok_eq(record(&e).sector, 0);
	ok(record(&e).flags & REQUEST_PREFLUSH);
	e.bytes = 512;
	ok_eq(record(&e).operation, OPERATION_WRITE);
	ok_eq(record(&e).sector, 77);
	e.cmd_flags = 1;
	e.bytes = 0;
	ok_eq(record(&e).operation, OPERATION_WRITE);
	e.cmd_flags = 7;
	ok_eq(record(&e).operation, OPERATION_WRITE);
	ok(record(&e).flags & REQUEST_ZONE_APPEND);
	e.cmd_flags = 34;
	ok_eq(record(&e).operation, OPERATION_OTHER);
	ok(record(&e).flags & REQUEST_PASSTHROUGH);
	e.cmd_flags = 1u << 12 | 1u << 13;
	ok_eq(record(&e).operation, OPERATION_READ);
	ok_eq(record(&e).flags & (REQUEST_META | REQUEST_READAHEAD),
	      REQUEST_META | REQUEST_READAHEAD);
}

static void errors(void)
{
	ok_eq(kernel_block_errno(0), 0);
	ok_eq(kernel_block_errno(-EIO), EIO);
	ok_eq(kernel_block_errno(-4095), 4095);
	ok_eq(kernel_block_errno(-4096), EIO);
	ok_eq(kernel_block_errno(INT32_MIN), EIO);
	ok_eq(kernel_block_errno(1), EOPNOTSUPP);
	ok_eq(kernel_block_errno(3), ENOSPC);
	ok_eq(kernel_block_errno(7), ENODATA);
	ok_eq(kernel_block_errno(9), ENOMEM);
	ok_eq(kernel_block_errno(10), EIO);
	ok_eq(kernel_block_errno(1000), EIO);
}

static const struct tap_test tests[] = {
	{ "a whole record is a request of all its fields", whole },
	{ "a time that is missing or impossible is marked, and stands at the next one known",
	  times },
	{ "one whose end was not seen counts from now", unfinished },
	{ "without thread and cgroup it says so", nobody },
	{ "operations and flags are those of this kernel's numbers", operations },
	{ "an errno and a blk_status_t both become an errno", errors },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
