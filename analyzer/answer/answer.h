/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer: what a command has found out, as a value, and its four renderings.
 *
 * A command parses its options, calls one library function, and puts the result into an answer:
 * tables whose columns have names and units, single facts, pictures, remarks, and a conclusion in
 * one sentence. One renderer each then makes text for a terminal, JSON, CSV and an HTML page of it,
 * so that a number is formatted in one place only, and every command shows the same thing in the
 * same way.
 *
 *	static const struct answer_column columns[] = {
 *		{ .key = "load", .title = "load" },
 *		{ .key = "target_s", .title = "target", .unit = ANSWER_SECONDS, .interval = "ci" },
 *	};
 *	struct answer *a = answer_new("blkcast.study/1", "Study: migrate");
 *	struct answer_table *t = answer_table(a, "results", "Mean response times", NULL,
 *					      ANSWER_COLUMNS(columns));
 *
 *	answer_words(t, "%s", name);
 *	answer_interval(t, 0.0123, 0.011, 0.014);
 *	answer_conclude(a, "After the migration the reads become slower.");
 *	ret = answer_print(a, ANSWER_TEXT, stdout);
 *	answer_free(a);
 *
 * An unknown number is NaN; it is "-" for people, null in JSON and an empty field in CSV. The
 * functions that fill an answer return nothing: the first failure is kept, later calls do nothing,
 * and rendering returns it. Every call accepts a NULL answer or table (out of memory), so that a
 * command checks once. Strings are copied unless a comment says otherwise. An answer belongs to one
 * thread.
 */
#ifndef ANALYZER_ANSWER_ANSWER_H
#define ANALYZER_ANSWER_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/memory/buf.h"

/* This enum says how people see a number. Machines get the number itself, in SI base units. */
enum answer_unit {
	ANSWER_NONE,	    /* words, or a number with five digits */
	ANSWER_COUNT,	    /* "1.2 k" */
	ANSWER_INTEGER,	    /* all digits; a JSON integer */
	ANSWER_SECONDS,	    /* "1.23 ms" */
	ANSWER_BYTES,	    /* "4 KiB" */
	ANSWER_PER_S,	    /* "1.2 k/s" */
	ANSWER_BYTES_PER_S, /* "4 MiB/s" */
	ANSWER_RATIO,	    /* 0.873 is "87.3 %" */
	ANSWER_CHANGE,	    /* 0.05 is "+5.0 %" */
};

struct answer_column {
	const char *key;   /* name in JSON and CSV; NULL: the column is for people only */
	const char *title; /* heading for people; NULL: the column is for machines only */
	enum answer_unit unit;
	bool right;	      /* words that align right, as numbers do */
	bool around;	      /* people see "12.3 ms ±0.5 %", half the interval over the number */
	const char *interval; /* key of [low, high] in JSON; NULL: numbers have no interval */
};

struct answer;
struct answer_table;
struct page_maker; /* page_shell.h */

/*
 * Makes an empty answer. schema is like "blkcast.study/1"; title is the title of the page. Returns
 * NULL if memory is short.
 */
struct answer *answer_new(const char *schema, const char *title);
void answer_free(struct answer *a);
/* Returns 0, or the first -errno that the answer kept. */
int answer_error(const struct answer *a);

/* Keeps a failure of the caller, which rendering then returns; ret: 0 or -errno. */
void answer_fail(struct answer *a, int ret);

/* Sets the conclusion, one sentence with its full stop. A later call replaces an earlier one. */
void answer_conclude(struct answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the conclusion, or NULL if there is none. The text is valid until the answer changes. */
const char *answer_conclusion(const struct answer *a);
/*
 * Adds a remark of one sentence. People see the remark below the conclusion; JSON has it in the
 * list "notes".
 */
void answer_note(struct answer *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * These add one number or word. People see a line "label: value"; JSON has a member of the top
 * object.
 */
void answer_fact(struct answer *a, const char *key, const char *label, enum answer_unit unit,
		 double value);
void answer_fact_words(struct answer *a, const char *key, const char *label, const char *words);
/* Adds a line "label: words", which only people see. */
void answer_line(struct answer *a, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Adds a member that only JSON shows, for values that are no table. The answer takes over the
 * reference, also on failure.
 */
void answer_member(struct answer *a, const char *key, json_t *value);

/*
 * Adds a table. key: its member in JSON, NULL leaves it out there. title and about (a sentence on
 * what the rows are) are shown on the page; the text shows title above every table but the first.
 * A table whose columns have no titles is for machines only. People see at most 24 columns, where
 * an interval counts as two. A row is complete when it has a cell for each column, in order. The
 * table belongs to the answer.
 */
struct answer_table *answer_table(struct answer *a, const char *key, const char *title,
				  const char *about, const struct answer_column *columns,
				  size_t nr_columns);
/*
 * Hides columns of the finished table from people if all their cells are empty words. Machines
 * still get them, where they have a key.
 */
void answer_hide_empty(struct answer_table *t);
/* This macro passes an array of columns as the last two arguments of answer_table(). */
#define ANSWER_COLUMNS(columns) columns, sizeof(columns) / sizeof((columns)[0])
void answer_words(struct answer_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void answer_number(struct answer_table *t, double value);
void answer_interval(struct answer_table *t, double value, double low, double high);

/*
 * Adds a picture for the page, with a sentence that says what the picture shows. The answer takes
 * svg over and leaves it empty. svg holds a whole <svg> element, whose text its author has escaped.
 */
void answer_picture(struct answer *a, const char *title, const char *about, struct buf *svg);

enum answer_form { ANSWER_TEXT, ANSWER_JSON, ANSWER_CSV };

/*
 * Writes the answer. CSV has the first table only, with a line of keys. 0, or -errno: the kept
 * failure; -EIO where out cannot be written; -EINVAL where a row is not complete (a defect of the
 * caller).
 */
int answer_print(const struct answer *a, enum answer_form form, FILE *out);
/*
 * Returns the JSON of the answer as a new reference, or NULL if memory is short or the answer is
 * not complete.
 */
json_t *answer_json(const struct answer *a);
/*
 * Appends the page to out. The page needs no other file, runs no script and asks no network. maker
 * stands at the foot of the page, and may be NULL.
 */
int answer_html(const struct answer *a, const struct page_maker *maker, struct buf *out);
/* Appends the tables and pictures alone, for a page that has a head of its own. */
int answer_html_sections(const struct answer *a, struct buf *out);
/*
 * The live page of serve asks a question by running this program as a child, with the environment
 * variable ANSWER_FOR_PAGE. The answer is then one JSON object: "shown" has the texts that people
 * see, "answer" is that of answer_json(), and "html" that of answer_html().
 */
#define ANSWER_FOR_PAGE "BLKCAST_FOR_PAGE"
bool answer_is_for_page(void);
int answer_print_for_page(const struct answer *a, FILE *out);

#endif
