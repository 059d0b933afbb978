import { describe, expect, test } from '@jest/globals';
import {
  decodeChannelCatalogue,
  decodeChannelCdns,
  decodeChannelDefinition,
  decodeChannelSummary,
  encodeChannelObject,
} from '../../../src/formats/services/channels.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const a = 'a'.repeat(32);

describe('channel objects', () => {
  test.each([
    [decodeChannelSummary, `{"public":{"channel":"${a}"},"path":"blue/","new":1}`],
    [
      decodeChannelCatalogue,
      `{"name":"public","products":[{"product":"WOW","variant":"wow","builds":[{"branches":["us"],"definition":"${a}","z":2}]}]}`,
    ],
    [decodeChannelDefinition, `{"cdnKey":"${a}","buildKey":"${a}","versionNumber":3,"tokens":{"x":[]}}`],
    [decodeChannelCdns, '{"hosts":[{"host":"https://h/?maxhosts=4","weight":2}]}'],
  ])('%p keeps what it does not know, and goes out as it came', (decode, text) => {
    expect(new TextDecoder().decode(encodeChannelObject(decode(bytesOf(text))))).toBe(text);
  });

  test('a catalogue passes over what is no product and no branch', () => {
    const text = `{"products":[7,{"product":"A"},{"variant":"b","builds":[{"branches":["us"]},{"definition":"${a}"},null],"regions":{}},
      {"variant":"c","builds":[{"branches":["us",3],"definition":"${a.toUpperCase()}"}]}]}`;
    expect(decodeChannelCatalogue(bytesOf(text)).products).toEqual([
      { product: 'b', builds: [], regions: [], preloads: [] },
      { product: 'c', builds: [{ branches: ['us'], object: a }], regions: [], preloads: [] },
    ]);
  });

  test.each([
    [decodeChannelSummary, ''],
    [decodeChannelSummary, '<html>'],
    [decodeChannelSummary, '[]'],
    [decodeChannelSummary, '{"public":{"channel":"../../x"}}'],
    [decodeChannelCatalogue, '{}'],
    [decodeChannelCatalogue, '{"products":{}}'],
    [decodeChannelDefinition, `{"buildKey":"${a}"}`],
    [decodeChannelDefinition, `{"buildKey":"${a}","cdnKey":"${a}0"}`],
    [decodeChannelCdns, '{"hosts":[]}'],
    [decodeChannelCdns, 'null'],
  ])('%p refuses %j', (decode, text) => {
    expect(() => decode(bytesOf(text))).toThrow(expect.objectContaining({ code: 'E_FORMAT' }));
  });
});
