/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/account/account_file.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

static uint64_t checksum_of(const void *half, size_t size)
{
	const size_t skip = sizeof(uint64_t); /* the checksum itself comes first and is skipped */

	return XXH3_64bits((const char *)half + skip, size - skip);
}

/* The compiler must keep the stores of the content before those of the seal. */
static void account_file_seal(struct account_seal *s, uint64_t serial, const void *half,
			      size_t size)
{
	s->serial = serial;
	atomic_signal_fence(memory_order_seq_cst);
	s->checksum = checksum_of(half, size);
	atomic_signal_fence(memory_order_seq_cst);
}

void account_seal_capture(struct capture_half *h, uint64_t serial)
{
	account_file_seal(&h->seal, serial, h, sizeof(*h));
}

void account_seal_stream(struct stream_half *h, uint64_t serial)
{
	account_file_seal(&h->seal, serial, h, sizeof(*h));
}

static bool capture_is_sound(const struct capture_half *h)
{
	return h->seal.serial && h->seal.checksum == checksum_of(h, sizeof(*h)) &&
	       h->nr_devices <= ACCOUNT_MAX_DEVICES + 1;
}

/* A bool from a file must be 0 or 1 before it is read as one: any other value is undefined in C. */
static bool account_loss_is_sound(const struct loss *l)
{
	uint8_t count_known;

	memcpy(&count_known, &l->count_known, sizeof(count_known));
	return l->cause < NR_LOSS_CAUSES && count_known <= 1;
}

static bool stream_is_sound(const struct stream_half *h)
{
	if (!h->seal.serial || h->seal.checksum != checksum_of(h, sizeof(*h)) ||
	    h->accounted.nr > ACCOUNT_MAX_DEVICES + 1 || h->prepared.nr > ACCOUNT_MAX_DEVICES + 1 ||
	    h->nr_losses > ACCOUNT_MAX_LOSSES || h->nr_pending > ACCOUNT_MAX_LOSSES ||
	    !memchr(h->boot_id, 0, SEGMENT_NAME_BYTES))
		return false;
	for (uint32_t i = 0; i < h->nr_losses; i++)
		if (!account_loss_is_sound(&h->losses[i].loss))
			return false;
	for (uint64_t i = 0; i < h->nr_pending; i++)
		if (!account_loss_is_sound(&h->pending[i]))
			return false;
	return true;
}

void account_file_clear(struct account_file *f)
{
	memset(f, 0, sizeof(*f));
	f->version = ACCOUNT_VERSION;
	f->size = sizeof(*f);
	account_seal_capture(&f->capture[0], 1);
	account_seal_stream(&f->stream[0], 1);
	atomic_store(&f->published_capture, 1);
	atomic_store(&f->published_stream, 1);
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(f->magic, ACCOUNT_MAGIC, sizeof(f->magic));
}

bool account_file_is_new(const struct account_file *f)
{
	const char *bytes = (const char *)f;

	return !bytes[0] && !memcmp(bytes, bytes + 1, sizeof(*f) - 1);
}

static void choose_capture(const struct account_file *f, struct account_choice *c)
{
	uint64_t epoch = f->stream[c->stream].seal.epoch, best = 0, latest = 0;

	c->capture = -1;
	for (int i = 0; i < ACCOUNT_COPIES; i++) {
		const struct account_seal *s = &f->capture[i].seal;

		if (!capture_is_sound(&f->capture[i]))
			continue;
		latest = s->serial > latest ? s->serial : latest;
		if (s->epoch == epoch && s->serial > best) {
			c->capture = i;
			best = s->serial;
		}
	}
	c->is_damaged |= latest < f->published_capture;
}

int account_file_choose(const struct account_file *f, struct account_choice *out, struct err *err)
{
	struct account_choice c = { 0 };
	uint64_t best = 0;

	*out = c;
	for (int i = 0; i < ACCOUNT_COPIES; i++)
		if (capture_is_sound(&f->capture[i]) &&
		    f->capture[i].realtime_ns > out->last_realtime_ns)
			out->last_realtime_ns = f->capture[i].realtime_ns;
	c = *out;
	if (memcmp(f->magic, ACCOUNT_MAGIC, sizeof(f->magic)))
		return err_set(err, EBADMSG, "magic: expected an agent's account");
	if (f->version != ACCOUNT_VERSION || f->size != sizeof(*f))
		return err_set(err, EBADMSG, "version: expected %d of %zu bytes, got %u of %u",
			       ACCOUNT_VERSION, sizeof(*f), f->version, f->size);
	for (unsigned int i = 0; i < ACCOUNT_COPIES; i++)
		if (stream_is_sound(&f->stream[i]) && f->stream[i].seal.serial > best) {
			best = f->stream[i].seal.serial;
			c.stream = i;
		}
	if (!best)
		return err_set(err, EBADMSG, "checksum: no copy of the stream's half is whole");
	c.is_damaged = best < f->published_stream;
	choose_capture(f, &c);
	*out = c;
	return 0;
}

void account_file_make_room(struct account_file *f, const struct account_choice *c)
{
	const struct stream_half *stream = &f->stream[c->stream];

	if (stream->seal.serial <= ACCOUNT_SERIAL_MAX && f->published_capture <= ACCOUNT_SERIAL_MAX)
		return;
	for (int i = 0; i < ACCOUNT_COPIES; i++) {
		if (i != (int)c->stream)
			f->stream[i].seal.serial = 0;
		if (i != c->capture)
			f->capture[i].seal.serial = 0;
	}
	account_seal_stream(&f->stream[c->stream], 1);
	if (c->capture >= 0)
		account_seal_capture(&f->capture[c->capture], 1);
	f->published_stream = 1;
	f->published_capture = c->capture >= 0;
}
