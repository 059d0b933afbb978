import { describe, expect, test } from '@jest/globals';
import { PakratError } from '../../src/core/errors.ts';
import { incomplete, resumable } from '../../src/sync/sync-errors.ts';

const amounts = {
  wanted: { entries: 5, bytes: 50 },
  held: { entries: 3, bytes: 30 },
  missing: { entries: 2, bytes: 20 },
};
const absent = { path: 'a', code: 'E_NOT_FOUND', message: 'no host has it' };
const wrong = { path: 'b', code: 'E_NETWORK_EXHAUSTED', message: 'it is wrong', wrong: true };
const silent = { path: 'c', code: 'E_NETWORK_EXHAUSTED', message: 'no answer', wrong: false };
const mirror = expect.stringContaining('--cdn-host');
const again = expect.stringContaining('Run the same command again');

describe('what lacks at the end', () => {
  test('is to be had of a mirror, where no host has it right', () => {
    expect(incomplete(amounts, [absent, wrong])).toMatchObject({ code: 'E_INCOMPLETE', hint: mirror });
  });

  test('may come when it is run again, where a host was silent, or nobody failed', () => {
    expect(incomplete(amounts, [absent, wrong, silent])).toMatchObject({ code: 'E_INCOMPLETE', hint: again });
    expect(incomplete(amounts, [])).toMatchObject({ code: 'E_INCOMPLETE', hint: again });
  });
});

test('what ended a sync keeps its hint where each host gives it wrong', () => {
  const exhausted = (data: PakratError['data']) =>
    new PakratError('E_NETWORK_EXHAUSTED', 'none gave it', { hint: 'a hint of its own', data });
  expect(resumable(exhausted({ wrong: true }))).toMatchObject({ code: 'E_INCOMPLETE', hint: 'a hint of its own' });
  expect(resumable(exhausted({}))).toMatchObject({ code: 'E_INCOMPLETE', hint: again });
});
