// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/question/page_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

#include "analyzer/answer/answer.h"
#include "base/system/clock.h"

#define LOOK_MS	     100 /* between two looks at the clock and at *stop */
#define SUPERVISE_MS 20	 /* between two looks at a child */
#define CHUNK	     65536
#define NICE	     10
#define FAILED_RUN   127

enum { FD_OUT, FD_SAID, FD_CONTROL, NR_FDS };

struct page_helper {
	pid_t pid;
	int socket; /* each message is a command, with the three descriptors of its child */
};

/* A command whose child runs, as the asking thread sees it. */
struct page_child {
	int fds[NR_FDS]; /* the reading ends of its output, and the supervisor's socket */
	struct buf *text;
	char line[PAGE_CHILD_LINE_BYTES];
	size_t len;
	void (*on_line)(void *ctx, const char *text);
	void *ctx;
};

/* ---- the helper and its children: processes with one thread ---- */

static void page_child_limit(int resource, rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = { soft, hard };

	setrlimit(resource, &limit);
}

/* Makes the kernel end a question, and not the process that takes segments, when memory is out. */
static void page_child_goes_first(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "1000", 4);
	close(fd);
}

static void page_helper_signals(void)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &standard, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Runs a command and does not return. words holds argc words one after another, each with its final
 * 0.
 */
static void page_child_become(page_child_command *run, const int fds[NR_FDS], char *words,
			      size_t len)
{
	char *argv[PAGE_CHILD_WORDS + 1];
	int argc = 0, status;

	for (char *word = words; word < words + len && argc < PAGE_CHILD_WORDS;
	     word += strlen(word) + 1)
		argv[argc++] = word;
	argv[argc] = NULL;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(fds[FD_OUT], 1) < 0 || dup2(fds[FD_SAID], 2) < 0)
		_exit(FAILED_RUN);
	syscall(SYS_close_range, 3u, ~0u, 0u);
	page_child_goes_first();
	page_child_limit(RLIMIT_CORE, 0, 0);
	/* The soft limit gives SIGXCPU, which tells the asker that time was short. */
	page_child_limit(RLIMIT_CPU, PAGE_CHILD_S, PAGE_CHILD_S + 5);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	/* The tables of a sanitizer are larger than the limit. */
	page_child_limit(RLIMIT_DATA, PAGE_CHILD_DATA_BYTES, PAGE_CHILD_DATA_BYTES);
#endif
	page_child_limit(RLIMIT_FSIZE, PAGE_CHILD_FILE_BYTES, PAGE_CHILD_FILE_BYTES);
	setpriority(PRIO_PROCESS, 0, NICE);
	setenv(ANSWER_FOR_PAGE, "1", 1);
	status = run(argc, argv);
	fflush(NULL);
	_exit(status);
}

/*
 * Waits for a child and reports how it ended. The child is killed as soon as the asker has closed
 * its end of the socket. Does not return.
 */
static void page_helper_supervise(page_child_command *run, const int fds[NR_FDS], char *words,
				  size_t len)
{
	struct pollfd asker = { .fd = fds[FD_CONTROL], .events = 0 };
	int how = 0;
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid == 0)
		page_child_become(run, fds, words, len);
	close(fds[FD_OUT]);
	close(fds[FD_SAID]);
	while (pid > 0 && waitpid(pid, &how, WNOHANG) == 0)
		if (poll(&asker, 1, SUPERVISE_MS) > 0)
			kill(pid, SIGKILL);
	if (pid < 0)
		how = FAILED_RUN << 8;
	if (write(fds[FD_CONTROL], &how, sizeof(how)) < 0)
		_exit(1);
	_exit(0);
}

/* Takes one command from serve. Returns false where serve has ended. */
static bool page_helper_serve(int socket, page_child_command *run)
{
	static char words[PAGE_CHILD_WORDS_BYTES + 1];
	char room[CMSG_SPACE(NR_FDS * sizeof(int))];
	struct iovec part = { words, PAGE_CHILD_WORDS_BYTES };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	ssize_t len = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	int fds[NR_FDS];
	pid_t pid;

	if (len <= 0)
		return len < 0 && errno == EINTR;
	if (!head || head->cmsg_len != CMSG_LEN(sizeof(fds)))
		return true;
	memcpy(fds, CMSG_DATA(head), sizeof(fds));
	words[len] = '\0';
	pid = fork();
	if (pid == 0) {
		close(socket);
		page_helper_supervise(run, fds, words, (size_t)len);
	}
	for (int i = 0; i < NR_FDS; i++)
		close(fds[i]);
	return true;
}

static void page_helper_work(int socket, page_child_command *run)
{
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	page_helper_signals();
	setsid();		  /* Signals of the terminal are serve's. */
	signal(SIGCHLD, SIG_IGN); /* Nobody has to wait for the supervisors. */
	signal(SIGPIPE, SIG_IGN);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		_exit(FAILED_RUN);
	while (page_helper_serve(socket, run))
		;
	_exit(0);
}

int page_helper_start(struct page_helper **out, page_child_command *run, struct err *err)
{
	struct page_helper *h = calloc(1, sizeof(*h));
	int sockets[2];

	if (!h)
		return err_set(err, ENOMEM, "no memory for the page");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0) {
		free(h);
		return err_set(err, errno, "the page's helper: %s", strerror(errno));
	}
	fflush(NULL); /* The child must not write this again. */
	h->socket = sockets[0];
	h->pid = fork();
	if (h->pid == 0) {
		close(sockets[0]);
		page_helper_work(sockets[1], run);
	}
	close(sockets[1]);
	if (h->pid < 0) {
		err_set(err, errno, "the page's helper: %s", strerror(errno));
		close(h->socket);
		free(h);
		return -err->code;
	}
	*out = h;
	return 0;
}

void page_helper_stop(struct page_helper *h)
{
	if (!h)
		return;
	close(h->socket);
	kill(h->pid, SIGKILL);
	while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(h);
}

/* ---- serve: any thread ---- */

/* Sends the words and the writing ends to the helper. */
static int page_child_send(struct page_helper *h, int argc, char *const *argv,
			   const int fds[NR_FDS])
{
	char room[CMSG_SPACE(NR_FDS * sizeof(int))] = { 0 };
	struct iovec part;
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	struct buf words;
	int ret = 0;

	buf_init(&words);
	for (int i = 0; i < argc; i++)
		buf_put(&words, argv[i], strlen(argv[i]) + 1);
	if (words.error || words.len > PAGE_CHILD_WORDS_BYTES || argc > PAGE_CHILD_WORDS) {
		ret = -E2BIG;
		goto out;
	}
	part = (struct iovec){ words.data, words.len };
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(NR_FDS * sizeof(int));
	memcpy(CMSG_DATA(head), fds, NR_FDS * sizeof(int));
	if (sendmsg(h->socket, &message, MSG_NOSIGNAL) < 0)
		ret = -errno;
out:
	buf_release(&words);
	return ret;
}

static int page_child_start(struct page_child *c, struct page_helper *h, int argc,
			    char *const *argv)
{
	int out[2] = { -1, -1 }, said[2] = { -1, -1 }, control[2] = { -1, -1 }, ret = 0;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		ret = -errno;
	if (ret == 0)
		ret = page_child_send(h, argc, argv, (int[]){ out[1], said[1], control[1] });
	for (int i = 0; i < NR_FDS; i++) {
		int theirs = (int[]){ out[1], said[1], control[1] }[i];

		if (theirs >= 0)
			close(theirs);
	}
	c->fds[FD_OUT] = out[0];
	c->fds[FD_SAID] = said[0];
	c->fds[FD_CONTROL] = control[0];
	return ret;
}

static void page_child_hear(struct page_child *c, const char *data, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (data[i] != '\n' && c->len + 1 < sizeof(c->line)) {
			c->line[c->len++] = data[i];
			continue;
		}
		if (data[i] != '\n')
			continue; /* The rest of a line that is too long is left out. */
		c->line[c->len] = '\0';
		c->on_line(c->ctx, c->line);
		c->len = 0;
	}
}

/* Reads what is there. Returns the number of bytes; 0 at the end. */
static ssize_t page_child_read(struct page_child *c, int fd)
{
	char data[CHUNK];
	ssize_t nr = read(fd, data, sizeof(data));

	if (nr < 0)
		return errno == EINTR ? 1 : 0;
	if (fd == c->fds[FD_OUT])
		buf_put(c->text, data, (size_t)nr);
	else
		page_child_hear(c, data, (size_t)nr);
	return nr;
}

/* Reads until the child has ended, or until a limit is reached. */
static enum page_child_end page_child_listen(struct page_child *c, const atomic_bool *stop,
					     int *how)
{
	uint64_t until_ns = clock_monotonic_ns() + PAGE_CHILD_S * CLOCK_NS_PER_S;
	struct pollfd fds[NR_FDS];

	for (int i = 0; i < NR_FDS; i++)
		fds[i] = (struct pollfd){ .fd = c->fds[i], .events = POLLIN };
	while (fds[FD_OUT].fd >= 0 || fds[FD_SAID].fd >= 0 || !fds[FD_CONTROL].revents) {
		if (atomic_load(stop))
			return PAGE_CHILD_STOPPED;
		if (clock_monotonic_ns() > until_ns)
			return PAGE_CHILD_NO_TIME;
		if (poll(fds, NR_FDS, LOOK_MS) <= 0)
			continue;
		for (int i = FD_OUT; i <= FD_SAID; i++)
			if (fds[i].revents && page_child_read(c, fds[i].fd) <= 0)
				fds[i].fd = -1;
		if (c->text->len > PAGE_CHILD_OUT_BYTES)
			return PAGE_CHILD_TOO_LONG;
	}
	return recv(c->fds[FD_CONTROL], how, sizeof(*how), 0) == sizeof(*how) ? PAGE_CHILD_EXITED
									      : PAGE_CHILD_KILLED;
}

int page_child_run(struct page_helper *h, int argc, char *const *argv, const atomic_bool *stop,
		   void (*line)(void *ctx, const char *text), void *ctx, struct buf *out,
		   enum page_child_end *end, int *status)
{
	struct page_child c = { .text = out, .on_line = line, .ctx = ctx };
	int ret = page_child_start(&c, h, argc, argv), how = 0;

	buf_clear(out);
	*status = -1;
	if (ret == 0) {
		*end = page_child_listen(&c, stop, &how);
		if (*end == PAGE_CHILD_EXITED && WIFSIGNALED(how))
			*end = WTERMSIG(how) == SIGXCPU ? PAGE_CHILD_NO_TIME : PAGE_CHILD_KILLED;
		if (*end == PAGE_CHILD_EXITED)
			*status = WEXITSTATUS(how);
	}
	for (int i = 0; i < NR_FDS; i++)
		if (c.fds[i] >= 0)
			close(c.fds[i]);
	return ret;
}
