/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include <bpf/bpf.h>

#include "agent/confine/privileges.h"

uint64_t privileges_held(void)
{
	cap_t caps = cap_get_proc();
	uint64_t held = 0;

	for (cap_value_t c = 0; caps && c <= CAP_LAST_CAP; c++) {
		cap_flag_value_t set = CAP_CLEAR;

		if (!cap_get_flag(caps, c, CAP_PERMITTED, &set) && set == CAP_SET)
			held |= PRIVILEGE(c);
	}
	cap_free(caps);
	return held;
}

/* Sets the effective and permitted capabilities to held, and the inheritable ones to none. */
static int set_held(uint64_t held)
{
	cap_t caps = cap_init();
	int ret = caps ? 0 : -ENOMEM;

	for (cap_value_t c = 0; !ret && c <= CAP_LAST_CAP; c++) {
		if (!(held & PRIVILEGE(c)))
			continue;
		if (cap_set_flag(caps, CAP_PERMITTED, 1, &c, CAP_SET) ||
		    cap_set_flag(caps, CAP_EFFECTIVE, 1, &c, CAP_SET))
			ret = -errno;
	}
	if (ret)
		goto out;
	if (cap_set_proc(caps))
		ret = -errno;
out:
	cap_free(caps);
	return ret;
}

int privileges_drop(uint64_t keep, struct err *err)
{
	uint64_t held = privileges_held();
	int ret;

	/*
	 * Limits what a program could gain by execve(2), although the agent starts none. This works
	 * only with CAP_SETPCAP.
	 */
	for (int c = 0; c <= CAP_LAST_CAP; c++)
		if (!(keep & PRIVILEGE(c)))
			prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(err, errno, "privileges: no_new_privs: %s", strerror(errno));
	ret = set_held(held & keep);
	if (ret)
		goto out;
	ret = privileges_held() & ~keep ? -EPERM : 0;
out:
	return ret ? err_set(err, -ret, "privileges: capabilities cannot be given up: %s",
			     strerror(-ret))
		   : 0;
}

bool privileges_bpf_is_free(int program_fd)
{
	cap_t before = cap_get_proc(), without = cap_get_proc();
	struct bpf_prog_info info = { 0 };
	__u32 bytes = sizeof(info);
	bool is_free = false;

	if (before && without && !cap_clear_flag(without, CAP_EFFECTIVE) &&
	    !cap_set_proc(without)) {
		is_free = !bpf_obj_get_info_by_fd(program_fd, &info, &bytes);
		/* A permitted capability can always be made effective again. */
		cap_set_proc(before);
	}
	cap_free(before);
	cap_free(without);
	return is_free;
}

void privileges_name(uint64_t held, char *out, size_t bytes)
{
	size_t len = 0;

	snprintf(out, bytes, "none");
	for (cap_value_t c = 0; c <= CAP_LAST_CAP; c++) {
		char *name = held & PRIVILEGE(c) ? cap_to_name(c) : NULL;

		if (name && len < bytes)
			len += (size_t)snprintf(out + len, bytes - len, "%s%s", len ? "," : "",
						name);
		cap_free(name);
	}
}
