/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faulty_calls: the system calls and allocations of what is under test, counted, and at a chosen one
 * the process is killed, or the call fails; or all that changes files is recorded for crash_states.
 *
 * Works by the linker's --wrap (the Makefile lists the calls), so on our own objects only: what
 * libraries call by themselves is left alone.
 */
#ifndef TESTS_FAULTY_CALLS_H
#define TESTS_FAULTY_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_mode {
	CALLS_PLAIN,
	CALLS_KILL_BEFORE, /* a mutating call, or the sealing of a copy of the account */
	CALLS_KILL_AFTER,
	CALLS_FAIL_ONCE, /* any call, by its errno; with error 0 writes end halfway */
	CALLS_FAIL_FROM, /* likewise, it and all later ones */
	CALLS_NO_MEMORY_ONCE,
	CALLS_NO_MEMORY_FROM,
};

struct calls_plan {
	enum calls_mode mode;
	uint64_t at; /* 1, 2, ...: which point */
	int error;
};

/* From here on; the counts begin at 0. */
void calls_begin(const struct calls_plan *plan);
/* Back to plain; how many points the mode met. */
uint64_t calls_end(void);
/* What the test itself does in between neither counts nor fails. */
void calls_pause(void);
void calls_resume(void);

/* Before _exit() of a child: what it covered counts too (make coverage). */
void calls_flush_coverage(void);

enum call_kind {
	CALL_CREATE, /* path, inode */
	CALL_MKDIR,  /* path */
	CALL_WRITE,  /* inode, offset, data */
	CALL_MAPPED, /* inode, data: the whole of a mapped file, changed by stores */
	CALL_SYNC,   /* inode */
	CALL_SYNC_FOLDER,
	CALL_SYNC_ALL, /* all files and folders */
	CALL_RENAME,   /* path, to */
	CALL_UNLINK,   /* path */
};

struct call {
	enum call_kind kind;
	char path[160], to[160]; /* below the folder recorded; "" is that folder */
	int inode;		 /* 1, 2, ...: files in the order of their making */
	size_t offset, len;
	uint8_t *data;
};

/* Records what happens below root, which is empty now, until calls_record(NULL). */
void calls_record(const char *root);
size_t calls_recorded(const struct call **out);

#endif
