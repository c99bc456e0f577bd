// read.mjs PREFIX FILE: what two independent readers find in the file that `blkcast export --format parquet` wrote,
// as `blkcast dump --format csv` prints it: PREFIX.hyparquet and PREFIX.duckdb; and PREFIX.types, DuckDB's types.
import { writeFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

const [, , prefix, file] = process.argv
const head = 'arrival_s,host,device,device_name,source,operation,sector,bytes,queue_s,device_s,tid,pid,cgroup_id,' +
	'queue_depth,requeues,error,flags,total_s'
const seconds = ns => ns == null ? '' : `${BigInt(ns) / 1000000000n}.${String(BigInt(ns) % 1000000000n).padStart(9, '0')}`
const line = r => [seconds(r.arrival), r.host, r.device, r.device_name, r.source, r.operation, r.sector, r.bytes,
	seconds(r.queue_ns), seconds(r.device_ns), r.tid ?? 0, r.pid ?? 0, r.cgroup_id ?? 0, r.queue_depth, r.requeues,
	r.error, '0x' + r.flags.toString(16), seconds(r.total_ns)].join(',')
const write = (name, rows) => writeFileSync(`${prefix}.${name}`, [head, ...rows.map(line), ''].join('\n'))

const nanoseconds = { timestampFromNanoseconds: ns => ns }
write('hyparquet', await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors, parsers: nanoseconds }))

const db = await (await DuckDBInstance.create()).connect()
const all = `read_parquet('${file}', file_row_number = true)`
const rows = await db.runAndReadAll(`SELECT * REPLACE (epoch_ns(arrival) AS arrival) FROM ${all} ORDER BY file_row_number`)
write('duckdb', rows.getRowObjects())
const types = await db.runAndReadAll(`DESCRIBE SELECT * EXCLUDE file_row_number FROM ${all}`)
writeFileSync(`${prefix}.types`, types.getRows().map(r => `${r[0]} ${r[1]}\n`).join(''))
