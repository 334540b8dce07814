// Owns the deletions of agents as the server works them off: read again while one of them goes on. Admins only.
import { mutate, query, sentenceOf } from '../client.ts'
import { deleteAgentSessionsMutation, deletionsQuery, type DeletionRow } from '../queries-settings.ts'

const readAgainMs = 1500

export class Deletions {
  /** Newest first; null until they were read. */
  list = $state.raw<DeletionRow[] | null>(null)
  problem = $state('')
  private timer: ReturnType<typeof setTimeout> | undefined
  private isStopped = false

  async read() {
    try {
      const { deletions } = await query(deletionsQuery, {})
      this.list = deletions
      this.problem = ''
    } catch (error) {
      this.problem = sentenceOf(error)
    }
    const goesOn = this.list?.some((deletion) => deletion.finishedAt === null) ?? false
    clearTimeout(this.timer)
    if (goesOn && !this.isStopped) this.timer = setTimeout(() => void this.read(), readAgainMs)
  }

  /** Asks for all sessions of an agent to go. */
  async start(project: string, agent: string | null): Promise<DeletionRow> {
    const { deleteAgentSessions } = await mutate(deleteAgentSessionsMutation, { project, agent })
    this.list = [deleteAgentSessions, ...(this.list ?? [])]
    void this.read()
    return deleteAgentSessions
  }

  stop() {
    this.isStopped = true
    clearTimeout(this.timer)
  }
}
