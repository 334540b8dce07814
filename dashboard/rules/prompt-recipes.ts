// Owns the recipes by which a workflow fetches the active prompt and puts it in front of its own instruction.
import { keyPlaceholder } from './first-events.ts'

export interface RecipeOf {
  /** Where Runwatch is reached, like https://runwatch.example.com */
  address: string
  agent: string
}

const fetchNode = 'Active prompt'
const waitNode = 'Wait for active prompt'
const mostWaitMs = 3_000

const endpoint = (address: string) => `${address.replace(/\/+$/, '')}/api/prompts/active`

/**
 * Two nodes to paste into the canvas. The request runs once for any number of items, and its answer would take their
 * place: so the items go past it, and the second node lets them on, unchanged, when the answer is there.
 */
export const n8nNodes = ({ address }: Pick<RecipeOf, 'address'>): string =>
  JSON.stringify(
    {
      nodes: [
        {
          parameters: {
            url: endpoint(address),
            authentication: 'genericCredentialType',
            genericAuthType: 'httpHeaderAuth',
            sendQuery: true,
            queryParameters: { parameters: [{ name: 'agent_name', value: '={{ $workflow.name }}' }] },
            options: { timeout: mostWaitMs },
          },
          id: '5b0e3c3e-8a0c-4d58-9a51-0d6f0a1c7e01',
          name: fetchNode,
          type: 'n8n-nodes-base.httpRequest',
          typeVersion: 4.2,
          position: [0, 160],
          executeOnce: true,
          onError: 'continueRegularOutput',
        },
        {
          parameters: { mode: 'chooseBranch', useDataOfInput: 1 },
          id: '5b0e3c3e-8a0c-4d58-9a51-0d6f0a1c7e02',
          name: waitNode,
          type: 'n8n-nodes-base.merge',
          typeVersion: 3,
          position: [260, 0],
        },
      ],
      connections: { [fetchNode]: { main: [[{ node: waitNode, type: 'main', index: 1 }]] } },
    },
    null,
    2,
  )

const fetched = `$('${fetchNode}')`
/** Nothing where the request did not run or failed, or none is active; else the prompt and a blank line. */
export const n8nFront = `{{ ${fetched}.isExecuted && ${fetched}.first()?.json.version ? ${fetched}.first().json.prompt + '\\n\\n' : '' }}`

/** Where the instruction is in the nodes of n8n that have one. */
export const n8nPlaces = [
  { node: 'AI Agent', place: 'Options > System Message' },
  { node: 'Basic LLM Chain', place: 'Chat Messages, the one of type System' },
  { node: 'OpenAI, Message a model', place: 'Messages, the one with the role System' },
  { node: 'Anthropic or Google Gemini, Message a model', place: 'Options > System Message' },
] as const

/** What stands in the fields of Webhooks by Zapier. */
export const zapierFields = ({ address, agent }: RecipeOf) => [
  { field: 'URL', value: endpoint(address) },
  { field: 'Query String Params', name: 'agent_name', value: agent },
  { field: 'Headers', name: 'X-API-Key', value: keyPlaceholder },
]

const quotedForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

const ask = ({ address, agent }: RecipeOf) =>
  `curl -fsS --max-time ${mostWaitMs / 1000} --get --data-urlencode ${quotedForShell(`agent_name=${agent}`)} -H 'X-API-Key: ${keyPlaceholder}'`

export const curlCommands = (of: RecipeOf) => [
  {
    title: 'As JSON',
    says: 'Answers agent_name, prompt and version. While none is active, prompt is empty and version null.',
    text: `${ask(of)} ${quotedForShell(endpoint(of.address))}`,
  },
  {
    title: 'As text, and only when it changed',
    says: 'Keeps the prompt in prompt.txt. If-None-Match is sent with the tag of the last answer; unchanged is answered 304 without a body. When Runwatch cannot be asked, the file stays as it was.',
    text: `${ask(of)} -H 'Accept: text/plain' --etag-compare prompt.etag --etag-save prompt.etag -o prompt.txt ${quotedForShell(endpoint(of.address))}`,
  },
  {
    title: 'In front of the instruction',
    says: 'Puts both into system.txt; the instruction alone while no prompt is active.',
    text: `{ [ -s prompt.txt ] && cat prompt.txt && printf '\\n\\n'; cat instruction.txt; } > system.txt`,
  },
]

/** Why a platform may not reach the address; null where nothing tells. */
export function reachNote(address: string): string | null {
  const { hostname } = new URL(address)
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
    return `Only programs on the machine of Runwatch reach ${hostname}. Zapier, n8n Cloud and n8n in a container do not: put the address by which they reach Runwatch in its place.`
  if (
    /^(10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\.[\d.]+$|^\[f[cd]|\.(local|lan|internal|home\.arpa)$|^[^.:]+$/.test(
      hostname,
    )
  )
    return `${hostname} is an address of your own network. Zapier and n8n Cloud do not reach it: put one that they reach in its place.`
  return null
}
