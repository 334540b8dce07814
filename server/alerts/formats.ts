// One message in the form of each channel: Standard Webhooks, Slack's Block Kit, and mail. Pure.
import { CATEGORY_WORDS, nameOfAgent, type AlertMessage } from './alert.ts'

/** `type` of a webhook, by kind. */
const TYPES: Record<AlertMessage['kind'], string> = {
  FAILURE: 'alert.failure',
  NEW_PATTERN: 'alert.new_pattern',
  FAILURE_RATE: 'alert.failure_rate',
  TEST: 'alert.test',
}

/** The payload that Standard Webhooks recommend: type, timestamp and data. */
export function webhookBody(message: AlertMessage): string {
  const { kind, at, ...data } = message
  return JSON.stringify({ type: TYPES[kind], timestamp: at, data: { ...data, isTest: kind === 'TEST' } })
}

const isTest = ({ kind }: AlertMessage) => kind === 'TEST'
const mark = (message: AlertMessage) => (isTest(message) ? '[TEST] ' : '')
const linkWords = ({ session, rate }: AlertMessage) =>
  session ? 'Open the session' : rate ? 'Open its sessions' : 'Open Runwatch'

/** What is known of it in a few words each, in the order in which people ask. */
function facts(message: AlertMessage): [string, string][] {
  const { severity, category, cause, since, seenInLast7Days, kind } = message
  const kinds = category && CATEGORY_WORDS[category] + (cause && cause !== 'OTHER' ? `, ${words(cause)}` : '')
  const often =
    seenInLast7Days === null
      ? ''
      : `, in ${seenInLast7Days} ${seenInLast7Days === 1 ? 'session' : 'sessions'} of the last 7 days`
  return [
    ['Agent', nameOfAgent(message.agent)],
    ...(severity ? [['Severity', words(severity)] as [string, string]] : []),
    ...(kinds ? [['Kind', kind === 'NEW_PATTERN' ? `${kinds}, new` : kinds] as [string, string]] : []),
    [capital(since.what), `${since.at.replace(/\.\d+Z$/, 'Z')}${often}`],
    ...(message.session ? [['Session', message.session.externalId] as [string, string]] : []),
  ]
}

const words = (constant: string) => constant.toLowerCase().replaceAll('_', ' ')
const capital = (text: string) => text[0]!.toUpperCase() + text.slice(1)
const footer = ({ rule, project }: AlertMessage) => `Rule "${rule}" of the project ${project}, by Runwatch`

/** Limits of Block Kit: header 150 characters, text of a section 3,000, of a field 2,000. */
const HEADER = 150
const SECTION = 2_900
const FIELD = 1_000

export function slackBody(message: AlertMessage): string {
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } })
  const quoted = message.evidence.map((line) => `> ${escapeSlack(line)}`).join('\n')
  return JSON.stringify({
    // What notifications and screen readers say, and clients that know no blocks.
    text: escapeSlack(cut(plainText(message), SECTION)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: cut(mark(message) + message.title, HEADER), emoji: false } },
      section(cut(escapeSlack(message.sentence), SECTION)),
      ...(quoted ? [section(cut(quoted, SECTION))] : []),
      {
        type: 'section',
        fields: facts(message).map(([name, value]) => ({
          type: 'mrkdwn',
          text: `*${name}*\n${cut(escapeSlack(value), FIELD)}`,
        })),
      },
      ...(message.advice ? [section(cut(`*What to do*\n${escapeSlack(message.advice)}`, SECTION))] : []),
      section(`<${escapeSlack(message.url)}|${linkWords(message)}>`),
      { type: 'context', elements: [{ type: 'plain_text', text: cut(footer(message), FIELD), emoji: false }] },
    ],
    unfurl_links: false,
    unfurl_media: false,
  })
}

/** Only these three mean something to Slack; with them nobody can be called by a text of a run. */
const escapeSlack = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export interface Mail {
  subject: string
  text: string
  html: string
}

const SUBJECT = 150

export function mailOf(message: AlertMessage): Mail {
  const severity = message.severity && !isTest(message) ? `${words(message.severity)}: ` : ''
  const rows = facts(message)
    .map(([name, value]) => `<tr><th align="left" valign="top">${name}</th><td>${escapeHtml(value)}</td></tr>`)
    .join('')
  const evidence = message.evidence.map((line) => `<li>${escapeHtml(line)}</li>`).join('')
  return {
    subject: cut(`${mark(message)}${capital(severity + message.title)}`.replace(/\s+/g, ' '), SUBJECT),
    text: plainText(message),
    html:
      `<!doctype html><html lang="en"><body style="font-family: sans-serif; line-height: 1.5">` +
      `<h1 style="font-size: 18px">${escapeHtml(mark(message) + message.title)}</h1><p>${escapeHtml(message.sentence)}</p>` +
      (evidence && `<ul style="font-family: monospace">${evidence}</ul>`) +
      `<table cellpadding="4">${rows}</table>` +
      (message.advice ? `<p><b>What to do:</b> ${escapeHtml(message.advice)}</p>` : '') +
      `<p><a href="${escapeHtml(message.url)}">${linkWords(message)}</a></p><p><small>${escapeHtml(footer(message))}</small></p></body></html>`,
  }
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function plainText(message: AlertMessage): string {
  const { title, sentence, evidence, advice, url } = message
  return [
    mark(message) + title,
    sentence,
    ...evidence.map((line) => `- ${line}`),
    ...facts(message).map(([name, value]) => `${name}: ${value}`),
    ...(advice ? [`What to do: ${advice}`] : []),
    `${linkWords(message)}: ${url}`,
    footer(message),
  ].join('\n')
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text)
