// Owns the part of graphql-ws that the browser needs, as a chunk of its own: the package's whole carries a server.
export { createClient } from 'graphql-ws'
