// Owns how the dashboard is built and served while it is worked on.
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

const server = 'http://127.0.0.1:4000'

// A test that starts the server may build, and Vite would take over its NODE_ENV: a build is always for production.
if (process.argv.includes('build')) process.env.NODE_ENV = 'production'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [svelte({ configFile: false })],
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2023',
    // Fonts and pictures stay files: font-src and img-src then need no data addresses.
    assetsInlineLimit: 0,
    // One file for all pages: it is small, and split it is larger.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      '/graphql': { target: server, ws: true },
      '/api': { target: server },
    },
  },
})
