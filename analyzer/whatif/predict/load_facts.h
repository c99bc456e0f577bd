/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_facts: this is the one description of a load from which every prediction starts.
 *
 * The description says how many requests are under way on the storage, not who submitted them. A
 * process that keeps 32 requests in flight loads a storage like 32 processes with one request each;
 * both have a concurrency of 32. The concurrency is the larger of two numbers: the clients (threads
 * that submit), and the requests in flight while the load is busy. If there are more clients than
 * requests in flight, each client pauses between its requests. Its think time follows from the
 * interactive response-time law, Z = (N - in flight) / X (Lazowska, Zahorjan, Graham, Sevcik,
 * Quantitative System Performance, 1984, section 3.5). Otherwise the load is asynchronous or
 * saturated, and never pauses.
 *
 * Sizes and access patterns are kept by direction: a model is asked about reads at the sizes of
 * reads, and about writes at the sizes of writes. The sizes of a direction are reduced to one mean
 * and one share per power of two, so that a model is evaluated at most LOAD_SIZES_MAX times. Means
 * over the sizes are exact if the model is linear within a power of two.
 *
 * Flushes keep their rate and their mean response time. A client that flushes waits for the flush
 * as well as for its reads and writes, so that its cycle is R + Z + F. F is the flush time per read
 * or write, (flushes per request) x (time of a flush), and requests in flight include flushes. This
 * holds whether the writing thread waits for the flush or another thread does, because all of these
 * requests are under way. The share of flushes that are awaited, and the share of writes that are
 * forced, are kept as well.
 *
 * Arrivals in bursts are described by a Markov-modulated Poisson process with two states (mmpp2.h)
 * that has the load's rate, dispersion and, if possible, variation.
 *
 * Unknown numbers are NaN; `missing` names what a profile did not contain.
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

/* This enum names what a profile did not contain, so that a prediction lacks it. */
enum load_missing {
	LOAD_NO_IN_FLIGHT = 1u << 0,
	LOAD_NO_CLIENTS = 1u << 1,
	LOAD_NO_SIZES = 1u << 2, /* the distribution of sizes; their mean may be known */
	LOAD_NO_PATTERN = 1u << 3,
	LOAD_NO_RANGE = 1u << 4,
	LOAD_NO_FLUSHES = 1u << 5,     /* the number of flushes */
	LOAD_NO_FLUSH_TIMES = 1u << 6, /* response times of flushes, although there were flushes */
	LOAD_NO_DURABILITY = 1u << 7,  /* forced writes, and which threads wait for flushes */
	LOAD_NO_PERCENTILES = 1u << 8,
};

/* Arrays of two are by direction: reads, then writes. */
struct load_facts {
	double clients;	    /* threads that submit */
	double in_flight;   /* mean over the whole period: n in the interactive law */
	double concurrency; /* at least 1 per load: see above */
	double requests;    /* observed reads and writes; 0 for loads that were not observed */
	double rate_per_s, read_ratio, size_bytes, sequential_ratio;
	double range_bytes;
	double flush_per_s, flush_s; /* mean response time; NaN without flushes, or where unknown */
	/* share of flushes for which their thread waited before its next write */
	double awaited_ratio;
	double forced_ratio;  /* share of writes with FUA (forced unit access) */
	unsigned int missing; /* enum load_missing */
	/*
	 * These are arrivals in bursts, if the dispersion is known. arrivals_met has bits of enum
	 * mmpp2_moment; 0 means no bursts.
	 */
	struct mmpp2 arrivals;
	unsigned int arrivals_met;
	/* think time as sampled per thread; used only if in_flight is unknown */
	double given_think_s;
	double side_bytes[2], side_sequential[2];
	struct load_sizes sizes[2];
};

/*
 * Returns the time that rates refer to: the watched seconds of a profile, or all seconds if the
 * coverage is unknown.
 */
double load_watched_s(const struct profile *p);
/* Gives the load of one profile. */
void load_facts_of(const struct profile *p, struct load_facts *out);
/*
 * Gives the load of a group. Its windows add what a single profile cannot contain: the number of
 * requests in flight while the load is busy (each window is weighted by its requests). If the
 * profile as a whole was merged from windows, they also give clients and requests in flight over
 * the watched time alone, and the range of addresses that all windows touched.
 */
void load_facts_of_group(const struct profile_group *g, struct load_facts *out);
/*
 * Multiplies a load by a factor: concurrency, clients, in flight and rate grow; the data it touches
 * stay the same.
 */
struct load_facts load_facts_scaled(const struct load_facts *f, double factor);
/*
 * Joins loads that run side by side on one target. The result has their sums, and means weighted by
 * their rates.
 */
void load_facts_join(const struct load_facts *f, size_t nr, struct load_facts *out);
/* Gives the sizes of reads and writes together, weighted by their shares of the requests. */
void load_facts_all_sizes(const struct load_facts *f, struct load_sizes *out);
/* Gives all requests of a direction one size. */
void load_facts_set_size(struct load_facts *f, int side, double bytes);
/* Returns whether the load has requests of a direction. */
bool load_facts_has(const struct load_facts *f, int side);
/* A target that serves less than this share of the offered requests cannot carry the load. */
#define LOAD_CARRIES_RATIO 0.95
/* Says whether a target that gives the load that many requests per second can carry it. */
enum load_carried {
	LOAD_CARRIED, /* also where the rate is unknown */
	LOAD_MAY_NOT, /* the mean is too low, but the upper end of the interval would suffice */
	LOAD_CANNOT,
};
/* high_per_s is the upper end of the interval of the rate; NaN means that there is none. */
enum load_carried load_facts_carried(const struct load_facts *f, double per_s, double high_per_s);
/* Writes "TARGET cannot carry this load: NAME offered 40 k requests/s, it gives 10 k/s" to out. */
void load_facts_say_carried(enum load_carried c, const char *target, const char *name,
			    double offered_per_s, double per_s, char *out, size_t bytes);
/*
 * Returns the flush time per read or write in seconds; 0 if there are no flushes or if it is
 * unknown.
 */
double load_flush_wait_s(const struct load_facts *f);
/*
 * Returns the seconds between two requests of a client in which it has no read or write under way:
 * it thinks or flushes.
 */
double load_away_s(const struct load_facts *f);
/*
 * Writes the names in `missing` to out, as "requests in flight, sizes of requests"; "" if nothing
 * is missing.
 */
void load_facts_say_missing(unsigned int missing, char *out, size_t bytes);
/* Returns the think time of a client in seconds: 0 if clients never pause, or if it is unknown. */
double load_think_s(const struct load_facts *f);

#endif
