/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * kernel.h: the kernel structs that the programs use, with only the members that they read.
 *
 * CO-RE finds each member at its offset in the running kernel (preserve_access_index), so this
 * header replaces a generated vmlinux.h. A struct whose name ends in ___name is a flavour: the same
 * kernel struct as another version defines it; compat.bpf.h chooses between them.
 */
#ifndef BPF_KERNEL_H
#define BPF_KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>

typedef __u64 u64;
typedef __u32 u32;
typedef __u16 u16;
typedef __u8 u8;
typedef __s32 s32;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	u64 id; /* since Linux 5.5, commit 67c0496e87d1 */
};

struct cgroup {
	struct kernfs_node *kn;
	int level;
	struct cgroup *ancestors[0]; /* since Linux 6.1, commit 7f203bc89eb6 */
};

struct cgroup___ids {
	u64 ancestor_ids[0]; /* up to Linux 6.0 */
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct blkcg {
	struct cgroup_subsys_state css;
};

struct blkcg_gq {
	struct blkcg *blkcg;
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk; /* since Linux 5.15, commit d152c682f03c */
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct block_device *bi_bdev; /* since Linux 5.12, commit 309dca309fc3 */
	unsigned int bi_opf;
	u8 bi_status;
	struct bvec_iter bi_iter;
	struct bio *bi_next;
	void *bi_private;
	struct blkcg_gq *bi_blkg; /* with CONFIG_BLK_CGROUP */
};

struct bio___disk {
	struct gendisk *bi_disk; /* up to Linux 5.11 */
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int rq_flags;
	unsigned int __data_len;
	__u64 __sector;
	struct bio *bio;
	u64 start_time_ns;
	u64 io_start_time_ns;
};

struct request___disk {
	struct gendisk *rq_disk; /* up to Linux 5.16, commit f3fa33acca9f */
};

struct blk_plug {
	u64 cur_ktime; /* since Linux 6.9, commit da4c8c3d0975 */
};

struct task_struct {
	unsigned int flags;
};

#pragma clang attribute pop

enum req_flag_bits {
	__REQ_PREFLUSH = 18,
};

#define REQ_OP_MASK    0xffu
#define REQ_OP_WRITE   1u
#define REQ_OP_FLUSH   2u
#define REQ_OP_DRV_IN  34u
#define REQ_OP_DRV_OUT 35u
#define PF_KTHREAD     0x00200000u
#define PF_BLOCK_TS    0x20000000u /* since Linux 6.9: the task has a time cached in its plug */

#endif
