import { writeFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { userSettings } from '../../src/cli/user-settings.ts';
import { scratchFolder } from '../support/scratch.ts';

const scratch = scratchFolder();

function userFile(content: unknown): string {
  const path = scratch('mine.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

afterEach(() => {
  delete process.env.PAKRAT_CONFIG;
});

test('PAKRAT_CONFIG names the file; without it there are none', () => {
  process.env.PAKRAT_CONFIG = userFile({ region: 'kr' });
  expect(userSettings()).toEqual({ region: 'kr' });
  process.env.PAKRAT_CONFIG = '';
  expect(userSettings()).toEqual({});
  delete process.env.PAKRAT_CONFIG;
  expect(userSettings()).toEqual({});
});

test.each([
  [{ sync: { jobs: 0 } }, 'sync.jobs must be a whole number from 1'],
  [{ speed: 1 }, 'there is no setting speed'],
  [[], 'must be an object'],
  ['{"region": ', 'cannot be read as settings'],
])('%j is refused, and the message says which file it is', (content, message) => {
  const path = userFile(content);
  const refused = expect.objectContaining({ code: 'E_USAGE', message: expect.stringContaining(message) });
  expect(() => userSettings(path)).toThrow(refused);
  expect(() => userSettings(path)).toThrow(path);
});

test('a file that is not there is refused', () => {
  expect(() => userSettings(scratch('none.json'))).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
});
