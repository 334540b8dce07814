// A real headless browser from npm, and pages that remember everything that went wrong in them.
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { chromiumOptions } from './chromium.ts'

export async function launchBrowser(): Promise<Browser> {
  const { executablePath, args } = await chromiumOptions()
  return chromium.launch({
    executablePath,
    args: [
      // Pages are drawn as they are without a graphics card; imitating one takes as long as all the rest.
      ...args.filter((arg) => !/^--(use-gl|use-angle|enable-unsafe-swiftshader|ignore-gpu-blocklist)/.test(arg)),
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

export interface WatchedPage {
  page: Page
  context: BrowserContext
  /** console errors, uncaught exceptions and violations of the content security policy */
  faults: string[]
}

export async function openPage(
  browser: Browser,
  url: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  return { page, context, faults }
}
