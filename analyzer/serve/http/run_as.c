/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/serve/http/run_as.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_account(struct run_as *out, const char *user, struct err *err)
{
	struct passwd *account;
	char *end;
	unsigned long number;

	account = getpwnam(user);
	if (account) {
		*out = (struct run_as){ account->pw_uid, account->pw_gid, user, false };
		return 0;
	}
	number = strtoul(user, &end, 10);
	if (*user < '0' || *user > '9' || *end || number >= UINT32_MAX)
		return err_set(err, EINVAL,
			       "user %.64s: there is no such account; `useradd --system %.64s` "
			       "makes it",
			       user, user);
	account = getpwuid((uid_t)number);
	*out = (struct run_as){ (uid_t)number, account ? account->pw_gid : (gid_t)number, NULL,
				false };
	return 0;
}

int run_as_find(struct run_as *out, const char *user, struct err *err)
{
	struct run_as found = { geteuid(), getegid(), NULL, false };
	bool by_root = geteuid() == 0 || getuid() == 0;
	int ret = user ? find_account(&found, user, err) : 0;

	if (ret < 0)
		return ret;
	if (by_root && (!user || found.uid == 0 || found.gid == 0))
		return err_set(err, user ? EINVAL : EUSERS,
			       "%s: it never runs as root; expected the name of another account",
			       user ? user : "started by root");
	if (!by_root && found.uid != geteuid())
		return err_set(err, EINVAL, "user %.64s: only root can become another", user);
	found.by_root = by_root;
	*out = found;
	return 0;
}

int run_as_folder(const struct run_as *r, const char *dir, struct err *err)
{
	if (!r->by_root)
		return 0;
	if (mkdir(dir, 0700) < 0)
		return errno == EEXIST ? 0 : err_set(err, errno, "%s: %s", dir, strerror(errno));
	if (lchown(dir, r->uid, r->gid) < 0)
		return err_set(err, errno, "%s: %s", dir, strerror(errno));
	return 0;
}

/* Returns whether the old user cannot be taken up again. */
static bool is_for_good(const struct run_as *r)
{
	uid_t real, effective, saved;

	return getresuid(&real, &effective, &saved) == 0 && real == r->uid && effective == r->uid &&
	       saved == r->uid && setuid(0) < 0 && setgid(0) < 0;
}

/*
 * Restricts every thread that exists (OpenBLAS starts some when it is loaded): no_new_privs, and a
 * filter that refuses to start programs, to examine other processes and to change what only root
 * may change.
 */
static int run_as_seal(struct err *err)
{
	static const int refused[] = {
		SCMP_SYS(execve),
		SCMP_SYS(execveat),
		SCMP_SYS(ptrace),
		SCMP_SYS(process_vm_readv),
		SCMP_SYS(process_vm_writev),
		SCMP_SYS(mount),
		SCMP_SYS(setns),
		SCMP_SYS(unshare),
		SCMP_SYS(bpf),
		SCMP_SYS(userfaultfd),
		SCMP_SYS(io_uring_setup),
		SCMP_SYS(keyctl),
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int ret = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]) && !ret; i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	/* The kernel or container has no filters. Whoever runs the program there has decided so. */
	if (ret == -EOPNOTSUPP || ret == -ENOSYS || ret == -ECANCELED)
		return 0;
	return ret ? err_set(err, -ret, "system call filter: %s", strerror(-ret)) : 0;
}

static int change_user(const struct run_as *r, struct err *err)
{
	int status = r->name ? initgroups(r->name, r->gid) : setgroups(0, NULL);

	if (status < 0 || setresgid(r->gid, r->gid, r->gid) < 0 ||
	    setresuid(r->uid, r->uid, r->uid) < 0)
		return err_set(err, errno, "user %u: %s", (unsigned int)r->uid, strerror(errno));
	if (!is_for_good(r))
		return err_set(err, EPERM, "user %u: root's rights could not be given up",
			       (unsigned int)r->uid);
	return 0;
}

int run_as_become(const struct run_as *r, struct err *err)
{
	int ret = r->by_root ? change_user(r, err) : 0;

	if (ret < 0)
		return ret;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(err, errno, "no_new_privs: %s", strerror(errno));
	return run_as_seal(err);
}
