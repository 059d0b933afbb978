// Writes oclif.manifest.json, so that starting one command does not load the code of all the others.
import { writeFileSync } from 'node:fs';
import { Plugin } from '@oclif/core';

const plugin = new Plugin({ root: process.cwd(), ignoreManifest: true, errorOnManifestCreate: true });
await plugin.load();
writeFileSync('oclif.manifest.json', `${JSON.stringify(plugin.manifest)}\n`);
