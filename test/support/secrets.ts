// What tests sign in and post with, and what may not be found in a log afterwards.

export const KEY = 'rw_test_0123456789abcdefghijklmnopqrstuvwxyz'
export const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' }
/** A payload's text, for tests of what is logged when things go wrong. */
export const CANARY = 'only the canary knows what this text is about'
