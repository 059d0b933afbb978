import { expect, test } from '@jest/globals';
import { problemLine } from '../../../src/cli/render/problems.ts';

test('a message of several lines is told on one', () => {
  expect(problemLine('game', 'nobody answers:\n  http://a: silent\n  http://b: silent')).toBe(
    '  game: nobody answers: http://a: silent http://b: silent',
  );
});
