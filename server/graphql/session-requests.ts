// The requests that brought a session, in GraphQL.
import { readLogOfSession } from '../ingest/log-read.ts'
import { builder, MAX_PAGE, pageSize } from './builder.ts'
import { IngestRequest } from './ingest-log.ts'
import { Session } from './session.ts'

builder.objectField(Session, 'ingestRequests', (t) =>
  t.field({
    type: [IngestRequest],
    args: { first: t.arg.int({ description: `At most ${MAX_PAGE}.` }) },
    // Asked for a list of sessions it would search the log for each.
    complexity: { field: 60, multiplier: 5 },
    description:
      'Accepted posts of the last 24 hours that brought it, newest first. One for several sessions is listed with the first of them.',
    resolve: (session, { first }, context) => readLogOfSession(context.sql, session, pageSize(first, 20, MAX_PAGE)),
  }),
)
