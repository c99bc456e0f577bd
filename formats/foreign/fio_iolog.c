/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fio_iolog: fio's I/O logs (HOWTO, "I/O replay"), versions 2 and 3:
 *
 *   fio version 2 iolog          fio version 3 iolog
 *   FILE add|open|close          USEC FILE add|open|close
 *   FILE ACTION OFFSET LENGTH    USEC FILE ACTION OFFSET LENGTH
 *   FILE wait USEC
 *
 * ACTION is read, write, trim, sync or datasync; OFFSET and LENGTH are in bytes. In version 3 every
 * line has a time in microseconds from the start. In version 2 time passes only in waits, each of
 * which counts from the one before. There are no response times.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/foreign/foreign.h"

#define US_NS  1000u
#define LATEST (UINT64_MAX / 8)

struct iolog {
	unsigned int version; /* 0: the version is not known yet */
	uint64_t at_ns;	      /* version 2: sum of the waits */
};

static const char *const headings[] = { "fio version 2 iolog", "fio version 3 iolog" };

static unsigned int version_of(struct text line)
{
	for (unsigned int i = 0; i < 2; i++)
		if (text_is(text_trim(line), headings[i]))
			return i + 2;
	return 0;
}

static bool iolog_detect(const struct foreign_head *head)
{
	struct text all = text_make((const char *)head->data, head->len), line;

	return text_field(&all, '\n', &line) && version_of(line);
}

static int iolog_open(struct foreign *f, struct err *err)
{
	(void)err;
	f->state = calloc(1, sizeof(struct iolog));
	return f->state ? 0 : -ENOMEM;
}

static void iolog_close(struct foreign *f)
{
	free(f->state);
}

static bool is_file_action(struct text action)
{
	return text_is(action, "add") || text_is(action, "open") || text_is(action, "close");
}

static bool operation_of(struct text action, uint8_t *operation)
{
	if (text_is(action, "datasync"))
		*operation = OPERATION_FLUSH;
	else
		return text_direction(action, operation);
	return true;
}

static enum foreign_step wait_for(struct foreign *f, struct text line)
{
	struct iolog *log = f->state;
	struct text delay;
	uint64_t ns;

	if (log->version == 3)
		return foreign_because(f, "expected no wait in version 3");
	if (!text_word(&line, &delay) || !text_ns(delay, US_NS, &ns) || ns > LATEST ||
	    log->at_ns > LATEST)
		return foreign_because(f, "wait: expected microseconds");
	log->at_ns += ns;
	return FOREIGN_NOTHING;
}

static enum foreign_step iolog_line(struct foreign *f, struct text line, struct request *r)
{
	struct text when, file, action, offset, length, rest;
	struct iolog *log = f->state;
	uint64_t at, bytes, ns = log->at_ns;
	uint8_t operation;
	int64_t device;

	if (text_len(text_trim(line)) == 0)
		return FOREIGN_NOTHING;
	if (!log->version) {
		log->version = version_of(line);
		return log->version ? FOREIGN_NOTHING
				    : foreign_because(f, "expected `fio version 2 iolog` or 3");
	}
	/* fio appends to an existing log, so another version line can follow */
	if (version_of(line))
		return FOREIGN_NOTHING;
	if (log->version == 3 && (!text_word(&line, &when) || !text_ns(when, US_NS, &ns)))
		return foreign_because(f, "expected microseconds first");
	if (!text_word(&line, &file) || !text_word(&line, &action))
		return foreign_because(f, "expected a file and an action");
	if (is_file_action(action))
		return FOREIGN_NOTHING;
	if (text_is(action, "wait"))
		return wait_for(f, line);
	if (!operation_of(action, &operation))
		return foreign_because(f, "action: expected read, write, trim, sync or datasync");
	if (!text_word(&line, &offset) || !text_u64(offset, &at) || !text_word(&line, &length) ||
	    !text_u64(length, &bytes) || bytes > UINT32_MAX || text_word(&line, &rest))
		return foreign_because(f, "expected offset and length in bytes");
	if (text_len(file) > 5 && memcmp(file.at, "/dev/", 5) == 0)
		file.at += 5;
	device = foreign_device(f, text_make("", 0), "", file);
	if (device < 0) {
		f->failed = (int)device;
		return FOREIGN_SKIP;
	}
	foreign_fill(r, ns, operation);
	r->sector = operation == OPERATION_FLUSH ? 0 : foreign_sector(f, at);
	r->bytes = operation == OPERATION_FLUSH ? 0 : (uint32_t)bytes;
	r->device = (uint32_t)device;
	return FOREIGN_REQUEST;
}

const struct foreign_format foreign_fio_iolog = {
	.name = "fio-iolog",
	.title = "fio's I/O log, version 2 and 3",
	.detect = iolog_detect,
	.open = iolog_open,
	.close = iolog_close,
	.line = iolog_line,
};
