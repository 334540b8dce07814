// Run in a network of its own in which no name server answers: four attempts at a host that cannot be looked up, and one
// at localhost, which needs none. Prints what became of that one.
import { createSocket } from 'node:dgram'
import { testMessage } from '../../server/alerts/message.ts'
import { Sender } from '../../server/alerts/send.ts'
import { reply, startOddReceiver } from './odd-receiver.ts'

const nameServer = createSocket('udp4')
await new Promise<void>((resolve) => nameServer.bind(53, '127.0.0.1', resolve))
const receiver = await startOddReceiver(reply(200))
const sender = new Sender({ smtp: null, allowedPrivateHosts: new Set(['localhost']) })
const message = testMessage('default', 'Ops', 'http://127.0.0.1', 'test', new Date())
const send = (url: string) => sender.send({ kind: 'SLACK', url }, message, 'msg_test')
const slow = Array.from({ length: 4 }, () => send('http://its-name-server-is-dead.example.com/hook'))
await new Promise((resolve) => setTimeout(resolve, 200))
process.stdout.write(JSON.stringify(await send(receiver.url.replace('127.0.0.1', 'localhost'))))
await Promise.race(slow)
process.exit(0)
