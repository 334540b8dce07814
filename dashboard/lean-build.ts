// Owns what a build leaves out of the scripts because no browser needs it.
import type { Plugin } from 'vite'

/**
 * Nothing here is rendered by a server, so there is nothing to hydrate. Svelte keeps all of that behind one variable,
 * and the bundler drops it once it can see that the variable never changes.
 */
export const withoutHydration: Plugin = {
  name: 'without-hydration',
  apply: 'build',
  transform: {
    filter: { id: /svelte[\\/]src[\\/]internal[\\/]client[\\/]dom[\\/]hydration\.js$/ },
    handler(code) {
      const fixed = code
        .replace('export let hydrating = false', 'export const hydrating = false')
        .replace(/^\s*hydrating = value;$/m, '')
      if (!/const hydrating/.test(fixed) || /^\s*hydrating = /m.test(fixed))
        this.error('Svelte keeps the state of hydration in another way by now: see withoutHydration')
      return { code: fixed, map: null }
    },
  },
}

/** Compiled components call these for hydration alone. */
export const hydrationCalls = ['$.reset', '$.next']

/** The documents are written for people; the server reads them without their line breaks and indents as well. */
export const shortDocuments: Plugin = {
  name: 'short-documents',
  apply: 'build',
  transform: {
    filter: { id: /dashboard[\\/]queries[\w-]*\.ts$/ },
    handler: (code) => ({ code: code.replace(/`[^`]*`/g, shortDocument), map: null }),
  },
}

/** A document without the spaces that only people need. */
export const shortDocument = (text: string) => text.replace(/\s+/g, ' ').replace(/ ?([`{}():!$[\],]|\.\.\.) ?/g, '$1')
