/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_model: a calibrated model of a storage system (Noorshams, Modeling and Prediction of
 * I/O Performance in Virtualized Environments, 2015, chapter 7), saved as kind "qpn" of
 * formats/model.md. calibrate_hardware.h and calibrate_mix.h make it, storage_predict.h asks it.
 */
#ifndef ANALYZER_STORAGE_MODEL_H
#define ANALYZER_STORAGE_MODEL_H

#include <jansson.h>

#include "analyzer/models/storage/storage_cases.h"
#include "analyzer/models/storage/storage_net.h"
#include "analyzer/models/storage/storage_table.h"
#include "analyzer/models/regression/model.h"

enum storage_kind {
	STORAGE_CACHE,	  /* 7.4.2: classes within the cache alone */
	STORAGE_HARDWARE, /* 7.4.3: cache and RAID, cases */
	STORAGE_MIXED,	  /* 7.5.2: reads and writes of one size, one VM */
	STORAGE_MULTI_VM, /* 7.5.3 */
	STORAGE_VARIABLE, /* 7.5.4: of several sizes */
	STORAGE_NR_KINDS,
};

/* "cache", ...; NULL: no such kind. */
extern const char *const storage_kind_names[STORAGE_NR_KINDS + 1];

/* Values of training; low > high: none. */
struct storage_range {
	double low, high;
};

/* Random reads beyond the cache at one level of load. */
struct storage_load_case {
	double clients_max;	  /* holds up to so many; the last one's is infinite */
	bool merged;		  /* nearly all requests are slow: all are taken to pass both */
	struct storage_fit share; /* of requests that go on to the array */
	struct storage_cases hit; /* response times of hits; not where merged */
};

#define STORAGE_LOAD_CASES 2
/* Humps count as merged where the mean share of the slow one is at least this. */
#define STORAGE_MERGED_SHARE 0.9

struct storage_class_model {
	bool present;
	size_t nr_rows;
	struct storage_range clients, size, file_set;
	double file_set_max;		       /* S1 up to so many bytes */
	struct storage_cases cached, uncached; /* mean response time; nr 0: none */
	double cached_sd_s, uncached_sd_s;     /* of one client */
	size_t nr_cases;		       /* random reads beyond the cache, else 0 */
	struct storage_load_case cases[STORAGE_LOAD_CASES];
	double raid_cv;		      /* of the array's service times */
	double mean_error, max_error; /* relative, over its rows of several clients */
};

/* Service times of reads or of writes (equations 7.5, 7.6, 7.10). */
struct storage_service {
	struct storage_cases fit; /* STORAGE_FORM_7_5 */
	double sd_s;
	double delta[2], delta_p[2]; /* (1 - delta0 - delta1 ln s); 0 where none or pruned */
};

enum storage_vm_rule {
	STORAGE_RULE_ORDERED,  /* algorithm 4 */
	STORAGE_RULE_ADJUSTED, /* algorithm 5 */
	STORAGE_RULE_SHARED,   /* by clients^kappa */
	STORAGE_RULE_LOCAL,    /* VMs by min(clients, cap)^kappa, each with its own phi */
	STORAGE_RULE_PARTS,    /* storage_parts.h: not weights of one server, but several servers */
	STORAGE_NR_RULES,
};

extern const char *const storage_rule_names[STORAGE_NR_RULES + 1];

/* A server that reads and writes share: seconds of a request, and of its bytes; none below 0. */
struct storage_shared {
	double base_s[2], per_byte_s[2];
};

struct storage_parts {
	bool present;
	struct storage_cases alone[2]; /* response time of one client alone, by size */
	size_t nr_shared;
	struct storage_shared shared[STORAGE_SHARED_MAX];
	double depth;		  /* requests that a VM lets on; 1 or more */
	struct model phi;	  /* as of struct storage_mix, of one VM; technique NULL: 1 */
	double phi_low, phi_high; /* seen */
	size_t nr_phi;
	double utilization_error; /* mean relative, of the busiest server over the mixes */
	double depth_error;	  /* mean relative, of one VM's mixes with the best phi of each */
};

struct storage_mix {
	struct storage_service service[2]; /* reads, writes */
	bool by_size;			   /* phi depends on the ratio of sizes too */
	struct model phi;		   /* alpha / beta, over what calibrate_phi.h names */
	struct model busy; /* measured utilization of the one server, which divides both times */
	bool has_busy;
	double phi_low, phi_high; /* seen; predictions stay within a factor of 4 */
	size_t nr_phi;
	enum storage_vm_rule rule;
	struct storage_parts parts;
	double kappa[2];
	double vm_kappa, vm_cap; /* of the last rule */
	bool inversion;
	double rule_error[STORAGE_NR_RULES], inversion_error; /* mean relative; NaN: not tried */
	struct storage_range clients, size[2], vms;
	double mean_error[2]; /* relative, of reads and writes over the mixed configurations */
	size_t nr_rows;
};

struct storage_model {
	enum storage_kind kind;
	struct storage_class_model classes[STORAGE_NR_CLASSES]; /* cache, hardware */
	struct storage_mix mix;					/* the other kinds */
	uint64_t seed;
};

void storage_model_release(struct storage_model *m);
/* NULL out of memory; the caller's. */
json_t *storage_model_json(const struct storage_model *m);
/* -EINVAL with what is wrong; -ENOMEM. */
int storage_model_from_json(struct storage_model *m, const json_t *root, struct err *err);

/* That of a file of kind "qpn". -EINVAL, -ENOENT with the file's name; -ENOMEM. */
int storage_model_read(struct storage_model *m, const char *path, struct err *err);

static inline bool storage_outside(const struct storage_range *r, double x)
{
	return !(x >= r->low && x <= r->high);
}
static inline void storage_range_take(struct storage_range *r, double x)
{
	r->low = x < r->low ? x : r->low;
	r->high = x > r->high ? x : r->high;
}

#endif
