/* The program: what bin/run.js starts. The build puts it, the commands and the threads into few files (docs/adr/0006-bundle.md). */
import { fileURLToPath } from 'node:url';
import { main } from './main.ts';

// It fails by itself, and tells.
void main(process.argv.slice(2), fileURLToPath(new URL('../..', import.meta.url)));
