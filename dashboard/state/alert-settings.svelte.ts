// Owns what people decided about alerts: rules, channels and muted agents, as the server has them after every change.
import { mutate, query, sentenceOf } from '../client.ts'
import {
  alertRulesQuery,
  channelsQuery,
  createAlertRuleMutation,
  createChannelMutation,
  deleteAlertRuleMutation,
  deleteChannelMutation,
  muteAgentMutation,
  rotateChannelSecretMutation,
  testChannelMutation,
  updateAlertRuleMutation,
  updateChannelMutation,
  type AlertRule,
  type AlertRuleInput,
  type Channel,
  type ChannelInput,
  type MutedAgent,
  type SavedChannel,
} from '../queries-alerts.ts'
import { agentsQuery } from '../queries-agents.ts'
import { account } from './account.svelte.ts'

export class AlertSettings {
  /** Null until they were read. */
  rules = $state.raw<AlertRule[] | null>(null)
  channels = $state.raw<Channel[]>([])
  muted = $state.raw<MutedAgent[]>([])
  projects = $state.raw<string[]>([])
  /** Known ones, to be proposed; without them names are still typed. */
  agents = $state.raw<{ project: string; name: string }[]>([])
  canMail = $state(false)
  problem = $state('')
  isLoading = $state(false)

  /** Channels are for admins alone: viewers do not ask for them. */
  async read() {
    this.isLoading = true
    try {
      const [{ alertRules, mutedAgents, canMail, projects }, channels] = await Promise.all([
        query(alertRulesQuery, {}),
        account.isAdmin ? query(channelsQuery, {}).then((answer) => answer.channels) : [],
      ])
      this.rules = alertRules
      this.muted = mutedAgents
      this.channels = channels
      this.canMail = canMail
      this.projects = projects.map(({ name }) => name)
      this.problem = ''
    } catch (error) {
      this.problem = sentenceOf(error)
    } finally {
      this.isLoading = false
    }
  }

  async readAgents() {
    const answer = await query(agentsQuery, { range: null }).catch(() => null)
    this.agents = answer?.agents.flatMap(({ project, name }) => (name === null ? [] : { project, name })) ?? []
  }

  async createRule(project: string, input: AlertRuleInput): Promise<AlertRule> {
    const { createAlertRule: rule } = await mutate(createAlertRuleMutation, { project, input })
    this.rules = [...(this.rules ?? []), rule]
    return rule
  }

  async updateRule(id: string, input: AlertRuleInput): Promise<AlertRule> {
    const { updateAlertRule: rule } = await mutate(updateAlertRuleMutation, { id, input })
    this.rules = this.rules?.map((each) => (each.id === id ? rule : each)) ?? null
    return rule
  }

  async deleteRule(id: string) {
    await mutate(deleteAlertRuleMutation, { id })
    this.rules = this.rules?.filter((each) => each.id !== id) ?? null
  }

  async createChannel(project: string, kind: Channel['kind'], input: ChannelInput): Promise<SavedChannel> {
    const { createChannel: saved } = await mutate(createChannelMutation, { project, kind, input })
    this.channels = [...this.channels, saved.channel]
    return saved
  }

  async updateChannel(id: string, input: ChannelInput): Promise<SavedChannel> {
    const { updateChannel: saved } = await mutate(updateChannelMutation, { id, input })
    this.take(saved.channel)
    // The sentences of rules name their channels.
    if (input.name != null) void this.read()
    return saved
  }

  async rotateSecret(id: string): Promise<SavedChannel> {
    const { rotateChannelSecret: saved } = await mutate(rotateChannelSecretMutation, { id })
    this.take(saved.channel)
    return saved
  }

  async deleteChannel(id: string) {
    await mutate(deleteChannelMutation, { id })
    this.channels = this.channels.filter((each) => each.id !== id)
    void this.read()
  }

  async test(id: string) {
    return (await mutate(testChannelMutation, { id })).testChannel
  }

  /** @param days null ends the mute */
  async mute(project: string, agent: string, days: number | null) {
    this.muted = (await mutate(muteAgentMutation, { project, agent, days })).muteAgent
  }

  /** The rules that tell through a channel. */
  rulesOf({ id }: { id: string }): AlertRule[] {
    return this.rules?.filter((rule) => rule.channels?.some((each) => each.id === id)) ?? []
  }

  private take(channel: Channel) {
    this.channels = this.channels.map((each) => (each.id === channel.id ? channel : each))
  }
}
