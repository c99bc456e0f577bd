/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog_sql: the SQL text of catalog.c, which alone includes it. catalog.h explains the tables.
 */
#ifndef ANALYZER_CATALOG_SQL_H
#define ANALYZER_CATALOG_SQL_H

#include "analyzer/store/index/catalog_state.h"

#define WHERE_NAME " WHERE host = ?1 AND boot_id = ?2 AND epoch = ?3 AND sequence = ?4"
#define WHERE_RANGE                                            \
	" WHERE host = ?1 AND boot_id = ?2 AND epoch = ?3 AND" \
	" sequence BETWEEN ?4 AND ?5"
#define BY_NAME " ORDER BY host, boot_id, epoch, sequence"
/* All columns of segments, and whether their requests were kept back (LOSS_KEPT_BACK). */
#define EACH_OF_SEGMENT                                                                 \
	"SELECT *, requests = 0 AND EXISTS (SELECT 1 FROM loss AS l WHERE l.host ="     \
	" segment.host AND l.boot_id = segment.boot_id AND l.epoch = segment.epoch AND" \
	" l.sequence = segment.sequence AND l.cause = 11) FROM segment"
_Static_assert(LOSS_KEPT_BACK == 11, "the cause in EACH_OF_SEGMENT");

static const char *const statements[NR_STATEMENTS] = {
	[PUT_SEGMENT] = "INSERT INTO segment VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
			" ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,"
			" ?24, ?25, ?26, ?27)",
	[PUT_DEVICE] = "INSERT INTO device VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
		       " ?12, ?13, ?14, ?15, ?16, ?17)",
	[PUT_LOSS] = "INSERT INTO loss VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
	[DROP_SEGMENT] = "DELETE FROM segment" WHERE_NAME,
	[DROP_DEVICES] = "DELETE FROM device" WHERE_NAME,
	[DROP_LOSSES] = "DELETE FROM loss" WHERE_NAME,
	[GET_HASH] = "SELECT hash FROM segment" WHERE_NAME,
	[PUT_DAMAGED] = "INSERT OR REPLACE INTO damaged VALUES (?1, ?2, ?3, ?4)",
	[GET_DAMAGED] = "SELECT 1 FROM damaged WHERE path = ?1 AND mtime_ns = ?2 AND"
			" file_bytes = ?3",
	[DROP_DAMAGED] = "DELETE FROM damaged WHERE path = ?1",
	[EACH_SEGMENT] = EACH_OF_SEGMENT " WHERE sequence >= 0" BY_NAME,
	[EACH_DEVICE] = "SELECT * FROM device" BY_NAME ", rowid",
	[EACH_LOSS] = "SELECT * FROM loss" BY_NAME ", rowid",
	[EACH_DAMAGED] = "SELECT path, mtime_ns, why FROM damaged ORDER BY path",
	/* Both find rows by the primary key, so their time does not grow with the catalog. */
	[NEXT_STREAM] = "SELECT boot_id, epoch FROM segment WHERE host = ?1 AND"
			" (boot_id, epoch) >= (?2, ?3) ORDER BY boot_id, epoch LIMIT 1",
	[HIGHEST_OF_STREAM] =
		"SELECT last FROM (SELECT last FROM segment WHERE host = ?1 AND boot_id = ?2 AND"
		" epoch = ?3 ORDER BY sequence DESC LIMIT 1) UNION ALL SELECT last FROM (SELECT"
		" last FROM segment WHERE host = ?1 AND boot_id = ?2 AND epoch = ?3"
		" ORDER BY sequence LIMIT 1)",
	[EACH_SEGMENT_AFTER] = EACH_OF_SEGMENT " WHERE sequence >= 0 AND (host, boot_id, epoch,"
					       " sequence) > (?1, ?2, ?3, ?4)" BY_NAME,
	[EACH_SPAN] = "SELECT sequence, begin_real, end_real, received, requests FROM segment"
		      " WHERE host = ?1 AND boot_id = ?2 AND epoch = ?3 AND sequence >= ?4"
		      " ORDER BY sequence",
	[EACH_SUMMARY] = EACH_OF_SEGMENT " WHERE sequence < 0" BY_NAME " DESC",
	[EACH_SUMMARY_OF] = EACH_OF_SEGMENT " WHERE host = ?1 AND boot_id = ?2 AND"
					    " epoch = ?3 AND sequence < 0" BY_NAME " DESC",
	[EACH_KEPT] = EACH_OF_SEGMENT BY_NAME,
	[FIND_SUMMARY] = "SELECT sequence, last, generation FROM segment WHERE host = ?1 AND"
			 " boot_id = ?2 AND epoch = ?3 AND sequence >= ?4 AND sequence < 0"
			 " ORDER BY sequence LIMIT 1",
	[DROP_SEGMENTS_RANGE] = "DELETE FROM segment" WHERE_RANGE,
	[DROP_DEVICES_RANGE] = "DELETE FROM device" WHERE_RANGE,
	[DROP_LOSSES_RANGE] = "DELETE FROM loss" WHERE_RANGE,
	[COUNT_RANGE] = "SELECT count(*) FROM segment" WHERE_RANGE,
	[GET_HOST] = "SELECT inodes, bytes, day, segments FROM host WHERE host = ?1",
};

/*
 * The number of inodes that a row adds or removes: its file, and the folders of its boot and its
 * epoch where it is the first or last row below them. nr is the number of rows that a folder has in
 * that case. Each question looks up two rows by the primary key, so a change costs the same in a
 * catalog of any size.
 */
#define IS_NR_OF(row, nr, more)                                           \
	"((SELECT count(*) FROM (SELECT 1 FROM segment WHERE host = " row \
	".host AND boot_id = " row ".boot_id" more " LIMIT 2)) = " nr ")"
#define INODES_OF(row, nr) \
	"1 + " IS_NR_OF(row, nr, "") " + " IS_NR_OF(row, nr, " AND epoch = " row ".epoch")
#define DAY_OF_NEW "new.received / 86400000000000" /* CATALOG_DAY_NS */

static const char schema[] =
	"CREATE TABLE segment(host TEXT NOT NULL, boot_id TEXT NOT NULL, epoch INTEGER NOT NULL,"
	" sequence INTEGER NOT NULL, hash BLOB NOT NULL, file_bytes INTEGER NOT NULL,"
	" requests INTEGER NOT NULL, captured INTEGER NOT NULL, source INTEGER NOT NULL,"
	" layer INTEGER NOT NULL, begin_mono INTEGER NOT NULL, begin_boot INTEGER NOT NULL,"
	" begin_real INTEGER NOT NULL, end_mono INTEGER NOT NULL, end_boot INTEGER NOT NULL,"
	" end_real INTEGER NOT NULL, first_real INTEGER NOT NULL, last_real INTEGER NOT NULL,"
	" last INTEGER NOT NULL, generation INTEGER NOT NULL, segments INTEGER NOT NULL,"
	" segment_bytes INTEGER NOT NULL, dropped INTEGER NOT NULL,"
	" dropped_begin INTEGER NOT NULL, dropped_end INTEGER NOT NULL, received INTEGER NOT NULL,"
	" untimed INTEGER NOT NULL,"
	" PRIMARY KEY(host, boot_id, epoch, sequence)) WITHOUT ROWID;"
	"CREATE TABLE device(host TEXT NOT NULL, boot_id TEXT NOT NULL, epoch INTEGER NOT NULL,"
	" sequence INTEGER NOT NULL, device INTEGER NOT NULL, name TEXT NOT NULL,"
	" size_bytes INTEGER NOT NULL, requests_0 INTEGER NOT NULL, requests_1 INTEGER NOT NULL,"
	" requests_2 INTEGER NOT NULL, requests_3 INTEGER NOT NULL, requests_4 INTEGER NOT NULL,"
	" bytes_0 INTEGER NOT NULL, bytes_1 INTEGER NOT NULL, bytes_2 INTEGER NOT NULL,"
	" bytes_3 INTEGER NOT NULL, bytes_4 INTEGER NOT NULL);"
	"CREATE INDEX device_name ON device(host, boot_id, epoch, sequence);"
	"CREATE TABLE loss(host TEXT NOT NULL, boot_id TEXT NOT NULL, epoch INTEGER NOT NULL,"
	" sequence INTEGER NOT NULL, cause INTEGER NOT NULL, count INTEGER NOT NULL,"
	" count_known INTEGER NOT NULL, device INTEGER NOT NULL, begin_real INTEGER NOT NULL,"
	" end_real INTEGER NOT NULL);"
	"CREATE INDEX loss_name ON loss(host, boot_id, epoch, sequence);"
	"CREATE TABLE damaged(path TEXT PRIMARY KEY, mtime_ns INTEGER NOT NULL,"
	" file_bytes INTEGER NOT NULL, why TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE host(host TEXT PRIMARY KEY, inodes INTEGER NOT NULL, bytes INTEGER NOT NULL,"
	" day INTEGER NOT NULL, segments INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TRIGGER host_more AFTER INSERT ON segment BEGIN"
	" INSERT INTO host SELECT new.host, 0, 0, 0, 0 WHERE NOT EXISTS"
	" (SELECT 1 FROM host WHERE host = new.host);"
	" UPDATE host SET inodes = inodes + " INODES_OF(
		"new",
		"1") ","
		     " bytes = bytes + new.file_bytes WHERE host = new.host;"
		     " UPDATE host SET segments = CASE WHEN day < " DAY_OF_NEW
		     " THEN 1 ELSE segments + 1 END, day = " DAY_OF_NEW
		     " WHERE host = new.host AND new.sequence >= 0 AND day <= " DAY_OF_NEW "; END;"
		     "CREATE TRIGGER host_less AFTER DELETE ON segment BEGIN"
		     " UPDATE host SET inodes = inodes - (" INODES_OF(
			     "old",
			     "0") "),"
				  " bytes = bytes - old.file_bytes WHERE host = old.host; END;";

#endif
