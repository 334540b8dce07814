// Where the server's processor time goes: its --cpu-prof, summed by function.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; hitCount?: number }[]
  samples: number[]
  timeDeltas: number[]
}

export const profiled = (folder: string) => ['--cpu-prof', '--cpu-prof-dir', join(folder, 'profile')]

/** The functions with the most time of their own, as shares of the time that was not idle. */
export async function topFunctions(folder: string, count = 40): Promise<string[]> {
  const files = (await readdir(join(folder, 'profile'))).map((name) => join(folder, 'profile', name))
  const profiles = await Promise.all(files.map(async (file) => busyTimes(JSON.parse(await readFile(file, 'utf8')))))
  // Threads have profiles of their own; the one that worked most is the server.
  const { busy, total } = profiles.toSorted((a, b) => b.total - a.total)[0]!
  return busy
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, count)
    .map(([name, time]) => `${((time / total) * 100).toFixed(1)} % ${name}`)
}

function busyTimes({ nodes, samples, timeDeltas }: CpuProfile): { busy: [string, number][]; total: number } {
  const nameOf = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}${url ? `:${lineNumber + 1}` : ''}`,
    ]),
  )
  const microseconds = new Map<string, number>()
  samples.forEach((id, i) => {
    const name = nameOf.get(id)!
    microseconds.set(name, (microseconds.get(name) ?? 0) + timeDeltas[i]!)
  })
  const busy = [...microseconds].filter(([name]) => !/^\((idle|program|root)\)/.test(name))
  return { busy, total: busy.reduce((sum, [, time]) => sum + time, 0) }
}
