import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { deadLinks, markdownBelow } from '../support/markdown-links.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();
const notOurs = ['node_modules', 'dist', 'coverage'];

test('every relative link of the documentation leads somewhere', () => {
  expect(markdownBelow('.', notOurs).length).toBeGreaterThan(15);
  expect(deadLinks('.', notOurs)).toEqual([]);
});

test('a link that leads nowhere is found, and one in code is none', () => {
  mkdirSync(scratch('docs'));
  writeFileSync(scratch('docs/b.md'), '# What `b` does, and why\n');
  const links = ['docs/b.md', 'docs', 'docs/b.md#what-b-does-and-why', 'docs/c.md', 'docs/b.md#how', '#none'];
  const text = links.map((link) => `[x](${link})`).join(' ');
  writeFileSync(
    scratch('a.md'),
    `${text} [y](https://example.org) \`[z](code.md)\`\n\`\`\`\n[z](code.md)\n\`\`\`\n[k]: gone.md\n`,
  );
  expect(deadLinks(scratch())).toEqual(['a.md: docs/c.md', 'a.md: docs/b.md#how', 'a.md: #none', 'a.md: gone.md']);
});
