import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { scratchFolder } from '../../support/scratch.ts';
import { type ServedPage, servePage } from '../../support/served-page.ts';

jest.setTimeout(60_000);
const scratch = scratchFolder();
let page: ServedPage;

beforeAll(async () => {
  page = await servePage(scratch);
});
afterAll(() => page.close());

async function get(path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(page.server.url + path);
  return { status: answer.status, text: await answer.text() };
}

test('the overview names each build, how much of it is held, and the other sources', async () => {
  const { status, text } = await get('/');
  expect(status).toBe(200);
  for (const name of ['game', 'demo', '1.0.1', '1.0.2', '0.9', 'hostile.pak', 'loose']) expect(text).toContain(name);
  expect(text).toContain('100 %');
});
