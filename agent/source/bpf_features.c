/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/bpf.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "agent/source/bpf_features.h"

#define INSN_NR(a) (sizeof(a) / sizeof((a)[0]))

/* As in linux/bpf.h since 5.12; older headers call the mode BPF_XADD and know no BPF_FETCH. */
#define MODE_ATOMIC 0xc0
#define OP_FETCH    0x01

static bool bpf_features_loads(const struct bpf_insn *insns, size_t nr)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", insns, nr, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool bpf_may_load(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_features_loads(insns, INSN_NR(insns));
}

bool bpf_has_fetch(void)
{
	/* r0 = 0; *(u64 *)(fp - 8) = r0; r0 = fetch_add(*(u64 *)(fp - 8), r0); exit */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_0,
		  .off = -8 },
		{ .code = BPF_STX | MODE_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_0,
		  .off = -8,
		  .imm = BPF_ADD | OP_FETCH },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_features_loads(insns, INSN_NR(insns));
}
