import { defineConfig } from "vite";

// One script and one style sheet under names that stay, so that a rebuild can be compared byte for byte.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/pugnn/explore/page",
    emptyOutDir: true,
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    target: "es2022",
    license: { fileName: "LICENCES.md" },
    rolldownOptions: {
      output: { entryFileNames: "assets/app.js", assetFileNames: "assets/app.[ext]" },
    },
  },
});
