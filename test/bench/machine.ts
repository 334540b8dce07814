// What the figures were measured on, and how much processor time each part of a measurement took.
import { fdatasyncSync, openSync, closeSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import type postgres from 'postgres'
import { median } from './report.ts'

const TICKS_PER_SECOND = 100

export async function machineFacts(sql: postgres.Sql, folder: string): Promise<string[]> {
  const [row] = await sql`
    select version() as version, current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('shared_buffers') as buffers`
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model.trim() || 'unknown'}), ${(totalmem() / 2 ** 30).toFixed(0)} GiB memory`,
    `Node ${process.versions.node}, ${String(row!.version).split(' on ')[0]}`,
    `fsync ${row!.fsync}, synchronous_commit ${row!.commit}, shared_buffers ${row!.buffers}`,
    `writing 8 KiB and fdatasync: ${(syncSeconds(folder) * 1e6).toFixed(0)} us at the median`,
  ]
}

/** A disk that only pretends to write shows here. */
function syncSeconds(folder: string): number {
  const path = join(folder, 'sync-probe')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(8192, 1)
  const seconds: number[] = []
  for (let i = 0; i < 200; i++) {
    const before = performance.now()
    writeSync(file, block, 0, block.length, i * block.length)
    fdatasyncSync(file)
    seconds.push((performance.now() - before) / 1000)
  }
  closeSync(file)
  rmSync(path)
  return median(seconds)
}

/** User and system time of a process so far, in seconds; null where the system does not tell. */
export function cpuSeconds(pid: number): number | null {
  const fields = statOf(pid)
  return fields && (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The same for a Postgres with all its processes, those that have ended included. */
export function postgresCpuSeconds(postmaster: number): number | null {
  const own = statOf(postmaster)
  if (!own) return null
  let ticks = [11, 12, 13, 14].reduce((sum, i) => sum + Number(own[i]), 0)
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const fields = statOf(Number(entry))
    if (fields && Number(fields[1]) === postmaster) ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / TICKS_PER_SECOND
}

/** Time that anything on the machine was at work. */
export function machineCpuSeconds(): number | null {
  try {
    const ticks = readFileSync('/proc/stat', 'utf8').split('\n')[0]!.trim().split(/\s+/).slice(1).map(Number)
    const [user, nice, system, , , irq, softirq, steal] = ticks as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND
  } catch {
    return null
  }
}

/** Fields of /proc/<pid>/stat after the name, which may hold spaces. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
