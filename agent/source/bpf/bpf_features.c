/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "agent/source/bpf/bpf_features.h"

#define INSN_NR(a) (sizeof(a) / sizeof((a)[0]))

/*
 * These values are those of linux/bpf.h since Linux 5.12. Older headers call the mode BPF_XADD and
 * do not define BPF_FETCH.
 */
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
	/*
	 * The program is: r0 = 0; *(u64 *)(fp - 8) = r0; r0 = fetch_add(*(u64 *)(fp - 8), r0); exit
	 */
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

int bpf_misses_open(int program_fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", program_fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

uint64_t bpf_misses_read(int fd)
{
	static const char key[] = "recursion_misses:";
	char text[1024], *at;
	ssize_t nr = -1;

	if (fd >= 0 && !lseek(fd, 0, SEEK_SET))
		nr = read(fd, text, sizeof(text) - 1);
	if (nr <= 0)
		return 0;
	text[nr] = 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}
