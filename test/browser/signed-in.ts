// Browsers of people who are signed in: signing in is limited, so each person does it once for a test file.
import type { Browser, BrowserContext } from 'playwright-core'
import { openPage } from '../support/browser.ts'
import { ADMIN, type TestServer } from '../support/server.ts'

export type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>

export async function signIn(browser: Browser, server: TestServer, person = ADMIN): Promise<SignedIn> {
  const { context } = await openPage(browser, server.url)
  await context.request.post('/api/auth/sign-in', { data: person })
  const state = await context.storageState()
  await context.close()
  return state
}

/** A viewer, who has the admin's password. */
export async function signInViewer(browser: Browser, server: TestServer): Promise<SignedIn> {
  const email = 'viewer@example.com'
  await server.database.sql`
    insert into people (id, email, password_hash, role)
    select gen_random_uuid(), ${email}, password_hash, 'VIEWER' from people`
  return signIn(browser, server, { ...ADMIN, email })
}
