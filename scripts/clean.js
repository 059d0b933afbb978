import { rmSync } from 'node:fs';

for (const made of ['dist', 'oclif.manifest.json']) rmSync(made, { recursive: true, force: true });
