/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faulty_calls: counts the system calls and allocations of the code under test. At a chosen one of
 * them the process is killed or the call fails. It can also record all calls that change files, for
 * crash_states.
 *
 * It works by the linker's --wrap (the Makefile lists the calls), so it affects the project's own
 * objects only. Calls that libraries make themselves are left alone.
 */
#ifndef TESTS_FAULTY_CALLS_H
#define TESTS_FAULTY_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum calls_mode {
	CALLS_PLAIN,
	CALLS_KILL_BEFORE, /* at a call that changes files or seals a copy of the account */
	CALLS_KILL_AFTER,
	CALLS_FAIL_ONCE, /* any call, with its error number; with error 0 writes end halfway */
	CALLS_FAIL_FROM, /* fails this call and all later ones */
	CALLS_NO_MEMORY_ONCE,
	CALLS_NO_MEMORY_FROM,
};

struct calls_plan {
	enum calls_mode mode;
	uint64_t at; /* number of the point: 1, 2, ... */
	int error;
};

/* Starts the plan. The counts begin at 0. */
void calls_begin(const struct calls_plan *plan);
/* Ends the plan. Returns how many points of its mode were met. */
uint64_t calls_end(void);
/* Between these calls the test's own calls neither count nor fail. */
void calls_pause(void);
void calls_resume(void);

/* Called before _exit() of a child, so that its coverage counts too (make coverage). */
void calls_flush_coverage(void);

enum call_kind {
	CALL_CREATE, /* path, inode */
	CALL_MKDIR,  /* path */
	CALL_WRITE,  /* inode, offset, data */
	CALL_MAPPED, /* inode, data: the whole of a mapped file that stores have changed */
	CALL_SYNC,   /* inode */
	CALL_SYNC_FOLDER,
	CALL_SYNC_ALL, /* all files and folders */
	CALL_RENAME,   /* path, to */
	CALL_UNLINK,   /* path */
};

struct call {
	enum call_kind kind;
	char path[160], to[160]; /* below the recorded folder, which is "" itself */
	int inode;		 /* 1, 2, ...: files in the order in which they were made */
	size_t offset, len;
	uint8_t *data;
};

/* Records what happens below root, which must be empty at first, until calls_record(NULL). */
void calls_record(const char *root);
size_t calls_recorded(const struct call **out);

#endif
