import { defineConfig } from "vite";

/** The page: static files without inline script or style (the server's CSP forbids both) and without network. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  // Said here, so that Vite does not look for a PostCSS configuration, which is code, in directories above.
  css: { postcss: {} },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../dist/ui",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
