// Owns how the dashboard is built and served while it is worked on.
import { readdirSync } from 'node:fs'
import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

const server = 'http://127.0.0.1:4000'
const root = fileURLToPath(new URL('.', import.meta.url))

// Styles are scoped by the component's place in this list: the usual hashes were a twentieth of the style sheet.
const components = (readdirSync(root, { recursive: true }) as string[])
  .filter((path) => path.endsWith('.svelte'))
  .sort()
const scopeOf = (path: string, hash: string) => {
  const place = components.indexOf(relative(root, path).replaceAll('/', sep))
  return place === -1 ? `c-${hash}` : `c${place}`
}

// A test that starts the server may build, and Vite would take over its NODE_ENV: a build is always for production.
if (process.argv.includes('build')) process.env.NODE_ENV = 'production'

export default defineConfig({
  root,
  plugins: [
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
    // What every page needs is one file too: cut by who shares what, it is a kilobyte larger.
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'main', test: /dashboard[\\/]main\.ts$/ }] },
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
