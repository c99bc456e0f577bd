/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_facts: the one description of a load that every prediction starts from.
 *
 * The description says what is under way on the storage, not who asked for it. A process that keeps 32
 * requests in flight loads a storage as 32 processes with one request each do; both have a concurrency
 * of 32. The concurrency is the larger of the number of clients (threads that submit) and of the
 * requests in flight while the load is busy. Where there are more clients than requests in flight,
 * each client pauses between its requests: its think time follows from the interactive
 * response-time law, Z = (N - in flight) / X (Lazowska, Zahorjan, Graham, Sevcik, Quantitative System
 * Performance, 1984, section 3.5). Where there are not, the load is asynchronous or saturated, and
 * never pauses.
 *
 * Sizes and access patterns are kept by direction: reads are asked at the sizes of reads, and writes
 * at those of writes. A direction's sizes are reduced to one mean and one share per power of two, so
 * that asking a model takes at most LOAD_SIZES_MAX evaluations. Means over the sizes are exact if the
 * model is linear within a power of two.
 *
 * Flushes keep their rate and their mean response time. A client that flushes waits for the flush as well
 * as for its reads and writes, so that its cycle is R + Z + F: F is the time that flushes take for each read
 * or write, (flushes per request) x (time of a flush), and in flight counts flushes too. That holds whether
 * the thread that writes waits or another one: all of it is what is under way. What share of flushes is
 * awaited, and what share of writes is forced, is kept beside it.
 *
 * Where arrivals come in bursts, they are described by a Markov-modulated Poisson process of two states
 * (mmpp2.h) with the load's rate, dispersion and, where it can be met, variation.
 *
 * Unknown numbers are NaN; `missing` names what a profile did not tell.
 */
#ifndef ANALYZER_LOAD_FACTS_H
#define ANALYZER_LOAD_FACTS_H

#include "analyzer/characterize/profile_set.h"
#include "analyzer/models/num/mmpp2.h"
#include "formats/profile/profile.h"

#define LOAD_SIZES_MAX 32 /* one per power of two that 32 bits can count */

struct load_sizes {
	size_t nr; /* 0: the direction has no requests, or their sizes are unknown */
	struct {
		double bytes, share; /* by bytes ascending; the shares sum to 1 */
	} at[LOAD_SIZES_MAX];
};

/* What a profile did not tell, and a prediction lacks therefore. */
enum load_missing {
	LOAD_NO_IN_FLIGHT = 1u << 0,
	LOAD_NO_CLIENTS = 1u << 1,
	LOAD_NO_SIZES = 1u << 2, /* how they are distributed; their mean may be known */
	LOAD_NO_PATTERN = 1u << 3,
	LOAD_NO_RANGE = 1u << 4,
	LOAD_NO_FLUSHES = 1u << 5,     /* how many there were */
	LOAD_NO_FLUSH_TIMES = 1u << 6, /* of flushes that there were */
	LOAD_NO_DURABILITY = 1u << 7,  /* forced writes, and who waits for flushes */
	LOAD_NO_PERCENTILES = 1u << 8,
};

/* Arrays of two are by direction: reads, then writes. */
struct load_facts {
	double clients;	    /* threads that submit */
	double in_flight;   /* mean over the whole period: the n of the interactive law */
	double concurrency; /* at least 1 per load: see above */
	double requests;    /* reads and writes that were seen; 0 for loads that were made up */
	double rate_per_s, read_ratio, size_bytes, sequential_ratio;
	double range_bytes;
	double flush_per_s, flush_s; /* mean response time; NaN without flushes, or where unknown */
	double awaited_ratio; /* of the flushes: their thread waited for them, and wrote next */
	double forced_ratio;  /* of the writes: with FUA */
	unsigned int missing; /* enum load_missing */
	/* Arrivals in bursts, where dispersion tells them; met: enum mmpp2_moment, 0 without bursts. */
	struct mmpp2 arrivals;
	unsigned int arrivals_met;
	double given_think_s; /* as sampled per thread; only used where in_flight is unknown */
	double side_bytes[2], side_sequential[2];
	struct load_sizes sizes[2];
};

/* What rates are over: the watched seconds of a profile, or all where the coverage is unknown. */
double load_watched_s(const struct profile *p);
/* The load of one profile. */
void load_facts_of(const struct profile *p, struct load_facts *out);
/*
 * The load of a group, whose windows add what a single profile cannot say: how many requests are in
 * flight while the load is busy (each window counts by its requests), and, where the profile as a
 * whole is merged from windows, clients and requests in flight over the watched time alone and the
 * range of addresses that all windows touched.
 */
void load_facts_of_group(const struct profile_group *g, struct load_facts *out);
/* The same load so many times: concurrency, clients, in flight and rate grow; the data stay. */
struct load_facts load_facts_scaled(const struct load_facts *f, double factor);
/* Loads side by side on one target: sums, and means weighted by their rates. */
void load_facts_join(const struct load_facts *f, size_t nr, struct load_facts *out);
/* The sizes of reads and writes together, by their shares of the requests. */
void load_facts_all_sizes(const struct load_facts *f, struct load_sizes *out);
/* Gives all requests of a direction one size. */
void load_facts_set_size(struct load_facts *f, int side, double bytes);
/* Whether the load has requests of a direction. */
bool load_facts_has(const struct load_facts *f, int side);
/* Whether a target that gives the load so many requests per second carries it. */
enum load_carried {
	LOAD_CARRIED, /* also where the rate is unknown */
	LOAD_MAY_NOT, /* not by the mean, but the interval's upper end would carry it */
	LOAD_CANNOT,
};
/* high_per_s: the upper end of the interval of the rate; NaN: none. */
enum load_carried load_facts_carried(const struct load_facts *f, double per_s, double high_per_s);
/* "TARGET cannot carry this load: NAME offered 40 k requests/s, it gives 10 k/s", in out. */
void load_facts_say_carried(enum load_carried c, const char *target, const char *name,
			    double offered_per_s, double per_s, char *out, size_t bytes);
/* The seconds that flushes take for each read or write; 0 where there are none or nobody knows. */
double load_flush_wait_s(const struct load_facts *f);
/* Seconds that a client is away from reads and writes between two of them: it thinks, or it flushes. */
double load_away_s(const struct load_facts *f);
/* "requests in flight, sizes of requests" of `missing`, in out; "" where nothing is missing. */
void load_facts_say_missing(unsigned int missing, char *out, size_t bytes);
/* Seconds between two requests of one client: 0 where clients never pause, or where it is unknown. */
double load_think_s(const struct load_facts *f);

#endif
