import { type Format, headSize } from '../format.ts';
import { headLines } from '../text-lines.ts';

/** Tells configs by the lines of their head, of which these keys have one each. */
export function headIsConfig(...keys: readonly string[]): Format['matches'] {
  return (head) => {
    const lines = headLines(head).filter((line) => line.trim() !== '' && !line.startsWith('#'));
    const found = lines.map((line) => /^\s*([\w.:-]+)\s*=/.exec(line)?.[1]);
    const whole = head.length < headSize ? found : found.slice(0, -1);
    return found[0] !== undefined && !whole.includes(undefined) && keys.every((key) => found.includes(key));
  };
}
