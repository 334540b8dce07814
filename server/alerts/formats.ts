// One message in the form of each channel: Standard Webhooks, Slack's Block Kit, and mail. Pure.
import { CATEGORY_WORDS, nameOfAgent, utc, type AlertMessage } from './alert.ts'

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
const MAX_LINK = 1_000

/** What is known of it in a few words each, in the order in which people ask. */
function facts(message: AlertMessage): [name: string, value: string][] {
  const { severity, category, cause, since, seenInLast7Days: seen, session, otherFailures: others } = message
  const kind = category && CATEGORY_WORDS[category] + (cause && cause !== 'OTHER' ? `, ${words(cause)}` : '')
  const often = seen === null ? '' : `, in ${seen} ${seen === 1 ? 'session' : 'sessions'} of the last 7 days`
  const more = others === 0 ? '' : `, with ${others} more ${others === 1 ? 'failure' : 'failures'}`
  const known: [string, string | null][] = [
    ['Agent', nameOfAgent(message.agent)],
    ['Severity', severity && words(severity)],
    ['Kind', kind],
    ['Session', session && `${session.externalId}, ${utc(session.at)}${more}`],
    [capital(since.what), `${utc(since.at)}${often}`],
  ]
  return known.filter((fact): fact is [string, string] => fact[1] !== null)
}

/** The page of the session, and where the platform shows it. */
function links({ session, rate, url }: AlertMessage): [words: string, url: string][] {
  const first = session ? 'Open the session' : rate ? 'Open its sessions' : 'Open Runwatch'
  // Slack takes no longer text: without its query the page is still the right one.
  const short = url.length > MAX_LINK ? url.slice(0, url.indexOf('?')) : url
  const outside = session?.externalUrl
  return [
    [first, short],
    ...(outside && outside.length <= MAX_LINK ? [['Open on its platform', outside] as [string, string]] : []),
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
  // Verbatim: neither @channel nor an address in a text of a run becomes anything.
  const marked = (text: string) => ({ type: 'mrkdwn', text, verbatim: true })
  const section = (text: string) => ({ type: 'section', text: marked(text) })
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
        fields: facts(message).map(([name, value]) => marked(`*${name}*\n${cut(escapeSlack(value), FIELD)}`)),
      },
      ...(message.advice ? [section(cut(`*What to do*\n${escapeSlack(message.advice)}`, SECTION))] : []),
      section(
        links(message)
          .map(([name, url]) => `<${escapeSlack(url)}|${name}>`)
          .join('   '),
      ),
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
      `<p>${links(message)
        .map(([name, url]) => `<a href="${escapeHtml(url)}">${name}</a>`)
        .join(' &nbsp; ')}</p><p><small>${escapeHtml(footer(message))}</small></p></body></html>`,
  }
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function plainText(message: AlertMessage): string {
  const { title, sentence, evidence, advice } = message
  return [
    mark(message) + title,
    sentence,
    ...evidence.map((line) => `- ${line}`),
    ...facts(message).map(([name, value]) => `${name}: ${value}`),
    ...(advice ? [`What to do: ${advice}`] : []),
    ...links(message).map(([name, url]) => `${name}: ${url}`),
    footer(message),
  ].join('\n')
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text)
