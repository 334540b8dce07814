// Runs that fail, and their patterns as the server knows them, for the browser's tests.
import type { TestServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import type { WatchedPage } from '../support/browser.ts'

export const within = 20_000

export interface Pattern {
  id: string
  title: string
  sessions: number
}

export function failingRuns(server: () => TestServer) {
  let runs = 0
  return {
    /** A run whose tool fails. Answers its session's id. */
    async fail(tool: string, error: string, agent = 'Order desk'): Promise<string> {
      const session_id = `failed-${(runs += 1)}`
      await server().ingestA([
        { session_id, agent_name: agent, type: 'tool.call', tool_name: tool, error },
        { session_id, agent_name: agent, type: 'session.end', status: 'error' },
      ])
      return session_id
    },
    /** The pattern with these words in its title, once it was seen so often. */
    patternOf: (title: string, sessions = 1) =>
      until<Pattern>(
        async () => {
          const { failurePatterns } = await server().query('{ failurePatterns { nodes { id title sessions } } }')
          return failurePatterns.nodes.find((each: Pattern) => each.title.includes(title) && each.sessions >= sessions)
        },
        Boolean,
        within,
      ),
  }
}

export const patternGrid = ({ page }: WatchedPage) => page.getByRole('grid', { name: 'Failure patterns' })
export const titlesOf = (watched: WatchedPage) => patternGrid(watched).locator('.title a').allTextContents()
export const panelOf = ({ page }: WatchedPage) => page.getByRole('complementary', { name: 'Failure pattern' })
export const isLive = ({ page }: WatchedPage) => page.getByText('Live', { exact: true }).waitFor()
