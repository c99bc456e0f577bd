// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/measure/shell.h"
#include "base/system/clock.h"
#include "base/text/shell_word.h"

#define ARGUMENTS_MAX	 24
#define PATIENCE_MS	 5000 /* session_release() waits so long; the supervisor takes 2 s. */
#define SESSIONS_AT_ONCE 64

static void set_arguments(const struct plan_target *t, const char *remote, const char *script,
			  char *port, const char **argv)
{
	size_t nr = 0;

	if (!t->ssh) {
		argv[nr++] = "sh";
		argv[nr++] = "-c";
		argv[nr++] = script;
		argv[nr] = NULL;
		return;
	}
	argv[nr++] = "ssh";
	/*
	 * A connection that the user's configuration shares is used where it exists, but none is
	 * left behind: ssh would keep it after the session, together with its standard error.
	 */
	for (const char *const *o =
		     (const char *const[]){ "BatchMode=yes", "ConnectTimeout=10",
					    "ServerAliveInterval=5", "ServerAliveCountMax=3",
					    "LogLevel=ERROR", "ControlMaster=no", NULL };
	     *o; o++) {
		argv[nr++] = "-o";
		argv[nr++] = *o;
	}
	if (t->ssh_config) {
		argv[nr++] = "-F";
		argv[nr++] = t->ssh_config;
	}
	if (t->port) {
		argv[nr++] = "-p";
		argv[nr++] = port;
	}
	if (t->identity) {
		argv[nr++] = "-i";
		argv[nr++] = t->identity;
	}
	argv[nr++] = t->ssh;
	argv[nr++] = remote;
	argv[nr] = NULL;
}

static void close_pair(int pair[2])
{
	if (pair[0] >= 0)
		close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
}

/*
 * Runs in the child. The child gets a process group of its own, so that a Ctrl-C at the terminal
 * reaches this program alone, which then ends the child.
 */
static void session_become(int in, int out, int err, const char *const *argv)
{
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	execvp(argv[0], (char *const *)argv);
	dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int start(struct session *s, const char *const *argv, struct err *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, words[2] = { -1, -1 };
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(words, O_CLOEXEC) ||
	    (pid = fork()) < 0) {
		int why = errno;

		close_pair(in);
		close_pair(out);
		close_pair(words);
		return err_set(err, why, "%s: %s", argv[0], strerror(why));
	}
	if (!pid)
		session_become(in[0], out[1], words[1], argv);
	close(in[0]);
	close(out[1]);
	close(words[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(words[0], F_SETFL, O_NONBLOCK);
	s->pid = pid;
	s->in = in[1];
	s->out = out[0];
	s->err = words[0];
	return 0;
}

int session_start(struct session *s, const struct plan_target *t, const char *script,
		  struct err *err)
{
	const char *argv[ARGUMENTS_MAX];
	char port[16];
	struct buf whole, remote;
	int ret;

	memset(s, 0, sizeof(*s));
	buf_init(&whole);
	buf_init(&remote);
	if (t->netns)
		buf_printf(&whole, "exec ip netns exec");
	if (t->netns) {
		shell_word(&whole, t->netns);
		buf_printf(&whole, " sh -c");
		shell_word(&whole, script);
	} else {
		buf_put(&whole, script, strlen(script));
	}
	buf_put_u8(&whole, 0);
	buf_printf(&remote, "exec sh -c");
	if (!whole.error)
		shell_word(&remote, (char *)whole.data);
	buf_put_u8(&remote, 0);
	snprintf(port, sizeof(port), "%u", (unsigned int)t->port);
	ret = whole.error ? whole.error : remote.error;
	if (ret)
		goto out;
	set_arguments(t, (char *)remote.data, (char *)whole.data, port, argv);
	ret = start(s, argv, err);
out:
	buf_release(&whole);
	buf_release(&remote);
	return ret;
}

void session_say(struct session *s, const char *line)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%s\n", line);

	/* A pipe takes a line this short whole, or fails where nobody reads from it. */
	if (s->pid && s->in >= 0 && write(s->in, text, (size_t)len) < 0)
		session_hang_up(s);
}

void session_hang_up(struct session *s)
{
	if (s->pid && s->in >= 0) {
		close(s->in);
		s->in = -1;
	}
}

static void session_drain(struct session *s, int *fd, struct buf *into, size_t most)
{
	char block[65536];
	ssize_t nr;

	while (*fd >= 0 && (nr = read(*fd, block, sizeof(block))) != 0) {
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0 && errno == EAGAIN)
			return;
		if (nr < 0)
			break;
		if (into->len + (size_t)nr <= most) {
			buf_put(into, block, (size_t)nr);
		} else if (into == &s->output) {
			s->too_much = true;
			session_hang_up(s);
		}
	}
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void session_reap(struct session *s)
{
	int status;

	if (s->ended || s->out >= 0 || s->err >= 0 || waitpid(s->pid, &status, WNOHANG) != s->pid)
		return;
	s->ended = true;
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	session_hang_up(s);
}

void sessions_wait(struct session *const *all, size_t nr, int timeout_ms)
{
	struct pollfd fds[2 * SESSIONS_AT_ONCE];
	nfds_t nr_fds = 0;

	for (size_t i = 0; i < nr && i < SESSIONS_AT_ONCE; i++) {
		if (!all[i]->pid || all[i]->ended)
			continue;
		fds[nr_fds++] = (struct pollfd){ .fd = all[i]->out, .events = POLLIN };
		fds[nr_fds++] = (struct pollfd){ .fd = all[i]->err, .events = POLLIN };
		/*
		 * Both pipes are closed but the process has not been reaped yet: check again soon.
		 */
		if (all[i]->out < 0 && all[i]->err < 0 && timeout_ms > 5)
			timeout_ms = 5;
	}
	if (nr_fds)
		poll(fds, nr_fds, timeout_ms);
	for (size_t i = 0; i < nr; i++) {
		if (!all[i]->pid || all[i]->ended)
			continue;
		session_drain(all[i], &all[i]->out, &all[i]->output, SESSION_OUTPUT_MAX);
		session_drain(all[i], &all[i]->err, &all[i]->words, SESSION_WORDS_MAX);
		session_reap(all[i]);
	}
}

void session_release(struct session *s)
{
	struct session *const all[] = { s };
	int64_t end = (int64_t)clock_monotonic_ms() + PATIENCE_MS;

	if (!s->pid)
		return;
	session_hang_up(s);
	while (!s->ended && (int64_t)clock_monotonic_ms() < end)
		sessions_wait(all, 1, 100);
	if (!s->ended) {
		kill(-s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	if (s->out >= 0)
		close(s->out);
	if (s->err >= 0)
		close(s->err);
	buf_release(&s->output);
	buf_release(&s->words);
	memset(s, 0, sizeof(*s));
}

const char *session_last_words(struct session *s, char *out, size_t size)
{
	const char *text = (const char *)s->words.data;
	size_t end = s->words.len, begin;

	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (begin = end; begin && text[begin - 1] != '\n'; begin--)
		;
	snprintf(out, size, "%.*s", (int)(end - begin), text ? text + begin : "");
	return out;
}

int session_supervise(struct buf *script, const char *folder, const char *inner)
{
	buf_printf(script, "d=");
	shell_word_quote(script, folder);
	buf_printf(script, "\ninner=");
	shell_word_quote(script, inner);
	buf_printf(script, "\n%s", shell_session_supervise);
	return script->error;
}
