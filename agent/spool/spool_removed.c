/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_removed.c: sums up the segments that wait in the spool, and reports those that are lost
 * when somebody removes its folder.
 */
#include <inttypes.h>
#include <string.h>

#include "agent/spool/spool_state.h"
#include "formats/segment/segment.h"

/*
 * At the end, at most this many bytes of segments of earlier runs are read to count their requests.
 */
#define MAX_COUNT_BYTES (64u << 20)

static void content_add(struct spool_content *sum, const struct spool_content *one)
{
	if (one->nr_requests == SPOOL_UNKNOWN || sum->nr_requests == SPOOL_UNKNOWN)
		sum->nr_requests = SPOOL_UNKNOWN;
	else
		sum->nr_requests += one->nr_requests;
	if (one->begin_real_ns && (!sum->begin_real_ns || one->begin_real_ns < sum->begin_real_ns))
		sum->begin_real_ns = one->begin_real_ns;
	if (one->end_real_ns > sum->end_real_ns)
		sum->end_real_ns = one->end_real_ns;
}

/*
 * Empties the index except for the segment that is being sent, which is in memory. Returns the
 * number of entries removed.
 */
static size_t take_all(struct spool *s, struct spool_entry *sum)
{
	size_t nr = 0, keep;

	*sum = (struct spool_entry){ .bytes = 0 };
	pthread_mutex_lock(&s->lock);
	for (keep = s->peeked ? 1 : 0; s->nr > keep; nr++) {
		const struct spool_entry *last = spool_entry_at(s, s->nr - 1);

		sum->name = last->name;
		sum->bytes += last->bytes;
		content_add(&sum->content, &last->content);
		s->bytes -= last->bytes;
		s->nr--;
	}
	pthread_mutex_unlock(&s->lock);
	return nr;
}

/*
 * Somebody removed the folder. The segments that waited in it are reported as lost, and the folder
 * is made again so that later segments are kept. Where this fails, every later append fails and is
 * reported as a loss.
 */
void spool_replace_removed(struct spool *s)
{
	struct spool_folder again;
	struct err err = { 0 };
	struct spool_entry sum;
	size_t nr;

	if (s->removed.dir_fd >= 0 || !spool_folder_is_removed(&s->folder))
		return;
	nr = take_all(s, &sum);
	log_say(s->config.log, LEVEL_ERROR, "spool_removed",
		"dir=%s lost_segments=%zu lost_bytes=%" PRIu64, s->config.dir, nr, sum.bytes);
	if (nr && s->config.lost)
		s->config.lost(s->config.ctx, LOSS_SPOOL_ERROR, &sum.name, NULL, 0, &sum.content);
	if (nr)
		spool_report_gone(s, &sum.name, true);
	if (spool_folder_again(&again, s->dir, s->user, &err)) {
		spool_folder_close(&again);
		log_say(s->config.log, LEVEL_ERROR, "spool_not_made_again", "why=\"%s\"", err.line);
		return;
	}
	s->removed = s->folder;
	s->folder = again;
	s->dir_fd = again.dir_fd;
}

/*
 * Counts the requests that a waiting file holds. Returns SPOOL_UNKNOWN where the file cannot be
 * read.
 */
static uint64_t count_file(struct spool *s, const struct spool_entry *entry, struct buf *data)
{
	struct segment_reader *reader;
	char file[SPOOL_NAME_BYTES];
	uint64_t nr;

	spool_name_print(&entry->name, ".seg", file);
	if (spool_read_file(s->dir_fd, file, data) ||
	    segment_reader_new(&reader, data->data, data->len, NULL))
		return SPOOL_UNKNOWN;
	nr = segment_reader_count(reader);
	segment_reader_free(reader);
	return nr;
}

void spool_waiting(struct spool *s, struct spool_waiting *out)
{
	uint64_t read_bytes = 0;
	struct buf data;

	buf_init(&data);
	*out = (struct spool_waiting){ .nr_segments = s->nr, .bytes = s->bytes };
	for (size_t i = 0; i < s->nr; i++) {
		const struct spool_entry *entry = spool_entry_at(s, i);
		uint64_t nr = entry->content.nr_requests;

		if (nr == SPOOL_UNKNOWN && read_bytes < MAX_COUNT_BYTES) {
			nr = count_file(s, entry, &data);
			read_bytes += entry->bytes;
		}
		out->is_at_least |= nr == SPOOL_UNKNOWN;
		out->nr_requests += nr == SPOOL_UNKNOWN ? 0 : nr;
	}
	buf_release(&data);
}
