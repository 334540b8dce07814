// The whole schema: importing a file adds its types.
import './session.ts'
import './event.ts'
import './agent.ts'
import './access.ts'
import './ingest-log.ts'
import './project.ts'
import './failure.ts'
import './pattern.ts'
import './threshold.ts'
import './prices.ts'
import './channel.ts'
import './alert-rule.ts'
import './delivery.ts'
import { builder } from './builder.ts'

export const schema = builder.toSchema()
