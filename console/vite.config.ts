import { defineConfig } from 'vite'

const CLIENT = new URL('../packages/client/src/index.ts', import.meta.url).pathname

export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  // Relative, so that a proxy may serve the gateway below a path of its own.
  base: './',
  // The sources of the client, so that its own build need not come first.
  resolve: { alias: { 'memory-gateway-client': CLIENT } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // Everything is a file of its own: the policy of the pages forbids data in their place.
    assetsInlineLimit: 0,
    // Chromium does not request a module again, as long as the page is open, whose preload failed.
    modulePreload: false,
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:8080', '/health': 'http://127.0.0.1:8080' } },
})
