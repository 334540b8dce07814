// Looking up the names of receivers. The system's look-ups share four threads with everything else of the process and cannot
// be called off: a name server that says nothing must not take all of them.
import dns, { type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

const AT_ONCE = 3

const underway = new Map<string, Promise<LookupAddress[]>>()
const waiting: (() => void)[] = []
let running = 0

/** As `dns.lookup`; those who ask for the same name at the same time share one answer. */
export const lookup: LookupFunction = (hostname, options, callback) => {
  addressesOf(hostname).then(
    (all) => {
      const fitting = options.family ? all.filter(({ family }) => family === options.family) : all
      const [first] = fitting
      if (!first) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '')
      else if (options.all) callback(null, fitting)
      else callback(null, first.address, first.family)
    },
    (error: NodeJS.ErrnoException) => callback(error, ''),
  )
}

function addressesOf(hostname: string): Promise<LookupAddress[]> {
  const known = underway.get(hostname)
  if (known) return known
  const asked = ask(hostname).finally(() => underway.delete(hostname))
  underway.set(hostname, asked)
  return asked
}

async function ask(hostname: string): Promise<LookupAddress[]> {
  if (running === AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
  running += 1
  try {
    return await new Promise((resolve, reject) => {
      dns.lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)))
    })
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}
