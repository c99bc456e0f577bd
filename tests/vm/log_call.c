/* SPDX-License-Identifier: Apache-2.0 */
/* log_call: one call that its filter logs, getppid(2): whether this kernel tells of such calls. */
#include <seccomp.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (!ctx || seccomp_rule_add(ctx, SCMP_ACT_LOG, SCMP_SYS(getppid), 0) ||
	    seccomp_load(ctx)) {
		fprintf(stderr, "log_call: the filter cannot be loaded\n");
		return 2;
	}
	return getppid() < 0;
}
