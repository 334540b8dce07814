// The recipes for fetching the active prompt: what is pasted into n8n, typed into Zapier and run in a shell.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { curlCommands, n8nFront, n8nNodes, reachNote, zapierFields } from '../../dashboard/rules/prompt-recipes.ts'

const address = 'https://runwatch.example.com'
const agent = `Ada's "Refund" desk & co`

describe('the nodes for n8n', () => {
  const { nodes, connections } = JSON.parse(n8nNodes({ address }))
  const [request, wait] = nodes

  it('ask once for any number of items, with a key that is not in the workflow, and never break it', () => {
    expect(request).toMatchObject({
      name: 'Active prompt',
      type: 'n8n-nodes-base.httpRequest',
      executeOnce: true,
      onError: 'continueRegularOutput',
      parameters: {
        url: 'https://runwatch.example.com/api/prompts/active',
        genericAuthType: 'httpHeaderAuth',
        queryParameters: { parameters: [{ name: 'agent_name', value: '={{ $workflow.name }}' }] },
        options: { timeout: 3000 },
      },
    })
    expect(JSON.stringify(nodes)).not.toMatch(/api.?key/i)
  })
  it('let the items on as they came, when the answer is there', () => {
    expect(wait).toMatchObject({
      type: 'n8n-nodes-base.merge',
      parameters: { mode: 'chooseBranch', useDataOfInput: 1 },
    })
    expect(connections).toEqual({ [request.name]: { main: [[{ node: wait.name, type: 'main', index: 1 }]] } })
  })
})

describe('the expression for n8n', () => {
  /** As n8n evaluates what stands between the braces, with what a node has given. */
  const front = (node: { isExecuted: boolean; first: () => unknown }) => {
    const code = /^\{\{ (.*) \}\}$/.exec(n8nFront)![1]!
    const look = (name: string) => (name === 'Active prompt' ? node : undefined)
    return new Function('$', `return ${code}`)(look) as unknown
  }
  const given = (json: object) => ({ isExecuted: true, first: () => ({ json }) })
  const own = 'You help guests.'

  it('puts the prompt and a blank line in front', () => {
    expect(`${front(given({ agent_name: 'Desk', prompt: 'Use dates.', version: 3 }))}${own}`).toBe(
      'Use dates.\n\nYou help guests.',
    )
  })
  it.each([
    ['none is active', given({ agent_name: 'Desk', prompt: '', version: null })],
    ['the request failed', given({ error: { message: 'timeout of 3000ms exceeded' } })],
    ['a page came in its place', given({ data: '<html>welcome</html>' })],
    ['the node is off and hands on an item with a prompt of its own', given({ prompt: 'Draw a cat.' })],
    ['nothing came', { isExecuted: true, first: () => undefined }],
    [
      'the node did not run',
      {
        isExecuted: false,
        first: () => {
          throw new Error('Node has not been executed')
        },
      },
    ],
  ])('leaves the instruction alone where %s', (_when, node) => {
    expect(`${front(node)}${own}`).toBe(own)
  })
})

it('Zapier gets the address, the agent and the key each in its field', () => {
  expect(zapierFields({ address: `${address}/`, agent })).toEqual([
    { field: 'URL', value: 'https://runwatch.example.com/api/prompts/active' },
    { field: 'Query String Params', name: 'agent_name', value: agent },
    { field: 'Headers', name: 'X-API-Key', value: 'YOUR_API_KEY' },
  ])
})

describe('the lines for curl', () => {
  const lines = curlCommands({ address, agent })

  it('name the agent as a shell reads it, whatever is in its name', () => {
    const said = execFileSync('sh', ['-c', lines[0]!.text.replace(/^curl/, `printf '%s|'`)], { encoding: 'utf8' })
    expect(said.split('|')).toContain(`agent_name=${agent}`)
    expect(said.split('|')).toContain(`${address}/api/prompts/active`)
  })
  it.each([
    ['Use dates.', 'Use dates.\n\nYou help guests.'],
    ['', 'You help guests.'],
    [null, 'You help guests.'],
  ])('put the prompt %j in front of the instruction', (prompt, expected) => {
    const folder = mkdtempSync(join(tmpdir(), 'recipe-'))
    writeFileSync(join(folder, 'instruction.txt'), 'You help guests.')
    if (prompt !== null) writeFileSync(join(folder, 'prompt.txt'), prompt)
    execFileSync('sh', ['-c', lines[2]!.text], { cwd: folder })
    expect(readFileSync(join(folder, 'system.txt'), 'utf8')).toBe(expected)
    rmSync(folder, { recursive: true })
  })
})

it.each([
  ['http://127.0.0.1:4000', /^Only programs on the machine of Runwatch reach 127\.0\.0\.1\./],
  ['http://localhost:4000', /reach localhost\./],
  ['http://[::1]:4000', /reach \[::1\]\./],
  ['http://192.168.1.20', /^192\.168\.1\.20 is an address of your own network/],
  ['http://172.31.0.1', /your own network/],
  ['http://runwatch.local', /your own network/],
  ['http://nas:4000', /your own network/],
  ['https://runwatch.example.com', null],
  ['http://172.32.0.1', null],
  ['https://10.example.com', null],
])('whether platforms reach %s is said', (origin, note) => {
  if (note === null) expect(reachNote(origin)).toBeNull()
  else expect(reachNote(origin)).toMatch(note)
})
