/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_bpf COMMAND...: runs it where bpf(2) is refused, as a container's seccomp filter does. */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (argc < 2 || !ctx || seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(bpf), 0) ||
	    seccomp_load(ctx)) {
		fprintf(stderr, "usage: refuse_bpf COMMAND...\n");
		return 2;
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
	return 127;
}
