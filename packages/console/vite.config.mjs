import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Nothing inline, because the service's Content-Security-Policy runs no inline script; names that change with content,
// because browsers keep assets for a year. A test bounds the compressed script, so Vite need not warn.
export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: 'dist/app',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 800,
  },
});
