// Owns how the dashboard is built and served while it is worked on.
import { readdirSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { hydrationCalls, shortDocuments, withoutHydration } from './lean-build.ts'

const server = 'http://127.0.0.1:4000'
const root = fileURLToPath(new URL('.', import.meta.url))

// Styles are scoped by the component's place in this list: the usual hashes were a twentieth of the style sheet.
const components = (readdirSync(root, { recursive: true }) as string[])
  .filter((path) => path.endsWith('.svelte'))
  .sort()
const scopeOf = (path: string, hash: string) => {
  const place = components.indexOf(relative(root, path).replaceAll('/', sep))
  return place === -1 ? `c-${hash}` : `c${place.toString(36)}`
}

const pages = (...names: string[]) => new RegExp(`pages[\\\\/](${names.join('|')})\\.svelte$`)

// A test that starts the server may build, and Vite would take over its NODE_ENV: a build is always for production.
if (process.argv.includes('build')) process.env.NODE_ENV = 'production'

export default defineConfig({
  root,
  plugins: [
    shortDocuments,
    withoutHydration,
    svelte({
      configFile: false,
      compilerOptions: { cssHash: ({ filename, css, hash }) => scopeOf(filename, hash(css)) },
    }),
  ],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2023',
    // Every browser knows light-dark() since May 2024; written for older ones each colour is there twice.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Fonts and pictures stay files: font-src and img-src then need no data addresses.
    assetsInlineLimit: 0,
    // One file for all pages: it is small, and split it is larger.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      treeshake: { manualPureFunctions: hydrationCalls },
      output: {
        codeSplitting: {
          groups: [
            // What every page needs is one file too: cut by who shares what, it is a kilobyte larger.
            { name: 'main', test: /dashboard[\\/]main\.ts$/ },
            // So are the parts of later pages that three or more share: as files of their own they pack worse.
            { name: 'shared', test: /dashboard[\\/]/, minShareCount: 3 },
            // What pages below are made of and another page takes too: it would load all of theirs.
            {
              name: 'borrowed',
              test: /(live-reading|queries-failures|deletions\.svelte|prompt-recipes|model-price)\.(ts|svelte)$/,
            },
            { name: 'findings', test: /finding-words\.ts$/ },
            { name: 'alert-rules', test: /(queries-alerts|alert-rule-fields)\.ts$/ },
            { name: 'first-events', test: /first-events\.ts$/ },
            // Pages that are opened together, or one from another.
            { name: 'gate', test: pages('SignInPage', 'SetUpPage', 'InvitationPage') },
            { name: 'alerts', test: pages('AlertsPage', 'AlertRulesSection') },
            {
              name: 'prompts',
              test: pages(
                'PromptsPage',
                'PromptAgentsSection',
                'PromptAgentPage',
                'PromptOverview',
                'PromptVersionView',
              ),
            },
            { name: 'agents', test: pages('AgentsPage', 'AgentPage') },
            { name: 'limits', test: pages('ThresholdsSection', 'ModelPricesSection', 'CandidateRulesSection') },
            {
              name: 'settings',
              test: pages('SettingsPage', 'PeopleSection', 'AccountSection', 'PreferencesSection'),
            },
          ],
        },
        // The names of the fonts stand in the style sheet.
        assetFileNames: 'assets/[hash][extname]',
      },
    },
  },
  server: {
    proxy: {
      '/graphql': { target: server, ws: true },
      '/api': { target: server },
    },
  },
})
