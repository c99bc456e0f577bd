/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/confine/privileges.h"
#include "agent/confine/syscall_filter.h"
#include "tests/support/tap.h"

#define CHILD_UNFILTERED 99 /* this kernel, or an emulator, has no filters */

static const struct syscall_use every_use = { true, true, true, true, true, true };

/* What a child answers that has loaded both phases: its wait status. */
static int in_filter(const struct syscall_use *use, int (*act)(void))
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		struct rlimit no_core = { 0, 0 };
		struct err err = { 0 };
		int ret;

		setrlimit(RLIMIT_CORE, &no_core);
		ret = syscall_filter_load(SYSCALLS_START, use, false, &err);
		if (!ret)
			ret = syscall_filter_load(SYSCALLS_RUN, use, false, &err);
		_exit(ret ? CHILD_UNFILTERED : act());
	}
	waitpid(child, &status, 0);
	return status;
}

static bool has_filters(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return false;
#else
	struct syscall_use none = { false };
	int status = in_filter(&none, getpagesize);

	return !(WIFEXITED(status) && WEXITSTATUS(status) == CHILD_UNFILTERED);
#endif
}

static int start_program(void)
{
	execl("/bin/true", "true", NULL);
	return errno;
}

static int load_program(void)
{
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr)) < 0 ? errno : 0;
}

static int make_map(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY };

	return syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr)) < 0 ? errno : 0;
}

static int make_link(void)
{
	union bpf_attr attr = { .link_create = { .prog_fd = 1000 } };

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0 ? errno : 0;
}

static int make_process(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) < 0 ? errno : 0;
}

static int make_thread(void)
{
	return syscall(SYS_clone, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM, 0, 0, 0, 0) < 0 ? errno
											   : 0;
}

static int make_inet_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
}

static int make_packet_socket(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0) < 0 ? errno : 0;
}

static int raise_capability(void)
{
	return syscall(SYS_capset, NULL, NULL) < 0 ? errno : 0;
}

static int be_root(void)
{
	return setresuid(0, 0, 0);
}

static int read_clock(void)
{
	char text[16];
	FILE *f = fopen("/proc/uptime", "re");

	return f && fgets(text, sizeof(text), f) && !fclose(f) ? 0 : 1;
}

static void answers(const struct syscall_use *use, int (*act)(void), int want, const char *what)
{
	int status = in_filter(use, act);

	if (!ok(WIFEXITED(status) && WEXITSTATUS(status) == want))
		tap_note("%s: wait status 0x%x, expected to exit with %d", what, status, want);
}

static void kills(int (*act)(void), const char *what)
{
	int status = in_filter(&every_use, act);

	if (!ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS))
		tap_note("%s: wait status 0x%x, expected SIGSYS", what, status);
}

static void what_no_correct_path_does_ends_the_process(void)
{
	if (!has_filters())
		tap_skip("seccomp", "no filters of system calls here");
	kills(start_program, "execve");
	kills(be_root, "setresuid");
}

static void what_is_not_listed_is_not_there(void)
{
	static const struct syscall_use none = { false };
	static const struct syscall_use sends = { .sends = true };

	if (!has_filters())
		tap_skip("seccomp", "no filters of system calls here");
	answers(&every_use, load_program, ENOSYS, "BPF_PROG_LOAD");
	answers(&every_use, make_map, ENOSYS, "BPF_MAP_CREATE");
	answers(&every_use, make_link, EBADF, "BPF_LINK_CREATE");
	answers(&every_use, make_process, ENOSYS, "clone for a process");
	answers(&every_use, make_thread, ENOSYS, "clone for a thread");
	answers(&every_use, raise_capability, ENOSYS, "capset");
	answers(&none, make_inet_socket, ENOSYS, "socket without a sink that sends");
	answers(&sends, make_inet_socket, 0, "socket with one");
	answers(&every_use, make_packet_socket, ENOSYS, "a packet socket");
	answers(&none, read_clock, 0, "a file in /proc");
}

/*
 * The address of a name server on loopback. It answers each question for an IPv4 address with
 * 127.0.0.1, and any other question with nothing, either over TCP or over UDP.
 */
static struct sockaddr_in name_server;

static size_t name_server_answer(uint8_t *text, size_t len)
{
	static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1 };
	bool is_a = len > 16 && text[len - 3] == 1; /* The question ends with its type and class. */

	text[2] = 0x85; /* an answer of the server that knows */
	text[3] = 0x80;
	text[7] = is_a;
	if (!is_a)
		return len;
	memcpy(text + len, record, sizeof(record));
	return len + sizeof(record);
}

/* Answers the questions of one TCP connection after another until it is ended by a signal. */
static void name_server_run_tcp(int fd)
{
	uint8_t text[2 + 1024];

	for (;;) {
		int c = accept(fd, NULL, NULL);

		while (c >= 0 && recv(c, text, 2, MSG_WAITALL) == 2) {
			size_t len = (size_t)text[0] << 8 | text[1];

			if (len > 512 || recv(c, text + 2, len, MSG_WAITALL) != (ssize_t)len)
				break;
			len = name_server_answer(text + 2, len);
			text[0] = (uint8_t)(len >> 8);
			text[1] = (uint8_t)len;
			if (send(c, text, len + 2, MSG_NOSIGNAL) != (ssize_t)len + 2)
				break;
		}
		close(c);
	}
}

/* Answers the questions that come over UDP until it is ended by a signal. */
static void name_server_run_udp(int fd)
{
	uint8_t text[1024];

	for (;;) {
		struct sockaddr_in from;
		socklen_t size = sizeof(from);
		ssize_t len = recvfrom(fd, text, 512, 0, (struct sockaddr *)&from, &size);

		if (len > 16)
			sendto(fd, text, name_server_answer(text, (size_t)len), 0,
			       (struct sockaddr *)&from, size);
	}
}

static int look_up(unsigned long options)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	int ret = res_init();

	_res.options |= options;
	_res.nscount = 1;
	_res.nsaddr_list[0] = name_server;
	_res.retry = 1;
	_res.retrans = 5; /* seconds */
	ret = ret ? ret : getaddrinfo("analyzer.test", "443", &hints, &found);
	if (found)
		freeaddrinfo(found);
	return ret ? 1 : 0;
}

static int look_up_over_tcp(void)
{
	return look_up(RES_USEVC);
}

/* As the agent does it (main.c). */
static int look_up_one_family_at_once(void)
{
	setenv("RES_OPTIONS", "single-request", 1);
	return look_up(0);
}

/* Looks a name up within the filter while a child process is the name server. */
static void name_is_looked_up(int type, void (*serve)(int), int (*act)(void), const char *what)
{
	static const struct syscall_use sends = { .sends = true };
	socklen_t len = sizeof(name_server);
	pid_t child;
	int fd;

	if (!has_filters())
		tap_skip("seccomp", "no filters of system calls here");
	fd = socket(AF_INET, type, 0);
	name_server = (struct sockaddr_in){ .sin_family = AF_INET,
					    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	if (!ok(fd >= 0 && !bind(fd, (struct sockaddr *)&name_server, len) &&
		(type != SOCK_STREAM || !listen(fd, 8)) &&
		!getsockname(fd, (struct sockaddr *)&name_server, &len)))
		return;
	child = fork();
	if (!child)
		serve(fd);
	close(fd);
	answers(&sends, act, 0, what);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void names_are_looked_up_over_udp(void)
{
	name_is_looked_up(SOCK_DGRAM, name_server_run_udp, look_up_one_family_at_once,
			  "a look-up of one family at once");
}

/* As where an answer is too large for UDP. */
static void names_are_looked_up_over_tcp(void)
{
	name_is_looked_up(SOCK_STREAM, name_server_run_tcp, look_up_over_tcp, "a look-up over TCP");
}

/* docs/security.md gives the same figures as the lists: 27 to 40, and with a terminal. */
static void documents_its_counts(size_t nr_shown, size_t nr_most)
{
	static char text[65536];
	FILE *docs = fopen("docs/security.md", "re");
	size_t nr = docs ? fread(text, 1, sizeof(text) - 1, docs) : 0;
	char sentence[256];

	text[nr] = 0;
	if (docs)
		fclose(docs);
	snprintf(sentence, sizeof(sentence),
		 "- 27 calls in every case; 31 with a store, 32 with `--listen`, 38 with an "
		 "analyzer to send to, 40 with both;\n- %zu with `--top` on a terminal besides, "
		 "and %zu with every use at once.",
		 nr_shown, nr_most);
	if (!ok(strstr(text, sentence) != NULL))
		tap_note("docs/security.md does not say: %s", sentence);
}

/* The figure of docs/security.md. */
static void lists_are_short(void)
{
	const struct syscall_use none = { false };
	const struct syscall_use metrics = { .listens = true };
	const struct syscall_use sends = { .sends = true };
	const struct syscall_use both = { .sends = true, .listens = true };
	const struct syscall_use stores = { .stores = true };
	const struct syscall_use shown = { .sends = true, .listens = true, .shows = true };
	/* s390x: one call for all that is done with sockets */
	const bool one = seccomp_syscall_resolve_name("socketcall") >= 0;

	ok_int(syscall_filter_count(SYSCALLS_RUN, &none), 27);
	ok_int(syscall_filter_count(SYSCALLS_RUN, &metrics), one ? 28 : 32);
	ok_int(syscall_filter_count(SYSCALLS_RUN, &sends), one ? 32 : 38);
	ok_int(syscall_filter_count(SYSCALLS_RUN, &both), one ? 32 : 40);
	ok_int(syscall_filter_count(SYSCALLS_RUN, &stores), 31);
	if (!one)
		documents_its_counts(syscall_filter_count(SYSCALLS_RUN, &shown),
				     syscall_filter_count(SYSCALLS_RUN, &every_use));
	ok(syscall_filter_count(SYSCALLS_START, &none) > syscall_filter_count(SYSCALLS_RUN, &none));
}

static void every_call_is_documented(void)
{
	static char text[65536];
	FILE *docs = fopen("docs/security.md", "re"), *lines = tmpfile();
	char line[128], use[32], name[64], quoted[80];
	size_t nr = docs ? fread(text, 1, sizeof(text) - 1, docs) : 0;

	if (!ok(docs && lines && nr > 0 && nr < sizeof(text) - 1))
		return;
	syscall_filter_print(lines);
	rewind(lines);
	while (fgets(line, sizeof(line), lines)) {
		if (!ok(sscanf(line, "%31s %63s", use, name) == 2))
			break;
		snprintf(quoted, sizeof(quoted), "`%s`", name);
		if (!ok(strstr(text, quoted) != NULL))
			tap_note("docs/security.md does not name %s", name);
	}
	fclose(lines);
	fclose(docs);
}

static int drop_all_and_look(void)
{
	struct err err = { 0 };

	if (privileges_drop(0, &err) || privileges_held())
		return 1;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return 2;
	return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_BPF, 0, 0) ? 0 : 3;
}

static void nothing_is_held_after_the_drop(void)
{
	pid_t child = fork();
	int status = -1;
	char names[64];

	if (!child)
		_exit(drop_all_and_look());
	waitpid(child, &status, 0);
	ok_int(status, 0);
	privileges_name(0, names, sizeof(names));
	ok_str(names, "none");
	privileges_name(PRIVILEGE(CAP_BPF) | PRIVILEGE(CAP_SYS_PTRACE), names, sizeof(names));
	ok_str(names, "cap_sys_ptrace,cap_bpf");
}

static const struct tap_test tests[] = {
	{ "what no correct path does ends the process",
	  what_no_correct_path_does_ends_the_process },
	{ "what is not listed is not there", what_is_not_listed_is_not_there },
	{ "names are looked up over UDP, one family at once", names_are_looked_up_over_udp },
	{ "names are looked up over TCP", names_are_looked_up_over_tcp },
	{ "the lists are short", lists_are_short },
	{ "every call is documented", every_call_is_documented },
	{ "nothing is held after the drop", nothing_is_held_after_the_drop },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
