/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "agent/confine/syscall_filter.h"

enum use { ALWAYS, KEEPS, SENDS, LISTENS, STORES, PRINTS, SHOWS, BLKTRACES, STARTS, NR_USES };

static const char *const use_names[NR_USES] = { "always",   "keeps",	"sends",
						"listens",  "stores",	"prints",
						"terminal", "blktrace", "start" };

/* One system call, or one use of it: the argument with number arg is masked and compared. */
struct call {
	const char *name;
	uint8_t use;
	bool is_checked;
	struct scmp_arg_cmp check;
};

#define ANY(use, name)             \
	{                          \
		name, use, false,  \
		{                  \
			0, 0, 0, 0 \
		}                  \
	}
#define IF(use, name, arg, op, ...)          \
	{                                    \
		name, use, true,             \
		{                            \
			arg, op, __VA_ARGS__ \
		}                            \
	}

/*
 * Calls are named; a name that an architecture does not have is skipped. Some calls are left out of
 * the second phase on purpose, because their callers work without them: mremap (realloc copies
 * instead), getsockname (curl's notes on a connection, and the order of addresses), socketpair (by
 * which another thread could wake curl), uname (the resolver's domain), FIONREAD (the size of a
 * datagram), getpid (OpenSSL compares it with itself). sendmmsg is left out because the resolver
 * asks for IPv4 and IPv6 one after the other (main.c).
 */
static const struct call calls[] = {
	/* memory and threads */
	ANY(ALWAYS, "mmap"),
	ANY(ALWAYS, "munmap"),
	ANY(ALWAYS, "mprotect"),
	ANY(ALWAYS, "madvise"),
	ANY(ALWAYS, "brk"),
	ANY(ALWAYS, "futex"),
	ANY(ALWAYS, "rt_sigprocmask"),
	ANY(ALWAYS, "rt_sigreturn"),
	ANY(ALWAYS, "restart_syscall"),
	ANY(ALWAYS, "exit"),
	ANY(ALWAYS, "exit_group"),
	/* time, also on machines where reading the clock takes a system call */
	ANY(ALWAYS, "clock_gettime"),
	ANY(ALWAYS, "clock_nanosleep"),
	/* files: the kernel's reports about disks and processes, and the spool */
	ANY(ALWAYS, "openat"),
	ANY(ALWAYS, "close"),
	ANY(ALWAYS, "read"),
	ANY(ALWAYS, "write"),
	ANY(ALWAYS, "lseek"),
	ANY(ALWAYS, "fcntl"),
	ANY(ALWAYS, "newfstatat"),
	ANY(ALWAYS, "readlink"),
	ANY(ALWAYS, "getdents64"),
	ANY(ALWAYS, "unlinkat"),
	ANY(ALWAYS, "renameat"),
	ANY(ALWAYS, "fsync"),
#ifdef SYS_poll
	ANY(ALWAYS, "poll"),
#else
	ANY(ALWAYS, "ppoll"), /* The C library turns poll() into this call. */
#endif
	/*
	 * Programs of the tracer that were loaded at the start are attached when they are needed;
	 * no other use of bpf(2) is allowed.
	 */
	IF(ALWAYS, "bpf", 0, SCMP_CMP_EQ, BPF_LINK_CREATE, 0),
	IF(ALWAYS, "bpf", 0, SCMP_CMP_EQ, BPF_RAW_TRACEPOINT_OPEN, 0),

	/* data that must outlive the process: the spool, the account, a store */
	ANY(KEEPS, "msync"),
	ANY(KEEPS,
	    "mkdir"), /* A folder of the spool or store that somebody removed is made again. */
	ANY(STORES, "ftruncate"),
	ANY(STORES, "access"),

	IF(SENDS, "socket", 0, SCMP_CMP_EQ, AF_INET, 0),
	IF(SENDS, "socket", 0, SCMP_CMP_EQ, AF_INET6, 0),
	ANY(SENDS, "connect"),
	ANY(SENDS, "socketcall"), /* On some machines one call stands for all socket calls. */
	ANY(SENDS, "sendto"),
	ANY(SENDS, "recvfrom"),
	ANY(SENDS, "setsockopt"),
	ANY(SENDS, "getsockopt"),
	ANY(SENDS, "getpeername"), /* curl uses a connection again only if it has its address. */
	ANY(SENDS, "getrandom"),
	ANY(SENDS, "writev"), /* The C library asks name servers over TCP by this call. */

	ANY(LISTENS, "socketcall"),
	ANY(LISTENS, "accept4"),
	ANY(LISTENS, "sendto"),
	ANY(LISTENS, "sendmsg"),
	ANY(LISTENS, "recvfrom"),
	ANY(LISTENS, "setsockopt"),

	ANY(PRINTS, "writev"),

	/* The view asks whether it runs in the foreground of its terminal. */
	ANY(SHOWS, "ioctl"),
	ANY(SHOWS, "getpgrp"),
	ANY(SHOWS, "rt_sigaction"),
	ANY(SHOWS, "pselect6"),
	/* s390x uses this call after signals that the terminal's library handles. */
	ANY(SHOWS, "sigreturn"),
	/* The capabilities of the terminal are read from a file, possibly one of the user's own. */
	ANY(SHOWS, "access"),
	ANY(SHOWS, "getuid"),
	ANY(SHOWS, "geteuid"),
	ANY(SHOWS, "getgid"),
	ANY(SHOWS, "getegid"),

	ANY(BLKTRACES, "ioctl"),
	ANY(BLKTRACES, "access"),
	ANY(BLKTRACES, "pread64"),
	ANY(BLKTRACES, "sched_setaffinity"),
	ANY(BLKTRACES, "sched_getaffinity"),

	/* the first phase allows all calls above and these */
	ANY(STARTS, "bpf"),
	ANY(STARTS, "perf_event_open"),
	ANY(STARTS, "mremap"),
	ANY(STARTS, "sysinfo"), /* qsort(3) asks once how much memory it may use. */
	ANY(STARTS, "setpriority"),
	ANY(STARTS, "ppoll"),
	ANY(STARTS, "memfd_create"),
	ANY(STARTS, "fsopen"),
	ANY(STARTS, "fsconfig"),
	ANY(STARTS, "fsmount"),
	ANY(STARTS, "statfs"),
	ANY(STARTS, "fstatfs"),
	ANY(STARTS, "statfs64"), /* s390x only */
	ANY(STARTS, "fstatfs64"),
	ANY(STARTS, "socket"),
	ANY(STARTS, "bind"),
	ANY(STARTS, "listen"),
	ANY(STARTS, "recvmsg"),
	ANY(STARTS, "clone"), /* Threads are started only in the first phase. */
	ANY(STARTS, "clone3"),
	ANY(STARTS, "rseq"), /* glibc ends the process where a new thread is denied this call. */
	ANY(STARTS, "set_robust_list"),
	ANY(STARTS, "prctl"),
	ANY(STARTS, "seccomp"),
	ANY(STARTS, "capget"),
	ANY(STARTS, "capset"),
	ANY(STARTS, "prlimit64"),
	ANY(STARTS, "setrlimit"),
	ANY(STARTS, "ioctl"),
	ANY(STARTS, "kill"),
	ANY(STARTS, "getpid"),
	ANY(STARTS, "gettid"),
	ANY(STARTS, "getuid"),
	ANY(STARTS, "geteuid"),
	ANY(STARTS, "getgid"),
	ANY(STARTS, "getegid"),
	ANY(STARTS, "uname"),
	ANY(STARTS, "rt_sigaction"),
	ANY(STARTS, "sched_getaffinity"),
	ANY(STARTS, "sched_setaffinity"),
	ANY(STARTS, "eventfd2"),
	ANY(STARTS, "epoll_create1"),
	ANY(STARTS, "epoll_ctl"),
	ANY(STARTS, "pipe2"),
	ANY(STARTS, "flock"),
	ANY(STARTS, "fallocate"),
	ANY(STARTS, "fchdir"),
	ANY(STARTS, "chdir"),
	ANY(STARTS, "mkdir"),
	ANY(STARTS, "mkdirat"),
	ANY(STARTS, "faccessat"),
	ANY(STARTS, "faccessat2"),
	ANY(STARTS, "getsockname"),
};
#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

/*
 * The agent never makes these calls, so a process that makes one is under foreign control and is
 * ended.
 */
static const char *const fatal[] = { "execve",
				     "execveat",
				     "fork",
				     "vfork",
				     "ptrace",
				     "init_module",
				     "finit_module",
				     "kexec_load",
				     "mount",
				     "pivot_root",
				     "setns",
				     "unshare",
				     "setuid",
				     "setgid",
				     "setresuid",
				     "setresgid",
				     "userfaultfd",
				     "process_vm_readv",
				     "process_vm_writev" };

static bool is_used(uint8_t use, enum syscall_phase phase, const struct syscall_use *u)
{
	const bool used[NR_USES] = { [ALWAYS] = true,	   [KEEPS] = u->sends || u->stores,
				     [SENDS] = u->sends,   [LISTENS] = u->listens,
				     [STORES] = u->stores, [PRINTS] = u->prints,
				     [SHOWS] = u->shows,   [BLKTRACES] = u->blktraces };

	return phase == SYSCALLS_START || used[use];
}

/* Returns whether an earlier entry that is in use names the same call as calls[at]. */
static bool is_repeated(size_t at, enum syscall_phase phase, const struct syscall_use *use)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(calls[i].name, calls[at].name) && is_used(calls[i].use, phase, use))
			return true;
	return false;
}

size_t syscall_filter_count(enum syscall_phase phase, const struct syscall_use *use)
{
	size_t nr = 0;

	for (size_t i = 0; i < NR_CALLS; i++)
		nr += is_used(calls[i].use, phase, use) && !is_repeated(i, phase, use) &&
		      seccomp_syscall_resolve_name(calls[i].name) >= 0;
	return nr;
}

/* Returns whether another entry allows the same call with any arguments. */
static bool is_free_elsewhere(size_t at, enum syscall_phase phase, const struct syscall_use *use)
{
	for (size_t i = 0; i < NR_CALLS; i++)
		if (!calls[i].is_checked && !strcmp(calls[i].name, calls[at].name) &&
		    is_used(calls[i].use, phase, use))
			return true;
	return false;
}

static int add_calls(scmp_filter_ctx filter, enum syscall_phase phase,
		     const struct syscall_use *use)
{
	for (size_t i = 0; i < NR_CALLS; i++) {
		int nr = seccomp_syscall_resolve_name(calls[i].name), ret = 0;

		if (nr < 0 || !is_used(calls[i].use, phase, use))
			continue;
		if (!calls[i].is_checked)
			ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, nr, 0, NULL);
		else if (!is_free_elsewhere(i, phase, use))
			ret = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, nr, 1,
						     &calls[i].check);
		if (ret && ret != -EEXIST)
			return ret;
	}
	return 0;
}

static int add_fatal(scmp_filter_ctx filter)
{
	int ret = 0;

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++) {
		int nr = seccomp_syscall_resolve_name(fatal[i]);

		if (nr >= 0)
			ret = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, nr, 0);
		if (ret)
			return ret;
	}
	return 0;
}

static int syscall_filter_build(scmp_filter_ctx filter, enum syscall_phase phase,
				const struct syscall_use *use, bool only_log)
{
	int ret = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);

	if (ret)
		return ret;
	ret = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (ret)
		return ret;
	/*
	 * The filter returns the kernel's own errno, and is a tree instead of a chain. Both are
	 * only improvements, so a failure is ignored.
	 */
	seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	ret = add_calls(filter, phase, use);
	if (ret)
		return ret;
	if (!only_log) {
		ret = add_fatal(filter);
		if (ret)
			return ret;
	}
	return seccomp_load(filter);
}

int syscall_filter_load(enum syscall_phase phase, const struct syscall_use *use, bool only_log,
			struct err *err)
{
	scmp_filter_ctx filter = seccomp_init(only_log ? SCMP_ACT_LOG : SCMP_ACT_ERRNO(ENOSYS));
	int ret;

	if (!filter)
		return err_set(err, ENOMEM, "seccomp: no memory");
	ret = syscall_filter_build(filter, phase, use, only_log);
	seccomp_release(filter);
	if (ret == -EINVAL || ret == -EOPNOTSUPP)
		ret = -ENOSYS;
	return ret ? err_set(err, -ret, "seccomp: %s",
			     ret == -ENOSYS ? "this kernel has no filters of system calls"
					    : strerror(-ret))
		   : 0;
}

void syscall_filter_print(FILE *out)
{
	for (size_t i = 0; i < NR_CALLS; i++)
		fprintf(out, "%s\t%s\n", use_names[calls[i].use], calls[i].name);
}
