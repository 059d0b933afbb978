/* The program: what bin/run.js starts. The build puts it, the commands and the threads into few files (docs/adr/0006-bundle.md). */
import { execute } from '@oclif/core/execute';

await execute({ dir: import.meta.url });
