// Loaded into a server before it starts: nothing is added up for agents, to measure what their sums cost.
import { Roller } from '../../server/agents/roller.ts'

Roller.prototype.soon = () => {}
Roller.prototype.start = () => {}
