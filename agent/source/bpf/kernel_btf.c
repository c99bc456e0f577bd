/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

#include "agent/source/bpf/kernel_btf.h"
#include "formats/request.h"

int kernel_btf_tracepoint_args(const struct btf *btf, const char *tracepoint)
{
	char name[64];
	const struct btf_type *type;
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	type = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type);
	if (!type || !btf_is_ptr(type))
		return -1;
	type = btf__type_by_id(btf, type->type);
	if (!type || !btf_is_func_proto(type))
		return -1;
	return btf_vlen(type) - 1;
}

/* Maps the names REQ_OP_* to operations. A name that is not listed becomes OPERATION_OTHER. */
static const struct {
	const char *name;
	uint8_t operation, flags;
} operations[] = {
	{ "REQ_OP_READ", OPERATION_READ, 0 },
	{ "REQ_OP_WRITE", OPERATION_WRITE, 0 },
	{ "REQ_OP_FLUSH", OPERATION_FLUSH, 0 },
	{ "REQ_OP_DISCARD", OPERATION_DISCARD, 0 },
	{ "REQ_OP_SECURE_ERASE", OPERATION_DISCARD, 0 },
	{ "REQ_OP_WRITE_SAME", OPERATION_OTHER, 0 },
	{ "REQ_OP_ZONE_APPEND", OPERATION_WRITE, KERNEL_ZONE_APPEND },
	{ "REQ_OP_DRV_IN", OPERATION_OTHER, KERNEL_PASSTHROUGH },
	{ "REQ_OP_DRV_OUT", OPERATION_OTHER, KERNEL_PASSTHROUGH },
	{ "REQ_OP_SCSI_IN", OPERATION_OTHER, KERNEL_PASSTHROUGH },
	{ "REQ_OP_SCSI_OUT", OPERATION_OTHER, KERNEL_PASSTHROUGH },
};

static void operation_learn(struct kernel_btf *k, const char *name, uint32_t value)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (value >= KERNEL_NR_OPERATIONS || strcmp(name, operations[i].name))
			continue;
		k->operation[value] = operations[i].operation;
		k->operation_flags[value] = operations[i].flags;
	}
}

static void flag_learn(struct kernel_btf *k, const char *name, uint32_t bit)
{
	uint32_t mask = bit < 32 ? 1u << bit : 0;

	if (!strcmp(name, "__REQ_SYNC"))
		k->sync = mask;
	else if (!strcmp(name, "__REQ_META"))
		k->meta = mask;
	else if (!strcmp(name, "__REQ_FUA"))
		k->fua = mask;
	else if (!strcmp(name, "__REQ_PREFLUSH"))
		k->preflush = mask;
	else if (!strcmp(name, "__REQ_RAHEAD"))
		k->readahead = mask;
}

/* Calls learn() for each member of the enum. Returns false where the kernel has no such enum. */
static bool enum_learn(struct kernel_btf *k, const struct btf *btf, const char *name,
		       void (*learn)(struct kernel_btf *, const char *, uint32_t))
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_ENUM);
	const struct btf_type *type;
	const struct btf_enum *member;

	if (id < 0)
		return false;
	type = btf__type_by_id(btf, (uint32_t)id);
	member = btf_enum(type);
	for (int i = 0; i < btf_vlen(type); i++, member++)
		learn(k, btf__name_by_offset(btf, member->name_off), (uint32_t)member->val);
	return true;
}

/*
 * Finds the masks of RQF_* in rq_flags. Up to Linux 6.10 these are macros, which BTF does not
 * describe; their values were the defaults below.
 */
static void request_masks_learn(struct request_masks *m, const struct btf *btf)
{
	uint32_t nr = btf__type_cnt(btf);

	*m = (struct request_masks){ .flush_sequence = 1u << 4, .io_stat = 1u << 13 };
	for (uint32_t id = 1; id < nr; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		const struct btf_enum *member = btf_enum(type);

		if (!btf_is_enum(type) || !btf_vlen(type) ||
		    strncmp(btf__name_by_offset(btf, member->name_off), "__RQF_", 6) != 0)
			continue;
		for (int i = 0; i < btf_vlen(type); i++, member++) {
			const char *name = btf__name_by_offset(btf, member->name_off);

			if (member->val < 0 || member->val > 31)
				continue;
			if (!strcmp(name, "__RQF_FLUSH_SEQ"))
				m->flush_sequence = 1u << member->val;
			else if (!strcmp(name, "__RQF_IO_STAT"))
				m->io_stat = 1u << member->val;
		}
		return;
	}
}

static int kernel_btf_learn(struct kernel_btf *k, const struct btf *btf, struct err *err)
{
	int issue = kernel_btf_tracepoint_args(btf, "block_rq_issue");
	int queue = kernel_btf_tracepoint_args(btf, "block_bio_queue");

	if (issue < 1 || issue > 2 || queue < 1 || queue > 2)
		return err_set(err, EINVAL,
			       "kernel BTF: block_rq_issue takes %d and block_bio_queue %d "
			       "arguments, expected 1 or 2 of each",
			       issue, queue);
	memset(k->operation, OPERATION_OTHER, sizeof(k->operation));
	/* The enum is called req_op since Linux 6.0 (commit ff07a02e9e8e), and req_opf before. */
	if (!enum_learn(k, btf, "req_op", operation_learn) &&
	    !enum_learn(k, btf, "req_opf", operation_learn))
		return err_set(err, EINVAL, "kernel BTF: neither enum req_op nor req_opf in it");
	if (!enum_learn(k, btf, "req_flag_bits", flag_learn))
		return err_set(err, EINVAL, "kernel BTF: no enum req_flag_bits in it");
	request_masks_learn(&k->request_masks, btf);
	k->queue_before_request = issue == 2;
	k->queue_before_bio = queue == 2;
	k->has_io_start = kernel_btf_tracepoint_args(btf, "block_io_start") == 1;
	k->has_merge = kernel_btf_tracepoint_args(btf, "block_rq_merge") == issue;
	return 0;
}

int kernel_btf_read(struct kernel_btf *k, const char *path, struct err *err)
{
	struct btf *btf = path ? btf__parse(path, NULL) : btf__load_vmlinux_btf();
	struct kernel_btf learnt = { 0 };
	int ret;

	if (!btf)
		return err_set(err, ENOENT, "%s: no BTF of the kernel: %s",
			       path ? path : "/sys/kernel/btf/vmlinux", strerror(errno));
	ret = kernel_btf_learn(&learnt, btf, err);
	btf__free(btf);
	if (ret)
		return ret;
	*k = learnt;
	return 0;
}

uint16_t kernel_block_errno(int32_t error)
{
	/*
	 * Maps blk_status_t to errno, after include/linux/blk_types.h. The numbers from 14 on have
	 * changed over time; they are those of Linux 6.x, and approximate for older kernels.
	 */
	static const uint16_t status[] = {
		0,	EOPNOTSUPP, ETIMEDOUT, ENOSPC,	ENOLINK, EREMOTEIO, EBADE,	  ENODATA,
		EILSEQ, ENOMEM,	    EIO,       EREMCHG, EAGAIN,	 EBUSY,	    ETOOMANYREFS, EOVERFLOW,
		ENODEV, ETIME,	    EIO,       EINVAL,
	};

	if (error < 0)
		return error >= -4095 ? (uint16_t)-error : EIO;
	if ((size_t)error >= sizeof(status) / sizeof(status[0]))
		return EIO;
	return status[error];
}
